import { describe, expect, it } from "vitest";
import { indentJson, losesSome } from "../../../src/web/transcript/JsonBlock.tsx";

describe("JSON on the page", () => {
  it("is indented, with every token unchanged", () => {
    expect(indentJson('{"n":1.10,"a":[1e3,{"b" :"\\"[{,:"}],"e":[],"o":{ \n }}')).toBe(
      '{\n  "n": 1.10,\n  "a": [\n    1e3,\n    {\n      "b": "\\"[{,:"\n    }\n  ],\n  "e": [],\n  "o": {}\n}',
    );
    expect(indentJson(`[${" ".repeat(100)}]`)).toBe("[]");
  });

  it("keeps truncated JSON and other text unchanged", () => {
    expect(indentJson("")).toBe("");
    expect(indentJson("plain")).toBe("plain");
    expect(indentJson('{"a":"b')).toBe('{\n  "a": "b');
    expect(indentJson('{"a":"b\\')).toBe('{\n  "a": "b\\');
    expect(indentJson("]}[")).toBe("\n]\n}[");
    expect(indentJson('[["')).toBe('[\n  [\n    "');
  });

  it("is indented in linear time, however many brackets it has", () => {
    // Rescanning from the beginning at each bracket would take minutes.
    const count = 250_000;
    const shown = indentJson(`[${"[],".repeat(count)}[]]`);
    expect(shown).toHaveLength(1 + 6 * count + 5 + 2);
    expect(shown.slice(0, 15)).toBe("[\n  [],\n  [],\n ");
    expect(shown.slice(-8)).toBe(",\n  []\n]");
  });

  it("may contain a string of any length, with any number of escapes", () => {
    const text = `"${"a\\n".repeat(8_000_000)}"`;
    expect(indentJson(text) === text).toBe(true);
  });
});

describe("parsing JSON", () => {
  it.each([
    '{"account":12345678901234567890}',
    '{"amount":1e400}',
    '{"rate":0.1000000000000000055}',
    '{"zero":-0}',
    '{"to":"alice","to":"bob"}',
    '{"2":"b","1":"a"}',
    '[{"a":1,"a":1}]',
  ])("changes %s", (text) => {
    expect(losesSome(text)).toBe(true);
  });

  it.each([
    '{ "a" : [1, 2.5, true, null, "\\u00e9 \\/ \\ud800" ],\n "__proto__": {} }',
    "{}",
    '"a  b"',
    "",
    "plain 1e400",
    '{"cut":12345678901234567890,"',
  ])("preserves %s", (text) => {
    expect(losesSome(text)).toBe(false);
  });
});
