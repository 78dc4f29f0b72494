import type { Definition, FootnoteDefinition, ListItem, Node, RootContent, Table, TableRow } from "mdast";

/** Syntax trees that are rendered together, with what they need from elsewhere in the text. Immutable. */
export interface Piece<Item extends Node = RootContent> {
  readonly nodes: readonly Item[];
  /** Definitions of the references in it, wherever they stand. */
  readonly definitions: readonly Definition[];
  /** Footnotes that it calls, in order, and those called before it: what numbers them. */
  readonly calls: readonly string[];
  readonly before: readonly string[];
}

/** A block of the outermost level. A block that did not change between two reads is the same object. */
export type MarkdownBlock =
  | { readonly kind: "nodes"; readonly piece: Piece }
  /** A fence of the outermost level, open while its end has not come. */
  | { readonly kind: "code"; readonly language: string; readonly code: string; readonly open: boolean }
  /** A long list: its items come in pages, of which only the last changes. */
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
  /** Text that would cost too much to parse, or nests too deep: shown as it is (`reason`), or not parsed yet. */
  | { readonly kind: "plain"; readonly raw: string; readonly reason?: string };

/** A text as it is shown. What the next read does not change is the same object in it. */
export interface MarkdownDocument {
  readonly pages: readonly (readonly MarkdownBlock[])[];
  /** Every footnote call in order, and the definitions that end the document. */
  readonly calls: readonly string[];
  readonly footnotes: readonly FootnoteDefinition[];
  readonly definitions: readonly Definition[];
  /** Its end is left out, or plain text, for there would be too many elements. */
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
