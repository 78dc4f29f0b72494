import type { Definition, FootnoteDefinition, ListItem, Node, RootContent, Table, TableRow } from "mdast";

/** Syntax trees that are rendered together, with the definitions that they need. Immutable. */
export interface Piece<Item extends Node = RootContent> {
  readonly nodes: readonly Item[];
  /** The definitions that the nodes refer to, from anywhere in the text. */
  readonly definitions: readonly Definition[];
  /** The footnotes that the nodes refer to, in order, and those referred to before them. Both determine the footnote numbers. */
  readonly footnoteCalls: readonly string[];
  readonly before: readonly string[];
}

/** A top-level block. An unchanged block keeps its identity. */
export type MarkdownBlock =
  | { readonly kind: "nodes"; readonly piece: Piece }
  /** A fenced code block. `open`: its closing fence has not arrived. */
  | { readonly kind: "code"; readonly language: string; readonly code: string; readonly open: boolean }
  /** A long list. Its items are divided into pages, of which only the last one changes. */
  | {
      readonly kind: "list";
      readonly ordered: boolean;
      readonly start: number;
      readonly loose: boolean;
      readonly tasks: boolean;
      readonly pages: readonly Piece<ListItem>[];
    }
  | {
      readonly kind: "table";
      readonly head: Piece<TableRow>;
      readonly align: Table["align"];
      readonly pages: readonly Piece<TableRow>[];
    }
  /** Plain text: too expensive to parse or nested too deeply (see `reason`), or not parsed yet. */
  | { readonly kind: "plain"; readonly raw: string; readonly reason?: string };

/** A parsed text. Everything that the next read does not change keeps its identity. */
export interface MarkdownDocument {
  readonly pages: readonly (readonly MarkdownBlock[])[];
  /** All footnote references in order, and the footnotes for the end of the document. */
  readonly footnoteCalls: readonly string[];
  readonly footnotes: readonly FootnoteDefinition[];
  readonly definitions: readonly Definition[];
  /** Whether the end is omitted, or plain text, because of the number of elements. */
  readonly isTruncated: boolean;
  /** Whether the end has not been read yet. The next read of the same text continues there. */
  readonly isPartlyRead: boolean;
}

/** Caches the numbered versions of blocks and pages, so that the next read returns the same objects. */
const lastBlocks = new WeakMap<MarkdownBlock, MarkdownBlock>();
const lastPages = new WeakMap<readonly MarkdownBlock[], readonly MarkdownBlock[]>();

/**
 * Numbers the footnotes by setting `before` of each piece. Pieces without references keep their identity. The others are replaced
 * by cached versions as long as their numbers do not change.
 */
export function numberFootnotes(
  pages: readonly (readonly MarkdownBlock[])[],
  footnotes: ReadonlyMap<string, FootnoteDefinition>,
  definitions: ReadonlyMap<string, Definition>,
): Pick<MarkdownDocument, "pages" | "footnoteCalls" | "footnotes" | "definitions"> {
  if (footnotes.size === 0) return { pages, footnoteCalls: [], footnotes: [], definitions: [] };
  const footnoteCalls: string[] = [];
  const numbered = <Item extends Node>(given: Piece<Item>): Piece<Item> => {
    if (given.footnoteCalls.length === 0) return given;
    const before = [...footnoteCalls];
    footnoteCalls.push(...given.footnoteCalls);
    return before.length === given.before.length &&
      before.every((call, index) => call === given.before[index])
      ? given
      : { ...given, before };
  };
  const shown = pages.map((page) => {
    const blocks = page.map((block): MarkdownBlock => {
      const next = renumber(lastBlocks.get(block) ?? block, numbered);
      if (next !== block) lastBlocks.set(block, next);
      return next;
    });
    const last = lastPages.get(page) ?? page;
    if (blocks.every((block, index) => block === last[index])) return last;
    lastPages.set(page, blocks);
    return blocks;
  });
  return {
    pages: shown,
    footnoteCalls,
    footnotes: [...footnotes.values()],
    definitions: [...definitions.values()],
  };
}

function renumber(
  block: MarkdownBlock,
  numbered: <Item extends Node>(piece: Piece<Item>) => Piece<Item>,
): MarkdownBlock {
  switch (block.kind) {
    case "nodes": {
      const piece = numbered(block.piece);
      return piece === block.piece ? block : { ...block, piece };
    }
    case "list": {
      const pages = block.pages.map((page) => numbered(page));
      return pages.every((page, index) => page === block.pages[index]) ? block : { ...block, pages };
    }
    case "table": {
      const head = numbered(block.head);
      const pages = block.pages.map((page) => numbered(page));
      const same = head === block.head && pages.every((page, index) => page === block.pages[index]);
      return same ? block : { ...block, head, pages };
    }
    case "code":
    case "plain":
      return block;
    default:
      return block satisfies never;
  }
}
