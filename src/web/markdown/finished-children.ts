import type { List, ListItem, RootContent, Table, TableRow } from "mdast";
import type { MarkdownBlock, Piece } from "./document.ts";
import { type BlockParser, LONG } from "./parser.ts";
import { lineStart } from "./source.ts";
import { gapAfter, hasTasks, inspect, isLoose, offsetOf } from "./tree.ts";

/** The finished items of a long list that is still growing. */
export interface FinishedItems {
  readonly kind: "list";
  /** The source of the finished items. */
  readonly raw: string;
  readonly ordered: boolean;
  /** The number of its first item. */
  readonly first: number;
  readonly loose: boolean;
  readonly tasks: boolean;
  /** The finished items, which are parsed again when their references are defined. */
  pages: readonly Piece<ListItem>[];
  /** Number of definitions when the items were last parsed. */
  knownDefinitions: number;
}

/** The finished rows of a long table that is still growing. */
interface FinishedRows {
  readonly kind: "table";
  readonly raw: string;
  /** The header lines, which are parsed together with the tail so that the parser recognizes its lines as rows. */
  readonly header: string;
  readonly align: Table["align"];
  readonly head: Piece<TableRow>;
  readonly pages: readonly Piece<TableRow>[];
}

export type FinishedChildren = FinishedItems | FinishedRows;

/**
 * Position of the last node: it begins at `start` in `text`, the tail at `tail`. The node's own offsets are relative to `base`.
 */
interface NodePosition {
  text: string;
  tail: number;
  start: number;
  base: number;
}

/**
 * Moves the finished items or rows out of the last node of a text, so that they are not parsed again. `undefined`: there are too
 * few. `finishedChildren`: items that were moved out of the same node before. `rest`: start of the unfinished part. `elements`: number of
 * elements that were moved.
 */
export function moveFinished(
  parser: BlockParser,
  finishedChildren: FinishedChildren | undefined,
  node: RootContent,
  place: NodePosition,
): { finishedChildren: FinishedChildren; rest: number; elements: number } | undefined {
  if (node.type === "list") return moveFinishedItems(parser, finishedChildren, node, place);
  if (node.type === "table") return moveFinishedRows(parser, finishedChildren, node, place);
  return undefined;
}

function moveFinishedItems(
  { paginate, references }: BlockParser,
  finishedChildren: FinishedChildren | undefined,
  node: List,
  { text, tail, start, base }: NodePosition,
): { finishedChildren: FinishedItems; rest: number; elements: number } | undefined {
  const done = finishedItems(node, text, base);
  if (done < LONG) return undefined;
  const items = node.children.slice(0, done);
  const loose = items.some(
    (item, index) => item.spread === true || gapAfter(item, node.children[index + 1]) > 1,
  );
  const facts = inspect(items);
  // Must happen before the pages are built, because the items may refer to their own definitions.
  references.learn(facts);
  const added = paginate(items);
  const rest = lineStart(text, base + offsetOf(node.children[done]));
  return {
    finishedChildren:
      finishedChildren?.kind === "list"
        ? {
            ...finishedChildren,
            raw: finishedChildren.raw + text.slice(tail, rest),
            loose: finishedChildren.loose || loose,
            tasks: finishedChildren.tasks || hasTasks(items),
            pages: [...finishedChildren.pages, ...added],
          }
        : {
            kind: "list",
            raw: text.slice(start, rest),
            ordered: node.ordered === true,
            first: node.start ?? 1,
            loose,
            tasks: hasTasks(items),
            pages: added,
            knownDefinitions: references.size,
          },
    rest,
    elements: facts.elements,
  };
}

function moveFinishedRows(
  { paginate, piece }: BlockParser,
  finishedChildren: FinishedChildren | undefined,
  node: Table,
  { text, tail, start, base }: NodePosition,
): { finishedChildren: FinishedRows; rest: number; elements: number } | undefined {
  const [head, ...rows] = node.children;
  const done = rows.length - 1;
  if (done < LONG || !head) return undefined;
  const finished = rows.slice(0, done);
  const added = paginate(finished);
  const rest = lineStart(text, base + offsetOf(rows[done]));
  return {
    finishedChildren:
      finishedChildren?.kind === "table"
        ? {
            ...finishedChildren,
            raw: finishedChildren.raw + text.slice(tail, rest),
            pages: [...finishedChildren.pages, ...added],
          }
        : {
            kind: "table",
            raw: text.slice(start, rest),
            header: text.slice(start, lineStart(text, base + offsetOf(rows[0]))),
            align: node.align ?? null,
            head: piece([head]),
            pages: added,
          },
    rest,
    elements: inspect(finished).elements,
  };
}

/** Number of finished items. An item is finished once the first line of the next item is complete. */
function finishedItems(node: List, text: string, base: number): number {
  for (let index = node.children.length - 1; index > 0; index--) {
    if (text.indexOf("\n", base + offsetOf(node.children[index])) >= 0) return index;
  }
  return 0;
}

/** The block of the finished items or rows, without the tail. */
export function blockOfFinished(finishedChildren: FinishedChildren): MarkdownBlock {
  switch (finishedChildren.kind) {
    case "list": {
      const { ordered, first, loose, tasks, pages } = finishedChildren;
      return { kind: "list", ordered, start: first, loose, tasks, pages };
    }
    case "table": {
      const { head, align, pages } = finishedChildren;
      return { kind: "table", head, align, pages };
    }
    default:
      return finishedChildren satisfies never;
  }
}

/** The block of the finished items or rows together with `node` from the tail. `undefined`: `node` is not of the same kind. */
export function blockWith(
  { paginate }: BlockParser,
  finishedChildren: FinishedChildren,
  node: RootContent,
): MarkdownBlock | undefined {
  const block = blockOfFinished(finishedChildren);
  if (block.kind === "list" && node.type === "list") {
    return {
      ...block,
      loose: block.loose || isLoose(node),
      tasks: block.tasks || hasTasks(node.children),
      pages: [...block.pages, ...paginate(node.children)],
    };
  }
  if (block.kind === "table" && node.type === "table")
    return { ...block, pages: [...block.pages, ...paginate(node.children.slice(1))] };
  return undefined;
}
