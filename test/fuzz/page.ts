import assert from "node:assert/strict";
import fc from "fast-check";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { findInexact } from "../../src/hidden-text/exact-text.ts";
import { findHidden, spelled, type TextKind } from "../../src/hidden-text/hidden-text.ts";
import { readTerminal, terminalText } from "../../src/web/code/ansi.ts";
import { createMarkdownStream } from "../../src/web/markdown/blocks.ts";
import { Markdown } from "../../src/web/markdown/Markdown.tsx";
import { SafeLink } from "../../src/web/ui/SafeLink.tsx";
import { hostText, judgeUrl } from "../../src/web/ui/safe-url.ts";
import { anyCharacter } from "../any-character.ts";
import { same } from "./laws.ts";
import { type TargetList, target } from "./target.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not remain.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Texts made of syntax fragments of their readers, often repeated. */
function scraps(means: readonly string[], longest = 60): fc.Arbitrary<string> {
  const one = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...means) },
    { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 8 }) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  );
  const times = fc.oneof({ weight: 12, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat(400) });
  return fc
    .array(fc.tuple(one, times), { maxLength: longest, size: "max" })
    .map((all) => all.map(([text, count]) => text.repeat(count)).join(""));
}

const TERMINAL = [
  "\u001b[",
  "\u001b]",
  "\u001bP",
  "\u001b_",
  "\u001b^",
  "\u001bX",
  "\u009b",
  "\u009d",
  "\u0090",
  "\u009c",
  "\u001b\\",
  "\u0007",
  "31m",
  "0m",
  "38;5;1m",
  "48:2::1:2:3m",
  "38;2;300;-1;x",
  "8;;https://a.example/",
  "8;id=1;javascript:alert(1)",
  "8;;",
  "0;title",
  "52;c;aGk=",
  "2J",
  "H",
  "?1049h",
  ";",
  "m",
  "\r",
  "\n",
  "\r\n",
  "\b",
  "\t",
  "\u001b",
  "\u001b(B",
  "\u001bc",
  "\u000e",
  "a",
  "_\ba",
  "a\ba",
  "word ",
  "\u202e",
  "\u0000",
  "8m",
  "7m",
  "22m",
  "1A",
  "K",
];
const ADDRESS = [
  "https:",
  "http:",
  "//",
  "/",
  "\\",
  "javascript:",
  "data:text/html,",
  "mailto:",
  "user@",
  ":443",
  ":x",
  "@",
  "#",
  "?",
  "&",
  "=",
  "example.com",
  "EXAMPLE.com",
  "xn--80ak6aa92e.com",
  "аpple.com",
  "a.example",
  "localhost",
  "[::1]",
  "127.1",
  "0x7f.1",
  "%2e",
  "%00",
  "%",
  "..",
  ".",
  " ",
  "\t",
  "\n",
  "\u00ad",
  "\u202e",
  "\ufeff",
  "。",
  "é",
  "👩‍👩‍👧",
  "vbscript:",
  "blob:",
  "file:",
  "x".repeat(90),
  "%3a//",
  "a@b.c",
];
const WORDS = [
  "plain ",
  "\u202e",
  "\u2066",
  "\u2069",
  "\u200b",
  "\u200d",
  "\ufe0f",
  "👩",
  "🏴",
  "\u{e0067}",
  "\u{e0062}",
  "\u{e007f}",
  "\u00a0",
  "\u0000",
  "\u001b",
  "\u009f",
  "\ud800",
  "\udfff",
  "а",
  "p",
  "ａ",
  "é",
  "e\u0301",
  "\u2028",
  "\u3000",
  "\u061c",
  "न\u200dम",
  "ا\u200cب",
  "\t",
  "\n",
];
const MARKDOWN = [
  "# ",
  "- ",
  "* ",
  "1. ",
  "> ",
  "```",
  "```js\n",
  "~~~",
  "\n",
  "\n\n",
  "    ",
  "\t",
  "|",
  "| a | b |\n",
  "|--|:-:|\n",
  "---\n",
  "===\n",
  "[",
  "]",
  "(",
  ")",
  "![",
  "<",
  ">",
  "</b>",
  "<!--",
  "-->",
  "*",
  "**",
  "_",
  "__",
  "~~",
  "`",
  "``",
  "\\",
  "&amp;",
  "&#0;",
  "&",
  "[^1]",
  "[^1]: note",
  "[a]: /x",
  "[a]",
  "[A][]",
  "https://a.example/",
  "www.a.example",
  "a@b.c",
  "<https://a.example>",
  "word ",
  "text",
  "- [ ] ",
  "\r",
  "\u0000",
  "\ufeff",
  "  \n",
  "![x](https://a.example/p.png)",
  "[x](javascript:alert(1))",
  "<script>alert(1)</script>",
  "|\n",
  ":",
  "\u00a0",
];

