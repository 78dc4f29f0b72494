import type { FootnoteDefinition, ListItem, TableRow } from "mdast";
import { describe, expect, it } from "vitest";
import { type MarkdownBlock, numberFootnotes, type Piece } from "../../../src/web/markdown/document.ts";

const piece = (footnoteCalls: string, before = ""): Piece<never> => ({
  nodes: [],
  definitions: [],
  footnoteCalls: [...footnoteCalls],
  before: [...before],
});
const nodes = (footnoteCalls: string, before?: string): MarkdownBlock => ({
  kind: "nodes",
  piece: piece(footnoteCalls, before),
});
const list = (...pages: Piece<ListItem>[]): MarkdownBlock => ({
  kind: "list",
  ordered: true,
  start: 3,
  loose: false,
  tasks: false,
  pages,
});
const table = (head: Piece<TableRow>, ...pages: Piece<TableRow>[]): MarkdownBlock => ({
  kind: "table",
  head,
  align: [null],
  pages,
});
const code: MarkdownBlock = { kind: "code", language: "ts", code: "a[^b]", open: true };
const plain: MarkdownBlock = { kind: "plain", raw: "a[^b]", reason: "why" };

const note: FootnoteDefinition = { type: "footnoteDefinition", identifier: "n", children: [] };
const definition = { type: "definition", identifier: "d", url: "x" } as const;
const number = (pages: readonly (readonly MarkdownBlock[])[]) =>
  numberFootnotes(pages, new Map([["n", note]]), new Map([["d", definition]]));

describe("the numbers of footnotes", () => {
  it("are counted across pages, lists and tables: each piece gets the footnotes called before it", () => {
    const given = [
      [nodes("a"), nodes(""), code, nodes("ba")],
      [plain, list(piece("c"), piece(""), piece("d"))],
      [table(piece("e"), piece(""), piece("f"))],
      [nodes("a")],
    ];
    expect(number(given)).toEqual({
      pages: [
        [nodes("a"), nodes(""), code, nodes("ba", "a")],
        [plain, list(piece("c", "aba"), piece(""), piece("d", "abac"))],
        [table(piece("e", "abacd"), piece(""), piece("f", "abacde"))],
        [nodes("a", "abacdef")],
      ],
      footnoteCalls: [..."abacdefa"],
      footnotes: [note],
      definitions: [definition],
    });
  });

  it("do not exist if no footnote is defined", () => {
    const given = [[nodes("a"), nodes("b")]];
    const numbered = numberFootnotes(given, new Map(), new Map([["d", definition]]));
    expect(numbered).toEqual({ pages: given, footnoteCalls: [], footnotes: [], definitions: [] });
    expect(numbered.pages).toBe(given);
  });

  it("do not change blocks that already have them", () => {
    const pages = [
      [nodes("a"), code, list(piece("b", "a"), piece("c", "ab"))],
      [plain, table(piece("d", "abc"), piece("e", "abcd"))],
    ];
    const numbered = number(pages).pages;
    expect(numbered).toEqual(pages);
    for (const [index, page] of pages.entries()) expect(numbered[index]).toBe(page);
  });

  it.each([
    { name: "other", before: "x" },
    { name: "fewer", before: "" },
    { name: "more", before: "ab" },
  ])("change if $name footnotes are called before", ({ before }) => {
    const [, page] = number([[nodes("a")], [nodes("c"), nodes("b", before)]]).pages;
    expect(page).toEqual([nodes("c", "a"), nodes("b", "ac")]);
    expect(number([[nodes("a")], [nodes("b", before)]]).pages[1]).toEqual([nodes("b", "a")]);
  });

  it.each([
    { name: "block", blocks: [nodes("b")], numbered: [nodes("b", "a")] },
    {
      name: "list's page",
      blocks: [list(piece(""), piece("b"), piece(""))],
      numbered: [list(piece(""), piece("b", "a"), piece(""))],
    },
    {
      name: "table's head",
      blocks: [table(piece("b"), piece(""))],
      numbered: [table(piece("b", "a"), piece(""))],
    },
    {
      name: "table's page",
      blocks: [table(piece(""), piece(""), piece("b"))],
      numbered: [table(piece(""), piece(""), piece("b", "a"))],
    },
  ])("change only a $name: everything else keeps its identity", ({ blocks, numbered }) => {
    const pages = [[nodes("a"), code], [nodes(""), ...blocks, plain, list(piece(""))], [nodes("")]];
    const after = number(pages).pages;
    expect(after[1]).toEqual([nodes(""), ...numbered, plain, list(piece(""))]);
    expect(after[0]).toBe(pages[0]);
    expect(after[2]).toBe(pages[2]);
    expect(after[1]?.map((block, index) => block === pages[1]?.[index])).toEqual([true, false, true, true]);
    const [, was] = pages[1] ?? [];
    const [, is] = after[1] ?? [];
    if (was?.kind === "table" && is?.kind === "table") expect(is.pages[0]).toBe(was.pages[0]);
    if (was?.kind === "list" && is?.kind === "list") expect(is.pages[2]).toBe(was.pages[2]);
  });

  it("stay the same object while the footnotes called before them do", () => {
    const pages = [[nodes("a")], [code, nodes("b"), list(piece("c"))]];
    const first = number(pages).pages;
    const again = number([...pages, [nodes("d")]]).pages;
    expect(first[1]).toEqual([code, nodes("b", "a"), list(piece("c", "ab"))]);
    expect(again.slice(0, 2).map((page, index) => page === first[index])).toEqual([true, true]);
    const more = number([[nodes("x")], ...pages]).pages;
    expect(more[2]).toEqual([code, nodes("b", "xa"), list(piece("c", "xab"))]);
  });
});
