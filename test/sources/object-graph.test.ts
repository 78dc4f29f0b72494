import fc from "fast-check";
import { expect, it } from "vitest";
import { createObjectGraph } from "../../src/sources/object-graph.ts";
import { IN_MEMORY, Recent } from "../../src/sources/recent.ts";

class Counter {
  private count = 0;
  next(): number {
    this.count += 1;
    return this.count;
  }
}
const graph = createObjectGraph({ Counter });
const copyOf = (root: object): unknown => graph.fromJson(JSON.parse(JSON.stringify(graph.toJson(root))));

it("copies any data, including numbers that JSON cannot represent", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const root = JSON.parse(JSON.stringify({ value })) as object;
      expect(copyOf(root)).toEqual(root);
    }),
  );
  const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -1.5];
  expect(copyOf(numbers)).toEqual(numbers);
});

it("keeps member names with a meaning in JavaScript, such as __proto__", () => {
  const root = JSON.parse('{"__proto__":{"a":1},"constructor":2,"$":3}') as object;
  const copy = copyOf(root) as object;
  expect(JSON.stringify(copy)).toBe(JSON.stringify(root));
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

it("preserves shared references and cycles", () => {
  const shared = { name: "shared" };
  const recent = new Recent<string, object>(8);
  recent.set("key", shared);
  const root = { shared, list: [shared, shared], recent, self: {} };
  root.self = root;
  const copy = copyOf(root) as typeof root;
  expect(copy.self).toBe(copy);
  expect(copy.list[0]).toBe(copy.shared);
  expect(copy.list[1]).toBe(copy.shared);
  expect(copy.recent.get("key")).toBe(copy.shared);
});

it("restores classes, and omits functions and undefined members", () => {
  const counter = new Counter();
  counter.next();
  const copy = copyOf({ counter, absent: undefined, call: () => 1 }) as { counter: Counter };
  expect(Object.keys(copy)).toEqual(["counter"]);
  expect(copy.counter.next()).toBe(2);
});

it("restores the entries of a bounded map, in eviction order", () => {
  const steps = fc.array(fc.tuple(fc.nat(30), fc.oneof(fc.nat(3), fc.string())), { maxLength: 60 });
  fc.assert(
    fc.property(steps, fc.nat(60), (entries, at) => {
      const whole = new Recent<number, number | string>(8);
      let copy = new Recent<number, number | string>(8);
      for (const [index, [key, value]] of entries.entries()) {
        if (index === at) copy = (copyOf({ whole }) as { whole: typeof whole }).whole;
        whole.set(key, value);
        copy.set(key, value);
        const told = (map: typeof whole) => Array.from({ length: 31 }, (_, each) => map.get(each));
        if (index >= at) expect(told(copy)).toEqual(told(whole));
      }
    }),
  );
});

it("saves the newest entries, and keeps more of them in memory, but not all", () => {
  const recent = new Recent<number, true>(10);
  for (let key = 0; key < 10 * IN_MEMORY * 3; key += 1) recent.set(key, true);
  const known = (map: { has(key: number): boolean }) =>
    Array.from({ length: 10 * IN_MEMORY * 3 }, (_, each) => each).filter((each) => map.has(each));
  expect(known(recent).length).toBeGreaterThanOrEqual(5 * IN_MEMORY);
  expect(known(recent).length).toBeLessThanOrEqual(10 * IN_MEMORY);
  const copy = (copyOf({ recent }) as { recent: typeof recent }).recent;
  expect(known(copy)).toEqual(known(recent).slice(-10));
});

it("saves the newest items of a list with a limit, and at least one", () => {
  const limited = createObjectGraph({}, { few: { items: 3 }, short: { items: 3, characters: 8 } });
  const saved = (list: object) => limited.fromJson(limited.toJson(list));
  expect(saved({ few: [1, 2, 3, 4], all: [1, 2, 3, 4] })).toEqual({ few: [2, 3, 4], all: [1, 2, 3, 4] });
  expect(saved({ short: ["a", "b", "c", "d"] })).toEqual({ short: ["c", "d"] });
  expect(saved({ short: ["a", "much longer"] })).toEqual({ short: ["much longer"] });
});