export const pageTargets: TargetList = (watch) => [
  target(watch, "terminal", scraps(TERMINAL, 120), expectTerminal),
  target(
    watch,
    "addresses",
    fc.record({ address: scraps(ADDRESS, 10), words: scraps(ADDRESS, 6) }),
    expectAddress,
  ),
  target(
    watch,
    "hidden text",
    fc.record({
      text: scraps(WORDS, 60),
      kind: fc.constantFrom<TextKind | "exact">("prose", "code", "name", "exact"),
    }),
    expectNothingHidden,
  ),
  target(
    watch,
    "Markdown",
    fc.record({ text: scraps(MARKDOWN, 80), cuts: fc.array(fc.nat(2_000), { maxLength: 8 }) }),
    expectMarkdown,
  ),
];

function expectTerminal(text: string): void {
  const output = readTerminal(text);
  const said = output.map((piece) => piece.text).join("");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these begin a sequence.
  assert.doesNotMatch(said, /[\u001b\u0080-\u009f]/, "a sequence is left");
  assert.doesNotMatch(terminalText(text), CONTROL, "control bytes are copied");
  for (const piece of output) {
    assert.notEqual(piece.text, "", "an empty piece");
    assert.match(piece.style, /^[a-z ]*$/);
    for (const shown of findHidden(piece.text, "code")) {
      if ("text" in shown) assert.doesNotMatch(shown.text, CONTROL, "control bytes on the page");
    }
  }
  // The copied text is in the output, in order.
  let at = 0;
  const normal = text.replace(/\r\n/g, "\n");
  for (const character of said) {
    at = normal.indexOf(character, at) + 1;
    assert.notEqual(at, 0, "text that nobody wrote");
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: without these it is plain text.
  if (!/[\u0007\u0008\r\u000e\u000f\u001b\u0080-\u009f]/.test(text)) assert.equal(said, text, "text is lost");
}

function expectAddress({ address, words }: { address: string; words: string }): void {
  const verdict = judgeUrl(address);
  hostText(words, "a.example");
  if (verdict.kind === "link" || verdict.kind === "confirm") {
    const url = new URL(verdict.href);
    assert.match(url.protocol, /^(https?|mailto):$/);
    assert.notEqual(verdict.host, "");
    if (url.protocol !== "mailto:") {
      assert.equal(verdict.host, url.host, "another host is shown than is opened");
      if (verdict.kind === "link") assert.equal(url.username + url.password, "");
    }
    assert.notEqual(judgeUrl(verdict.href).kind, "text", "an address that is a link is none the second time");
  }
  const html = renderToStaticMarkup(createElement(SafeLink, { href: address, text: words, children: "x" }));
  expectHarmless(html);
}

function expectNothingHidden({ text, kind }: { text: string; kind: TextKind | "exact" }): void {
  const found = kind === "exact" ? findInexact(text) : findHidden(text, kind);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes that a page does not show.
  const unseen = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
  let whole = "";
  for (const piece of found) {
    if ("text" in piece) {
      assert.doesNotMatch(piece.text, unseen, "hidden text is not marked");
      whole += piece.text;
    } else {
      assert.notEqual(piece.label, "");
      assert.doesNotMatch(piece.label + piece.title, unseen, "a mark hides what it names");
      whole += piece.hidden;
    }
  }
  assert.equal(whole.toWellFormed(), text.toWellFormed(), "text is lost");
  assert.doesNotMatch(spelled(found), unseen);
}

function expectMarkdown({ text, cuts }: { text: string; cuts: readonly number[] }): void {
  const stream = createMarkdownStream();
  let before = 0;
  for (const end of cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b)) {
    const { pages } = stream.read(text.slice(0, end), false);
    // The open part may become shorter: content that turns out to cost too much becomes one block.
    assert.ok(pages.length >= before - 1 || end === 0, "a page is lost while the text grows");
    before = pages.length;
  }
  const grown = stream.read(text, true);
  const whole = createMarkdownStream().read(text, true);
  // Content that would cost too much is plain text, in larger or smaller blocks.
  const isCostly = [grown, whole].some(({ pages }) => pages.flat().some(({ kind }) => kind === "plain"));
  if (!isCostly) {
    same(kindsOf(grown), kindsOf(whole), "blocks depend on how the text came");
    same(grown.footnoteCalls, whole.footnoteCalls, "footnotes depend on how the text came");
  }
  expectHarmless(rendered(text));
}

/** The blocks and their content, without the paging of long lists. */
function kindsOf(document: ReturnType<ReturnType<typeof createMarkdownStream>["read"]>): unknown[] {
  return document.pages
    .flat()
    .map((block) => (block.kind === "code" ? { ...block, open: false } : block.kind));
}

const rendered = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));

/** Nothing in it runs, loads or navigates, whatever the input was. */
function expectHarmless(html: string): void {
  assert.doesNotMatch(
    html,
    /<(?:script|img|iframe|object|embed|style|link|meta|base|form|svg|video|audio)\b/i,
  );
  for (const [tag] of html.matchAll(/<[a-z][^>]*>/gi)) {
    assert.doesNotMatch(
      tag.replace(/ style="text-align:[a-z]+"/, "").replace(/"[^"]*"/g, '""'),
      /\s(?:on[a-z]+|style|srcdoc|src)=/i,
      "an attribute that acts",
    );
    const href = /\shref="([^"]*)"/.exec(tag)?.[1];
    if (href !== undefined) assert.match(href, /^(?:https?:|mailto:|#)/i, "an address that is no link");
  }
}
