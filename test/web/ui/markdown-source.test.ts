import { fromMarkdown } from "mdast-util-from-markdown";
import { describe, expect, it } from "vitest";
import {
  effortOf,
  FENCE,
  fenceOf,
  findRisk,
  labelsIn,
  MAX_DEPTH,
  NONE,
  outdent,
  plainEnd,
  REPARSE_THRESHOLD,
} from "../../../src/web/markdown/source.ts";

describe("the line that opens a fence", () => {
  it.each([
    { line: "```", marks: "```" },
    { line: "`````ts a", marks: "`````" },
    { line: "~~~", marks: "~~~" },
    { line: "~~~~js `a`", marks: "~~~~" },
    { line: "   ```", marks: "```" },
    { line: "   ~~~", marks: "~~~" },
    { line: "    ```", marks: undefined },
    { line: "    ~~~", marks: undefined },
    { line: "``", marks: undefined },
    { line: "~~", marks: undefined },
    { line: "``` a`b", marks: undefined },
    { line: "```a```", marks: undefined },
    { line: "a ```", marks: undefined },
    { line: "a ~~~", marks: undefined },
    { line: "\t```", marks: undefined },
  ])("begins with its marks: $line", ({ line, marks }) => {
    expect(FENCE.exec(line)?.[1]).toBe(marks);
    // As the parser reads it.
    const [block] = fromMarkdown(`${line}\na`).children;
    expect(block?.type === "code" && block.value === "a").toBe(marks !== undefined);
  });
});

