import { describe, expect, it } from "vitest";
import { textPattern } from "../../src/model/text-pattern.ts";

/** The matches of a query in a text. */
const found = (query: string, text: string) =>
  [...text.matchAll(textPattern(query, "giu"))].map(([it]) => it);

describe("a text is found", () => {
  it.each([
    ["run npm test", "Now run `npm test`.", "run `npm test"],
    ["npm test.", "Now run `npm test`.", "npm test`."],
    ["the src folder", "in the **src** folder", "the **src** folder"],
    ["folder. The line", "the folder.\n  The line", "folder.\n  The line"],
    ["see the docs for more", "see [the docs](https://a.example/b) for more", undefined],
    ["파일을 보세요", "**파일**을 보세요", "파일**을 보세요"],
    ["__init__ method", "the `__init__` method", "__init__` method"],
    ["ភាសាខ្មែរ", "ភាសា\u200bខ្មែរ", "ភាសា\u200bខ្មែរ"],
    ["the __init__", "the `__init__` method", "the `__init__"],
    ["a  b", "a b", "a b"],
  ])("whatever surrounds words in its source: %s", (query, text, whole = text) => {
    expect(found(query, text)).toEqual([whole]);
  });

  it.each([
    ["가나", "가나"],
    ["가나", "가나"],
    ["ABC", "ＡＢＣ"],
    ["ＡＢＣ", "abc"],
    ["アイウ", "ｱｲｳ"],
    ["ｱｲｳ", "アイウ"],
    ["ガ", "ｶﾞ"],
    ["ｶﾞ", "ガ"],
    ["é", "E\u0301"],
    ["\u212b", "\u212b"],
  ])("in every Unicode form and width: %s as %s", (query, text) => {
    expect(found(query, text)).toEqual([text]);
  });

  it.each([
    ["init", "in_it"],
    ["a.b", "a b"],
    ["in a", "in\n\na"],
    ["a_b", "a b"],
    ["a*b", "ab"],
    ["²", "2"],
  ])("but not within other text: %s in %s", (query, text) => {
    expect(found(query, text)).toEqual([]);
  });

  it.each([
    [" x", " "],
    ["a b", "a "],
    ["a b", `a${" ".repeat(1_000)}`],
    ["a. x", "a]("],
    ["a. x", `a](${"b".repeat(600)}`],
    [`${"*".repeat(30)}x`, "*"],
    [`${"a_ ".repeat(30)}x`, "a____ "],
    [`${"a `".repeat(30)}x`, "a _`"],
    [`${". ".repeat(500)}x`, ".**  \n **"],
    [`${".,".repeat(500)}x`, ".,"],
    [`${"가나".repeat(500)}x`, "가*나*"],
  ])("in linear time", (query, unit) => {
    const pattern = textPattern(query, "iu");
    /** Milliseconds of CPU, which other load on the machine does not affect. */
    const cost = (length: number): number => {
      const text = unit.repeat(length / unit.length);
      const since = process.threadCpuUsage();
      expect(pattern.test(text)).toBe(false);
      return process.threadCpuUsage(since).user / 1_000;
    };
    cost(10_000);
    const short = Math.max(2, cost(10_000));
    expect(cost(310_000)).toBeLessThan(100 * short);
  });
});
