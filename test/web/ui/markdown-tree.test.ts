import type { List, ListItem, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { describe, expect, it } from "vitest";
import { gapAfter, hasTasks, inspect, isLoose, offsetOf } from "../../../src/web/markdown/tree.ts";

const parse = (text: string): RootContent[] =>
  fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }).children;
const listOf = (text: string): List => {
  const [list] = parse(text);
  if (list?.type !== "list") throw new Error(`${text} is no list`);
  return list;
};

describe("the content of nodes", () => {
  it.each([
    { text: "", nodes: 0, elements: 0, depth: 0 },
    { text: "a", nodes: 2, elements: 1, depth: 2 },
    { text: "a *b*", nodes: 4, elements: 2, depth: 3 },
    { text: "***", nodes: 1, elements: 1, depth: 1 },
    { text: "> - a\n\nb\n\n> c", nodes: 10, elements: 7, depth: 5 },
    { text: "a\n\n- - b", nodes: 8, elements: 6, depth: 6 },
  ])("is counted: $text", ({ text, ...counts }) => {
    expect(inspect(parse(text))).toMatchObject(counts);
  });

  it("is counted at any depth", () => {
    let node: RootContent = { type: "blockquote", children: [] };
    for (let depth = 1; depth < 50_000; depth++) node = { type: "blockquote", children: [node] };
    expect(inspect([node])).toMatchObject({ nodes: 50_000, depth: 50_000 });
  });

  it("has the labels that links and images refer to, not their addresses", () => {
    const { references } = inspect(parse("[a] ![b] *[C]* [d](x)\n\n[A]: 1\n[b]: 2\n[c]: 3"));
    expect([...references]).toEqual(["a", "b", "c"]);
  });

  it("has its definitions in order, at any depth", () => {
    const { definitions } = inspect(parse("[b]: 1\n\n> [a]: 2\n\n[b]: 3"));
    expect(definitions.map(({ identifier, url }) => [identifier, url])).toEqual([
      ["b", "1"],
      ["a", "2"],
      ["b", "3"],
    ]);
  });

  it("has its footnotes, and their calls in order except those inside footnotes", () => {
    const { footnoteCalls, footnotes } = inspect(
      parse("a[^y] *b[^x]* c[^y]\n\n[^x]: x[^y]\n\n    > x[^z]\n\n[^y]: y\n\n[^z]: z\n\nd[^z]"),
    );
    expect(footnoteCalls).toEqual(["Y", "X", "Y", "Z"]);
    expect(footnotes.map(({ identifier }) => identifier)).toEqual(["x", "y", "z"]);
  });

  it("is empty for nodes without any", () => {
    expect(inspect(parse("a"))).toEqual({
      nodes: 2,
      elements: 1,
      depth: 2,
      references: new Set(),
      footnoteCalls: [],
      definitions: [],
      footnotes: [],
    });
  });
});

describe("a list", () => {
  const item = (...children: ListItem["children"]): ListItem => ({ type: "listItem", children });
  const paragraph: ListItem["children"][number] = { type: "paragraph", children: [] };

  it.each([
    { text: "- a\n- b", loose: false },
    { text: "- a\n\n- b", loose: true },
    { text: "- a\n\n  b", loose: true },
    { text: "- a\n- b\n\n  c", loose: true },
    { text: "- a\n  - b", loose: false },
  ])("is loose if its items, or blocks in one, are separated: $text", ({ text, loose }) => {
    expect(isLoose(listOf(text))).toBe(loose);
  });

  it("is loose if an item not marked so has several blocks", () => {
    expect(isLoose({ type: "list", children: [item(paragraph)] })).toBe(false);
    expect(isLoose({ type: "list", children: [item(paragraph), item(paragraph, paragraph)] })).toBe(true);
    expect(isLoose({ type: "list", children: [{ ...item(paragraph, paragraph), spread: false }] })).toBe(
      false,
    );
    expect(isLoose({ type: "list", spread: true, children: [item(paragraph)] })).toBe(true);
  });

  it.each([
    { text: "- a\n- b", tasks: false },
    { text: "- a\n- [ ] b", tasks: true },
    { text: "- [x] a\n- b", tasks: true },
  ])("is a task list if one of its items is a task: $text", ({ text, tasks }) => {
    expect(hasTasks(listOf(text).children)).toBe(tasks);
  });
});

it("a node's position is its start; one without a position is at the start", () => {
  expect(parse("a\n\nb").map(offsetOf)).toEqual([0, 3]);
  expect(offsetOf(undefined)).toBe(0);
  expect(offsetOf({ type: "text" })).toBe(0);
});

it("the gap after a node is the number of lines to the next one", () => {
  const gaps = (text: string) => parse(text).map((node, index, all) => gapAfter(node, all[index + 1]));
  expect(gaps("a\n\nb\n***\nc\nd\n\n\n\ne")).toEqual([2, 1, 1, 4, 0]);
  const [a] = parse("a");
  expect(a && gapAfter(a, { type: "text" })).toBe(-1);
  expect(a && gapAfter({ type: "text" }, a)).toBe(1);
});
