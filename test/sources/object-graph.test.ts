import fc from "fast-check";
import { expect, it } from "vitest";
import { createObjectGraph } from "../../src/sources/object-graph.ts";
import { Recent } from "../../src/sources/recent.ts";

class Counter {
  private count = 0;
  next(): number {
    this.count += 1;
    return this.count;
  }
}
const graph = createObjectGraph({ Counter });
const copyOf = (root: object): unknown => graph.fromJson(JSON.parse(JSON.stringify(graph.toJson(root))));

it("copies any data, with the numbers that JSON does not have", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const root = JSON.parse(JSON.stringify({ value })) as object;
      expect(copyOf(root)).toEqual(root);
    }),
  );
  const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -1.5];
  expect(copyOf(numbers)).toEqual(numbers);
});

it("keeps names that mean something to JavaScript as names", () => {
  const root = JSON.parse('{"__proto__":{"a":1},"constructor":2,"$":3}') as object;
  const copy = copyOf(root) as object;
  expect(JSON.stringify(copy)).toBe(JSON.stringify(root));
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

it("refers to one object wherever the original does, also to itself", () => {
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

it("restores classes, and leaves out functions and absent members", () => {
  const counter = new Counter();
  counter.next();
  const copy = copyOf({ counter, absent: undefined, call: () => 1 }) as { counter: Counter };
  expect(Object.keys(copy)).toEqual(["counter"]);
  expect(copy.counter.next()).toBe(2);
});

it("restores what a bounded map remembers, in its order of forgetting", () => {
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

it("remembers the newest half at least, and never more than the most", () => {
  const recent = new Recent<number, true>(10);
  for (let key = 0; key < 1_000; key += 1) {
    recent.set(key, true);
    const known = Array.from({ length: key + 1 }, (_, each) => each).filter((each) => recent.has(each));
    expect(known.length).toBeLessThanOrEqual(10);
    expect(known.slice(-5)).toEqual(
      Array.from({ length: Math.min(5, key + 1) }, (_, n) => key + 1 - Math.min(5, key + 1) + n),
    );
  }
});