describe("a fence opened by a block", () => {
  const closes = (raw: string, line: string) => fenceOf("", raw)?.closer.test(line);

  it("is open until its end, from its second line on", () => {
    expect(fenceOf("ts", "```ts\na")).toEqual({
      language: "ts",
      closer: /^ {0,3}`{3,}[ \t]*$/,
      indent: 0,
      scanned: 6,
      code: "",
    });
    expect(fenceOf("", "  ~~~~\n")).toEqual({
      language: "",
      closer: /^ {0,3}~{4,}[ \t]*$/,
      indent: 2,
      scanned: 7,
      code: "",
    });
  });

  it.each([
    "```\na\n```",
    "```\n```",
    "```\na\n   ````  \t",
    "```\na\n```\n",
    "```\na\n```\n\n \n",
    "~~~\n~~~",
  ])("is closed: %j", (raw) => {
    expect(fenceOf("", raw)).toBeUndefined();
  });

  it.each(["```\na\n``", "```\n    ```", "```\na ```", "```\n``` a", "```\n```\na", "~~~\n```", "````\n```"])(
    "is still open: %j",
    (raw) => {
      expect(fenceOf("", raw)).toBeDefined();
    },
  );

  it.each(["```", "    a\n    b", "a\n```\n", "", "``` `\na"])(
    "does not exist without an opening line: %j",
    (raw) => {
      expect(fenceOf("", raw)).toBeUndefined();
    },
  );

  it("ends with at least as many marks, and nothing after them", () => {
    for (const line of ["````", "   ````", "`````", "```` \t"]) expect(closes("````\na", line)).toBe(true);
    for (const line of ["```", "    ````", "~~~~", "```` a", "a````", "````\u00a0"])
      expect(closes("````\na", line)).toBe(false);
  });
});

describe("a line of an indented fence", () => {
  it.each([
    { line: "a", columns: 2, rest: "a" },
    { line: " a", columns: 2, rest: "a" },
    { line: "  a", columns: 2, rest: "a" },
    { line: "   a", columns: 2, rest: " a" },
    { line: "  a", columns: 0, rest: "  a" },
    { line: "\ta", columns: 0, rest: "\ta" },
    { line: "\ta", columns: 1, rest: "   a" },
    { line: "\ta", columns: 3, rest: " a" },
    { line: " \ta", columns: 1, rest: "\ta" },
    { line: " \ta", columns: 3, rest: " a" },
    { line: "  ", columns: 3, rest: "" },
    { line: "", columns: 1, rest: "" },
  ])("is dedented by up to $columns columns: $line", ({ line, columns, rest }) => {
    expect(outdent(line, columns)).toBe(rest);
  });
});

describe("the labels in a text", () => {
  it.each([
    { text: "no label", labels: [] },
    { text: "a] [", labels: [] },
    { text: "[a] [b][c]", labels: ["a", "b", "c"] },
    { text: "[A  b\n\tc]", labels: ["a b c"] },
    { text: "[ a ]", labels: ["a"] },
    { text: "[] [ ] [\n]", labels: [] },
    { text: "[^1] [^Note]", labels: ["^1", "^note"] },
    { text: "[a\\]b]", labels: ["a\\]b"] },
    { text: "[a\\\\]", labels: ["a\\\\"] },
    { text: "[a\\\nb]", labels: ["a\\ b"] },
    { text: "[a[b]c]", labels: ["b"] },
    { text: "[ß] [ẞ] [SS]", labels: ["ss"] },
    { text: "[a\r\nb]", labels: ["a b"] },
    { text: "[a\u00a0\u00a0b]", labels: ["a\u00a0\u00a0b"] },
    { text: "[a] [a]", labels: ["a"] },
  ])("have the parser's normal form: $text", ({ text, labels }) => {
    expect([...labelsIn(text)]).toEqual(labels);
  });

  it("have up to 999 characters", () => {
    expect(labelsIn(`[${"a".repeat(999)}]`).size).toBe(1);
    expect(labelsIn(`[${"a".repeat(1_000)}]`).size).toBe(0);
  });

  it("are the same empty list if there is no bracket", () => {
    expect(labelsIn("a")).toBe(NONE);
  });
});

describe("a block of plain text", () => {
  const LINE = `${"a".repeat(99)}\n`;

  it("ends with the text, if that is short", () => {
    expect(plainEnd("", 0)).toBe(0);
    expect(plainEnd("a", 0)).toBe(1);
    expect(plainEnd("a\nb", 0)).toBe(3);
    expect(plainEnd("a\nb\n", 0)).toBe(4);
    expect(plainEnd("a\nb", 2)).toBe(3);
    expect(plainEnd("a".repeat(16_384), 0)).toBe(16_384);
    expect(plainEnd(LINE.repeat(163), 0)).toBe(16_300);
  });

  it("ends after the last line that fits into 16,384 characters", () => {
    const text = LINE.repeat(400);
    expect(plainEnd(text, 0)).toBe(16_300);
    expect(plainEnd(text, 16_300)).toBe(32_600);
    expect(plainEnd(`${"a".repeat(16_383)}\nb`, 0)).toBe(16_384);
    expect(plainEnd(`a\n${"a".repeat(16_382)}\nb`, 0)).toBe(2);
  });

  it("ends within a line that is longer than that", () => {
    expect(plainEnd("a".repeat(40_000), 0)).toBe(16_384);
    expect(plainEnd("a".repeat(40_000), 10_000)).toBe(26_384);
    expect(plainEnd(`${"a".repeat(16_384)}\n`, 0)).toBe(16_384);
  });

  it("ends after 256 lines", () => {
    expect(plainEnd("\n".repeat(256), 0)).toBe(256);
    expect(plainEnd("\n".repeat(257), 0)).toBe(256);
    expect(plainEnd("a\n".repeat(1_000), 100)).toBe(612);
    expect(plainEnd(`${"\n".repeat(255)}a`, 0)).toBe(256);
  });
});

describe("a range that is not parsed", () => {
  const MARKS = "more than 1,000 marks in one paragraph";
  const LONG = "a paragraph of more than 16,000 characters";
  const WORD = "a word of more than 2,000 characters";
  const DEEP = "nested deeper than 100 levels";
  const lines = (count: number, line: string) => Array.from({ length: count }, () => line).join("\n");
  const words = (length: number) => "word ".repeat(length).slice(0, length);
  const reasonOf = (text: string) => findRisk(text)?.reason;

  it("does not exist in an ordinary text", () => {
    expect(findRisk("")).toBeUndefined();
    expect(findRisk("# a\n\n- *b*\n\n```\n`\n```\n\n| c |\n|---|\n")).toBeUndefined();
  });

  it.each([..."*_~`[]<&!\\"])("has more than 1,000 %s marks in one paragraph", (mark) => {
    expect(reasonOf(`a ${`${mark} `.repeat(1_000)}`)).toBeUndefined();
    expect(reasonOf(`a ${`${mark} `.repeat(1_001)}`)).toBe(MARKS);
    expect(reasonOf(lines(101, `a ${`${mark} `.repeat(10)}`))).toBe(MARKS);
  });

  it("has as many marks in consecutive items, unless blank lines separate them", () => {
    const item = `- ${"a * ".repeat(1_000)}`;
    expect(reasonOf(lines(4, item))).toBeUndefined();
    expect(reasonOf(lines(5, item))).toBe("thousands of marks without a blank line");
    expect(reasonOf(lines(5, `${item}\n`))).toBeUndefined();
    expect(reasonOf(lines(300, `- ${"a * ".repeat(100)}`))).toBeUndefined();
  });

  it("has more than 16,384 characters in one paragraph", () => {
    expect(reasonOf(words(2 * REPARSE_THRESHOLD))).toBeUndefined();
    expect(reasonOf(words(2 * REPARSE_THRESHOLD + 1))).toBe(LONG);
    expect(reasonOf(lines(164, words(100)))).toBe(LONG);
    expect(reasonOf(lines(163, words(100)))).toBeUndefined();
  });

  it.each(["", "> a\n", "- a\n", "> - a\n"])(
    "has more than 2,000 lines in one paragraph, also after %j",
    (before) => {
      expect(reasonOf(before + lines(2_000, "b"))).toBeUndefined();
      expect(reasonOf(before + lines(2_001, "b"))).toBe("a paragraph of more than 2,000 lines");
      expect(reasonOf(`${before}${lines(1_100, "b")}\n- a\n${lines(1_100, "b")}`)).toBeUndefined();
      expect(reasonOf(`${before}${lines(1_100, "b")}\n\n${lines(1_100, "b")}`)).toBeUndefined();
    },
  );

  it("has more than 1,000 nested quotes and lists", () => {
    const reason = "more than 1,000 quotes and lists within others";
    for (const line of ["> > a", "> - a", "- > a", "1. - a", "- - a"]) {
      expect(reasonOf(lines(1_000, line)), line).toBeUndefined();
      expect(reasonOf(lines(1_001, line)), line).toBe(reason);
      expect(reasonOf(`${lines(600, line)}\n\n${lines(600, line)}`), line).toBeUndefined();
    }
    expect(reasonOf(lines(334, "> - > - a"))).toBe(reason);
    expect(reasonOf(lines(2_000, "> a"))).toBeUndefined();
    expect(reasonOf(lines(2_000, "- a"))).toBeUndefined();
  });

  it("has a word of 2,000 characters in a longer line", () => {
    expect(reasonOf("a".repeat(2_000))).toBeUndefined();
    expect(reasonOf("a".repeat(2_001))).toBe(WORD);
    expect(reasonOf(`b ${"a".repeat(2_000)}`)).toBe(WORD);
    expect(reasonOf(`[a]: <${words(2_000)}>`)).toBe("an address of more than 2,000 characters");
    expect(reasonOf(`[a]: <${words(1_999)}>`)).toBeUndefined();
    expect(reasonOf(`<a> ${words(2_000)}`)).toBeUndefined();
    const address = `<${words(2_000)}>`;
    for (const opening of ["[a](", "[a]( ", "> [a]:\n> ", "- [a]:\n  "])
      expect(reasonOf(`${opening}${address}`), opening).toBe("an address of more than 2,000 characters");
    for (const opening of ["If a ", "[a] ", "[a]:\nx ", "- "])
      expect(reasonOf(`${opening}${address} d`), opening).toBeUndefined();
    // An address may contain other kinds of blanks.
    expect(reasonOf(`${"a".repeat(1_500)}\u205f${"a".repeat(600)}`)).toBe(WORD);
    expect(reasonOf(`b ${"a".repeat(1_999)}`)).toBeUndefined();
    expect(reasonOf(`b ${"a".repeat(1_999)} ${"a".repeat(1_999)}`)).toBeUndefined();
  });

  it("is nested deeper than 100 levels", () => {
    expect(reasonOf(`${" ".repeat(199)}a`)).toBeUndefined();
    expect(reasonOf(`${" ".repeat(200)}a`)).toBe(DEEP);
    expect(reasonOf(`a${" ".repeat(200)}b`)).toBeUndefined();
    for (const mark of [">", "> ", "- ", "* ", "+ ", "1. ", "12) ", "\t- "]) {
      expect(reasonOf(`${mark.repeat(MAX_DEPTH)}a`), mark).toBeUndefined();
      expect(reasonOf(`${mark.repeat(MAX_DEPTH + 1)}a`), mark).toBe(DEEP);
    }
    for (const line of ["-", "1.", "9)"]) {
      expect(reasonOf(`${`${line}\t`.repeat(MAX_DEPTH)}${line}`), line).toBe(DEEP);
      expect(reasonOf(`${`${line} `.repeat(MAX_DEPTH)}${line}a`), line).toBeUndefined();
      expect(reasonOf(`${`${line} `.repeat(MAX_DEPTH)}${line}\n`), line).toBe(DEEP);
    }
    expect(reasonOf("-".repeat(150))).toBeUndefined();
    expect(reasonOf("+".repeat(150))).toBeUndefined();
    expect(reasonOf("1.".repeat(150))).toBeUndefined();
    expect(reasonOf("1234567890. ".repeat(150))).toBeUndefined();
    expect(reasonOf("123456789. ".repeat(150))).toBe(DEEP);
    expect(reasonOf(`a ${"> ".repeat(150)}`)).toBeUndefined();
  });

  it.each(["- a", "* a", "+ a", "1. a", "23) a", "# a", "###### a", "| a", "  - a", "", "\t"])(
    "restarts at a line that begins another block: %j",
    (between) => {
      const marks = "a * ".repeat(600);
      expect(reasonOf(`${marks}\n${marks}`)).toBe(MARKS);
      expect(reasonOf(`${marks}\n${between}\n${marks}`)).toBeUndefined();
      const long = lines(100, words(100));
      expect(reasonOf(`${long}\n${long}`)).toBe(LONG);
      expect(reasonOf(`${long}\n${between}\n${long}`)).toBeUndefined();
    },
  );

  it.each(["-a", "1a", "1.a", "#a", "####### a", "a | b", "a - b", "a 1. b", "1234567890. a", "``"])(
    "continues at a line that begins no block: %j",
    (between) => {
      const long = lines(100, words(100));
      expect(reasonOf(`${long}\n${between}\n${long}`)).toBe(LONG);
    },
  );

  it("ends with the line that exceeds the limit, and begins after the preceding blank line or fence", () => {
    const long = "a".repeat(2_001);
    expect(findRisk(long)).toEqual({ start: 0, end: 2_001, fence: 0, reason: WORD });
    expect(findRisk(`${long}\nb`)).toEqual({ start: 0, end: 2_001, fence: 0, reason: WORD });
    expect(findRisk(`b\nc\n${long}\n`)).toEqual({ start: 0, end: 2_005, fence: 0, reason: WORD });
    expect(findRisk(`b\n \t\nc\n${long}`)).toEqual({ start: 5, end: 2_008, fence: 5, reason: WORD });
    expect(findRisk(`b\n\n\n${long}\n\nc`)).toEqual({ start: 4, end: 2_005, fence: 4, reason: WORD });
  });

  it("may be in a fence, whose first line ends at `fence`", () => {
    const long = "a".repeat(2_001);
    expect(findRisk(`b\n\`\`\`ts\n${long}\n`)).toEqual({ start: 2, end: 2_009, fence: 8, reason: WORD });
    expect(findRisk(`~~~\nb\n\n${long}`)).toEqual({ start: 7, end: 2_008, fence: 7, reason: WORD });
    expect(findRisk(`b\n\n~~~ ${long}`)).toEqual({ start: 3, end: 2_008, fence: 2_008, reason: WORD });
    expect(findRisk(`~~~ ${long}\nb`)).toEqual({ start: 0, end: 2_005, fence: 2_006, reason: WORD });
  });

  it("restarts counting at a fence", () => {
    const marks = "a * ".repeat(600);
    expect(reasonOf(`${marks}\n~~~\n${marks}`)).toBeUndefined();
    expect(reasonOf(`${marks}\n\`\`\`\n${marks}\n${marks}`)).toBe(MARKS);
    const long = lines(100, words(100));
    expect(reasonOf(`${long}\n~~~\n${long}`)).toBeUndefined();
  });
});

it("the estimated cost of emphasis is quadratic in the marks of a paragraph, item or row", () => {
  expect(effortOf("")).toBe(0);
  expect(effortOf("a *b* _c_ ~d~ ".repeat(10))).toBe(0);
  const marks = "a * ".repeat(1_000);
  for (const one of [marks, `b\n${marks}\nc`, `- ${marks}`, marks.replaceAll("a * a ", "a *\na ")])
    expect(effortOf(one)).toBe(250);
  for (const between of ["\n\n", "\n- ", "\n| ", "\n# "]) expect(effortOf(marks + between + marks)).toBe(500);
  expect(effortOf(`${marks}\n${marks}`)).toBe(1_000);
  expect(effortOf("[a](b) `c` ".repeat(1_000))).toBe(0);
});
