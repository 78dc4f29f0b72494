import fc from "fast-check";
import { expect, test } from "vitest";
import { plainMarkdown } from "../../src/web/text/plain-markdown.ts";

test.each([
  [
    "thoughts on [https://github.com/jdx/hk/pull/1077](https://github.com/jdx/hk/pull/1077)",
    "thoughts on jdx/hk#1077",
  ],
  ["thoughts on https://github.com/jdx/hk/issues/1077#issuecomment-1.", "thoughts on jdx/hk#1077."],
  ["see <https://github.com/jdx/hk>", "see jdx/hk"],
  ["https://github.com/o/r/commit/0123456789abcdef", "o/r@0123456"],
  ["https://github.com/o/r/blob/main/a_b_c.ts", "https://github.com/o/r/blob/main/a_b_c.ts"],
  ['[the docs](https://a.test/x_(y) "title") say', "the docs say"],
  ["![a cat](cat.png) and ![](x.png)", "a cat and image"],
  ["You are **alice**, *really*, and ~~not~~ bob", "You are alice, really, and not bob"],
  ["**注意：**这是粗体", "注意：这是粗体"],
  ["## Fix it\n> quoted", "Fix it\nquoted"],
  ["run `npm *test*` in ``a ` b``", "run npm *test* in a ` b"],
  ["```ts\nconst a = '**';\n```\nok", "const a = '**';\nok"],
  [
    "_this_ but not snake_case_name or __init__.py or *.ts and *.js",
    "this but not snake_case_name or __init__.py or *.ts and *.js",
  ],
  ["2 * 3 * 4, **kwargs, C:\\temp\\new, a[0](b", "2 * 3 * 4, **kwargs, C:\\temp\\new, a[0](b"],
  ["\\*not emphasis\\*", "*not emphasis*"],
  ["open https://a.test/?token=abcdef123456", "open https://a.test/?token=•••(12 characters)"],
  ["plain words", "plain words"],
])("%j becomes %j", (text, plain) => {
  expect(plainMarkdown(text)).toBe(plain);
});

test("no text takes long or becomes longer", () => {
  const piece = fc.constantFrom(
    "*",
    "**",
    "_",
    "`",
    "```\n",
    "[",
    "](",
    ")",
    "~~",
    "# ",
    "> ",
    "a",
    "b c",
    "\n",
    "\\",
    "。",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("");
      const plain = plainMarkdown(text);
      expect(plain.length).toBeLessThanOrEqual(text.length + 5 * pieces.length);
    }),
  );
  // No pattern restarts at every position, so this ends long before the test's timeout.
  for (const mark of ["*", "**", "_", "`", "[", "[a](", "~~", "![", "\\", "> "])
    plainMarkdown(`${mark}a `.repeat(1_000).slice(0, 4_000));
});
