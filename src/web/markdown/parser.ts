import type { Node, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { t } from "../text/text.ts";
import type { MarkdownBlock, Piece } from "./document.ts";
import type { References } from "./references.ts";
import { FENCE, MAX_DEPTH } from "./source.ts";
import { syntaxOf } from "./syntax.ts";
import { type Facts, hasTasks, inspect, isLoose, offsetOf } from "./tree.ts";

/** Items of a list or rows of a table per page. Only the last page is rendered again while the text grows. */
const PAGE = 8;
/** Minimum number of items or rows for a list or table to be divided into pages, and for finished ones not to be parsed again. */
export const LONG = 8;
const MAX_NODES = 8_000;

/** Parses Markdown into blocks, with the definitions of the whole text. */
export interface BlockParser {
  /** Definitions of the text. */
  readonly references: References;
  /** Number of characters parsed so far. */
  readonly parsed: number;
  /**
   * `labels`: labels of the references in the source. A node's offset minus `shift` is its offset in `source`; `shift` is -1 if
   * the parser failed.
   */
  parse(source: string, labels: Iterable<string>): { nodes: RootContent[]; shift: number };
  /** Builds a block of nodes. `raw`: their source. */
  blockOf(nodes: readonly RootContent[], raw: string): MarkdownBlock;
  piece<Item extends Node>(nodes: readonly Item[], facts?: Facts): Piece<Item>;
  /** The items of a list, or the rows of a table, in pages. */
  paginate<Item extends Node>(items: readonly Item[]): Piece<Item>[];
}

export function createBlockParser(references: References): BlockParser {
  let parsed = 0;

  function parse(source: string, labels: Iterable<string>): { nodes: RootContent[]; shift: number } {
    const prefix = references.prefixFor(labels);
    parsed += source.length;
    try {
      // The parser drops a byte order mark at the start. Add one, so that the text's own is kept.
      const tree = fromMarkdown(`\ufeff${prefix}${source}`, syntaxOf(source));
      const nodes = tree.children.filter((node) => offsetOf(node) >= prefix.length);
      return { nodes, shift: prefix.length };
    } catch {
      return { nodes: [], shift: -1 };
    }
  }

  function piece<Item extends Node>(nodes: readonly Item[], facts = inspect(nodes)): Piece<Item> {
    return {
      nodes,
      definitions: [...facts.references].flatMap((id) => references.definitions.get(id) ?? []),
      footnoteCalls: facts.footnoteCalls,
      before: [],
    };
  }

  function paginate<Item extends Node>(items: readonly Item[]): Piece<Item>[] {
    const pages: Piece<Item>[] = [];
    for (let index = 0; index < items.length; index += PAGE)
      pages.push(piece(items.slice(index, index + PAGE)));
    return pages;
  }

  function blockOf(nodes: readonly RootContent[], raw: string): MarkdownBlock {
    const facts = inspect(nodes);
    if (facts.depth > MAX_DEPTH) return { kind: "plain", raw, reason: t.markdown.deep };
    const only = nodes.length === 1 ? nodes[0] : undefined;
    if (only?.type === "code" && FENCE.test(raw.split("\n", 1)[0] ?? "")) {
      return { kind: "code", language: only.lang ?? "", code: only.value, open: false };
    }
    if (only?.type === "list" && only.children.length >= LONG) {
      return {
        kind: "list",
        ordered: only.ordered === true,
        start: only.start ?? 1,
        loose: isLoose(only),
        tasks: hasTasks(only.children),
        pages: paginate(only.children),
      };
    }
    if (only?.type === "table" && only.children.length >= LONG) {
      const [head, ...rows] = only.children;
      if (head)
        return { kind: "table", head: piece([head]), align: only.align ?? null, pages: paginate(rows) };
    }
    if (facts.nodes > MAX_NODES) return { kind: "plain", raw, reason: t.markdown.manyElements };
    return { kind: "nodes", piece: piece(nodes, facts) };
  }

  return {
    references,
    get parsed() {
      return parsed;
    },
    parse,
    blockOf,
    piece,
    paginate,
  };
}
