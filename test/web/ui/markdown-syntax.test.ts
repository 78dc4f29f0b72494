import fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { expect, it } from "vitest";
import { GITHUB, syntaxOf } from "../../../src/web/markdown/syntax.ts";
import { times } from "../../long.ts";

/** Links of all kinds, and text around them that changes their meaning. */
const PIECES = [
  ..."[]()!^`|<>*_~:/.=\n\t ".split(""),
  ...["words ", "www", "http:", "//", "https://e.co", "mailto:", "**", "``", "```\n", "<a ", "    ", "  \n"],
  ...[
    "[a](https://e.co)",
    "[a b](https://e.co/x)",
    "[^a](https://e.co)",
    "![a](https://e.co)",
    "[a](www.e.co)",
  ],
  ...["[a][b](https://e.co)", "[a](/b)", "[a](b@e.co)", "[b]: /x\n", "[^a]: ", "[x] ", "|-|\n", "---"],
  ...["\n\n", "- ", "> ", "# ", "1. "],
];

it("syntax extensions that are skipped would find nothing", () => {
  let tried = 0;
  let unsearched = 0;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }), (pieces) => {
      const source = pieces.join("");
      const syntax = syntaxOf(source);
      tried += 1;
      if (syntax === GITHUB) return;
      unsearched += source.includes("e.co") ? 1 : 0;
      expect(fromMarkdown(source, syntax)).toEqual(fromMarkdown(source, GITHUB));
    }),
    { numRuns: times(3_000, 100_000) },
  );
  expect(unsearched).toBeGreaterThan(tried / 10);
});

it.each([
  ["**注意：**这是粗体。**「引用」**后文", ["注意：", "「引用」"]],
  ["これは**「重要」**です", ["「重要」"]],
  ["한국어**(강조)**입니다 www.e.co", ["(강조)"]],
  ["2 ** 3 ** 4, and **文 **字", []],
])("emphasis works beside CJK punctuation: %j", (source, bold) => {
  const found: string[] = [];
  const paragraph = fromMarkdown(source, syntaxOf(source)).children[0];
  for (const child of paragraph?.type === "paragraph" ? paragraph.children : [])
    if (child.type === "strong" && child.children[0]?.type === "text") found.push(child.children[0].value);
  expect(found).toEqual(bold);
});

it.each(["Words, and *more*.", "- [words](https://e.co/a?b=c) and `code`\n- [x]", "| a |\n| - |\n| ~~b~~ |"])(
  "%j is not searched for bare links",
  (source) => {
    expect(syntaxOf(source)).not.toBe(GITHUB);
  },
);
