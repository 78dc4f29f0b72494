import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RawJson } from "../../src/model/raw-json.ts";

type Path = (string | number)[];

/** The text at a path, found with the parsed value, as a caller has it. */
function at(text: string, ...path: Path): string {
  let value: unknown = JSON.parse(text);
  // Each step names a member of an object or an item of an array.
  for (const step of path) value = (value as Record<string | number, unknown> | undefined)?.[step];
  return new RawJson({ text }).of(value, path);
}

describe("the text of a value", () => {
  it("is unchanged: digits, order, spacing, escapes", () => {
    expect(at('{"a": 1.0}', "a")).toBe("1.0");
    expect(at('{"a":12345678901234567890}', "a")).toBe("12345678901234567890");
    expect(at('{"a": { "2": 1e3, "1": "\\u0041" } , "b":0}', "a")).toBe('{ "2": 1e3, "1": "\\u0041" }');
    expect(at('{"a":[ 1.0 , [ ] , "x" ]}', "a")).toBe('[ 1.0 , [ ] , "x" ]');
    expect(at('{"a":"\\u0041"}', "a")).toBe('"\\u0041"');
    expect(at(' \t\r\n{"a" \t\r\n: \t\r\n1.0 \t\r\n, "b" : 2.0 }', "a")).toBe("1.0");
    expect(at(' \t\r\n{"a" \t\r\n: \t\r\n1.0 \t\r\n, \t\r\n"b" : 2.0 }', "b")).toBe("2.0");
    expect(at('{"a":1.0}', "a")).toBe("1.0");
    expect(at('{"a":[1.0]}', "a", 0)).toBe("1.0");
    expect(at("[1.0]", 0)).toBe("1.0");
    expect(at(' {"a":1.0} ')).toBe('{"a":1.0}');
    expect(at("1.0")).toBe("1.0");
    expect(at('"\\u0041"')).toBe('"\\u0041"');
  });

  it("is found after any other content", () => {
    expect(at('{"x":"\\"a\\":9.0","y":{"a":8.0},"z":["}",{"a":7.0},"]"],"a":1.0}', "a")).toBe("1.0");
    expect(at('{"x":"\\\\","a":1.0}', "a")).toBe("1.0");
    expect(at('{"x":true,"y":null,"z":-1.5e-7,"a":1.0}', "a")).toBe("1.0");
    expect(at('{"x":{},"y":[],"z":"","a":1.0}', "a")).toBe("1.0");
    expect(at('{"x" : 1 , "y":[1 , 2]\n, "a":1.0}', "a")).toBe("1.0");
    expect(at('{"\\u0061":1.0,"b":2}', "a")).toBe("1.0");
    expect(at('{"a\\"":5.0,"a":1.0}', "a")).toBe("1.0");
    expect(at('{"a":{"a":{"a":1.0}}}', "a", "a", "a")).toBe("1.0");
    expect(at('[0,"]",[9,[8]],{"x":"]"} , 1.0]', 4)).toBe("1.0");
    expect(at("[ 3.0 ,1.0]", 0)).toBe("3.0");
    expect(at('{"a":[{"b":0},{"b":1.0}]}', "a", 1, "b")).toBe("1.0");
    expect(at('{"a": [ [1.0], [2.0 ] ]}', "a", 1, 0)).toBe("2.0");
  });

  it("is that of the last duplicate name, as in parsing", () => {
    expect(at('{"a":1.0,"b":0,"a":2.0}', "a")).toBe("2.0");
    expect(at('{"a":{"b":1.0},"a":{"b":2.0}}', "a", "b")).toBe("2.0");
  });

  it("is serialized if the path does not exist", () => {
    expect(new RawJson({ text: '{"a":1.0}' }).of(5, ["b"])).toBe("5");
    expect(new RawJson({ text: '{"a":1.0}' }).of(5, [0])).toBe("5");
    expect(new RawJson({ text: "[1.0]" }).of(5, ["a"])).toBe("5");
    expect(new RawJson({ text: "[1.0]" }).of(5, [1])).toBe("5");
    expect(new RawJson({ text: "[1.0, 2.0]" }).of(5, [2])).toBe("5");
    expect(new RawJson({ text: "[]" }).of(5, [0])).toBe("5");
    expect(new RawJson({ text: "[ ]" }).of(5, [0])).toBe("5");
    expect(new RawJson({ text: "{}" }).of(5, ["a"])).toBe("5");
    expect(new RawJson({ text: '"text"' }).of(5, ["a"])).toBe("5");
    expect(new RawJson({ text: '{"a":"text"}' }).of(5, ["a", 0])).toBe("5");
  });

  it("is found in any order of lookups", () => {
    const text = '[{"a":1,"b": 2.0},{"b":[3],"a": 4.0},{"a":1,"b":6.00}]';
    const raw = new RawJson({ text });
    expect(raw.of(1, [0, "a"])).toBe("1");
    expect(raw.of([3], [1, "b"])).toBe("[3]");
    expect(raw.of(6, [2, "b"])).toBe("6.00");
    expect(raw.of([3], [1, "b"])).toBe("[3]");
    expect(raw.of(4, [1, "a"])).toBe("4.0");
    expect(raw.of(2, [0, "b"])).toBe("2.0");
  });

  it("parses to the value, in any text", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), fc.array(fc.nat(9)), (value, indent, steps) => {
        const text = JSON.stringify(value, null, indent);
        const path: Path = [];
        let there: unknown = value;
        for (const step of steps) {
          if (typeof there !== "object" || there === null) break;
          const keys = Object.keys(there);
          const key = keys[step % Math.max(1, keys.length)];
          if (key === undefined) break;
          path.push(Array.isArray(there) ? Number(key) : key);
          // The key is an own member.
          there = (there as Record<string, unknown>)[key];
        }
        const raw = new RawJson({ text }).of(there, path);
        expect(JSON.parse(raw)).toEqual(JSON.parse(JSON.stringify(there)));
        expect(text).toContain(raw);
      }),
      { numRuns: 500 },
    );
  });
});
