import type { Definition, FootnoteDefinition, ListItem, Node, RootContent, Table, TableRow } from "mdast";

/** Syntax trees that are rendered together, with the definitions that they need. Immutable. */
export interface Piece<Item extends Node = RootContent> {
  readonly nodes: readonly Item[];
  /** Definitions of its references, from anywhere in the text. */
  readonly definitions: readonly Definition[];
  /** Footnotes that it refers to, in order, and those referred to before it. Both determine the numbers. */
  readonly calls: readonly string[];
  readonly before: readonly string[];
}

/** A block of the outermost level. An unchanged block stays the same object. */
export type MarkdownBlock =
  | { readonly kind: "nodes"; readonly piece: Piece }
  /** A fenced code block of the outermost level. `open`: its closing fence has not arrived. */
  | { readonly kind: "code"; readonly language: string; readonly code: string; readonly open: boolean }
  /** A long list. Its items are in pages, of which only the last one changes. */
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
  /** Plain text: too expensive to parse or nested too deep (`reason`), or not parsed yet. */
  | { readonly kind: "plain"; readonly raw: string; readonly reason?: string };

/** A parsed text. Parts that the next read does not change stay the same objects. */
export interface MarkdownDocument {
  readonly pages: readonly (readonly MarkdownBlock[])[];
  /** Every footnote reference in order, and the footnotes at the end of the document. */
  readonly calls: readonly string[];
  readonly footnotes: readonly FootnoteDefinition[];
  readonly definitions: readonly Definition[];
  /** Its end is left out, or plain text, because of the number of elements. */
  readonly cut: boolean;
  /** Its end is still to be read: the next read of the same text goes on. */
  readonly behind: boolean;
}

/** What was made of a block or a page the last time, by what it was made of: the next read gives the same object again. */
const lastBlocks = new WeakMap<MarkdownBlock, MarkdownBlock>();
const lastPages = new WeakMap<readonly MarkdownBlock[], readonly MarkdownBlock[]>();

/**
 * Numbers the footnotes: each piece learns which were called before it. Pieces without calls keep their identity, and so does
 * what was made of the others as long as they are numbered alike.
 */
export function numberFootnotes(
  pages: readonly (readonly MarkdownBlock[])[],
  footnotes: ReadonlyMap<string, FootnoteDefinition>,
  definitions: ReadonlyMap<string, Definition>,
): Pick<MarkdownDocument, "pages" | "calls" | "footnotes" | "definitions"> {
  if (footnotes.size === 0) return { pages, calls: [], footnotes: [], definitions: [] };
  const calls: string[] = [];
  const numbered = <Item extends Node>(given: Piece<Item>): Piece<Item> => {
    if (given.calls.length === 0) return given;
    const before = [...calls];
    calls.push(...given.calls);
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
    calls,
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
