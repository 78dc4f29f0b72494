import fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { expect, it } from "vitest";
import { GITHUB, syntaxOf } from "../../../src/web/ui/markdown-syntax.ts";
import { times } from "../../long.ts";

/** Links of all kinds, and what makes of them something else. */
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

it("what is not looked for is not there", () => {
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

it.each(["Words, and *more*.", "- [words](https://e.co/a?b=c) and `code`\n- [x]", "| a |\n| - |\n| ~~b~~ |"])(
  "%j is not searched for bare links",
  (source) => {
    expect(syntaxOf(source)).not.toBe(GITHUB);
  },
);
