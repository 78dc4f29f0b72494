import type { Node, RootContent } from "mdast";
import { t } from "../text/text.ts";
import { type MarkdownBlock, type MarkdownDocument, numberFootnotes } from "./document.ts";
import {
  blockOfFinished,
  blockWith,
  type FinishedChildren,
  type FinishedItems,
  moveFinished,
} from "./finished-children.ts";
import { createPages, type ParsedBlock } from "./pages.ts";
import { createBlockParser } from "./parser.ts";
import { createReferences, type SavedReferences } from "./references.ts";
import {
  codeLine,
  effortOf,
  FENCE,
  fenceOf,
  findRisk,
  labelsIn,
  lineStart,
  NONE,
  type OpenFence,
  plainEnd,
  REPARSE_THRESHOLD,
  type Risk,
} from "./source.ts";
import { inspect, offsetOf } from "./tree.ts";
import { createMarkdownWindow, type TextGrowth } from "./window.ts";

/** Number of elements after which the rest of a text is shown as plain text. */
const MAX_ELEMENTS = 12_000;
/** Characters per parse. A long text is read in steps, as if it were growing. */
const STEP = 4_096;
/** Characters per parse of a short read, and the limits after which it ends: added elements, and added or parsed characters. */
const SHORT_STEP = 1_024;
const SHORT_ELEMENTS = 500;
const SHORT = 32 * 1024;
/** The key of a block that was parsed with outdated definitions. */
const STALE = "stale";

interface Checkpoint {
  finishedCount: number;
  tailStart: number;
  fence: OpenFence | undefined;
  finishedChildren: FinishedChildren | undefined;
  open: ParsedBlock[];
  lastTail: string;
  references: SavedReferences;
  finishedElements: number;
  hasPlainReason: boolean;
}

interface MarkdownStream {
  /**
   * Reads the text so far. If it continues the text of the last read, only its tail is parsed. `complete`: the text has ended,
   * so nothing is deferred. `short`: reads only a portion of a long addition, because rendering takes much longer than parsing;
   * `isPartlyRead` of the result tells whether more is left.
   */
  read(text: string, complete: boolean, short?: boolean, growth?: TextGrowth): MarkdownDocument;
  /** Lifts the limit `first`: from the next read on, nothing is omitted. */
  readAll(): void;
}

/**
 * Parses a growing Markdown text block by block. A finished block is parsed once and keeps its identity. Text after `first`
 * elements is omitted until `readAll` is called. Text after `MAX_ELEMENTS` stays plain, which bounds the number of elements.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the state of a stream; its functions are short.
export function createMarkdownStream(first = MAX_ELEMENTS): MarkdownStream {
  const references = createReferences();
  const parser = createBlockParser(references);
  const { parse, blockOf, paginate } = parser;
  const { learn, keyFor } = references;
  const source = createMarkdownWindow();
  let budget = first;
  /** The part of the window's text that has been read so far. Offsets are relative to its start. */
  let text = "";
  let finishedBlocks: ParsedBlock[] = [];
  const pages = createPages();
  let tailStart = 0;
  let fence: OpenFence | undefined;
  let finishedChildren: FinishedChildren | undefined;
  let open: ParsedBlock[] = [];
  let lastTail = "";
  let signature = "";
  let refreshed = 0;
  /** Text length at which blocks that refer to new definitions are parsed again. */
  let reparse_at = 0;
  let result: MarkdownDocument = {
    pages: [],
    footnoteCalls: [],
    footnotes: [],
    definitions: [],
    isTruncated: false,
    isPartlyRead: false,
  };
  let isComplete = false;
  /** Number of definitions when the current read began. */
  let knownDefinitions = 0;
  /** The state before a text was read as complete, to continue from if the text grows after all. */
  let beforeEnd: Checkpoint | undefined;
  /** Number of elements of the finished blocks. */
  let finishedElements = 0;
  /** Whether the first plain block beyond the limit was created, which contains the reason. */
  let hasPlainReason = false;
  /** Total number of characters that were parsed before the current read. */
  let parsedBefore = 0;

  const save = (): Checkpoint => ({
    finishedCount: finishedBlocks.length,
    tailStart,
    fence,
    finishedChildren,
    open,
    lastTail,
    references: references.save(),
    finishedElements,
    hasPlainReason,
  });

  const restore = (to: Checkpoint): void => {
    keepFirst(to.finishedCount);
    ({ tailStart, fence, finishedChildren, open, lastTail, finishedElements, hasPlainReason } = to);
    references.restore(to.references);
  };

  /** Removes finished blocks after the first `count`. */
  const keepFirst = (count: number): void => {
    finishedBlocks.length = count;
    pages.changeFrom(count);
    refreshed = Math.min(refreshed, count);
  };

  /** Drops the source of finished blocks from the window. */
  const dropFinishedSource = (): void => {
    const done = fence ? fence.scanned : tailStart;
    source.dropBefore(done);
    text = text.slice(done);
    tailStart = 0;
    if (fence) fence.scanned = 0;
  };

  const reset = (): void => {
    text = "";
    finishedBlocks = [];
    pages.changeFrom(0);
    tailStart = 0;
    fence = undefined;
    finishedChildren = undefined;
    open = [];
    lastTail = "";
    references.clear();
    signature = "";
    refreshed = 0;
    reparse_at = 0;
    finishedElements = 0;
    hasPlainReason = false;
  };

  /**
   * Parses blocks again if their references were defined, changed or removed since. After this has been expensive, it is not
   * repeated until the text has grown by an eighth of what was parsed, because definitions arrive one by one. `length`: length of
   * the text.
   */
  const refresh = (length: number): void => {
    const now = references.signature();
    const unchanged = now === signature;
    if (!unchanged && !isComplete && length < reparse_at) return;
    const from = unchanged ? refreshed : 0;
    signature = now;
    refreshed = finishedBlocks.length;
    const parsed_before = parser.parsed;
    for (const [offset, entry] of finishedBlocks.slice(from).entries()) {
      const key = keyFor(entry.labels);
      if (key === entry.key) continue;
      finishedBlocks[from + offset] = reread(entry, key);
      pages.changeFrom(from + offset);
    }
    if (finishedChildren?.kind === "list") {
      if (!unchanged) rebuildItems(finishedChildren);
      if (!unchanged || references.size > knownDefinitions) rebuildOpen(finishedChildren);
    }
    const reparsed = parser.parsed - parsed_before;
    if (reparsed > REPARSE_THRESHOLD) reparse_at = length + reparsed / 8;
  };

  /** Parses a block again, together with the footnotes that it defines. */
  const reread = (entry: ParsedBlock, key: string): ParsedBlock => {
    const { nodes } = parse(entry.raw, entry.labels);
    const before = inspect(definingNodes(entry.block)).footnotes;
    const now = inspect(nodes).footnotes;
    for (const [index, footnote] of before.entries()) {
      const again = now[index];
      if (again) references.replace(footnote, again);
    }
    return { ...entry, key, block: blockOf(nodes, entry.raw) };
  };

  /** Parses the finished items of a list again, because a later item may define what an earlier one refers to. */
  const rebuildItems = (state: FinishedItems): void => {
    const labels = labelsIn(state.raw);
    if (labels.size === 0) return;
    const [node] = parse(state.raw, labels).nodes;
    if (node?.type === "list") state.pages = paginate(node.children);
    state.knownDefinitions = references.size;
  };

  /** Builds the block of a growing list again, once the definitions in its items are known. */
  const rebuildOpen = (state: FinishedItems): void => {
    const [first, ...others] = open;
    const tail = text.slice(tailStart);
    const labels = labelsIn(tail);
    if (first?.block.kind !== "list" || (labels.size === 0 && first.block.pages[0] === state.pages[0]))
      return;
    const [node] = parse(tail, labels).nodes;
    if (node) open = [{ ...first, block: blockWithTail(state, node, tail) }, ...others];
  };

  const readFence = (state: OpenFence, complete: boolean): boolean => {
    for (;;) {
      const end = text.indexOf("\n", state.scanned);
      if (end < 0 && !complete) break;
      const line = text.slice(state.scanned, end < 0 ? text.length : end);
      if (state.closer.test(line)) {
        finishedBlocks.push({ block: codeBlock(state, "", false), raw: "", labels: NONE, key: "" });
        tailStart = end < 0 ? text.length : end + 1;
        fence = undefined;
        return true;
      }
      if (end < 0) break;
      state.code += `${codeLine(line, state.indent)}\n`;
      state.scanned = end + 1;
    }
    const partial = text.slice(state.scanned);
    const shown = !complete && /^ {0,3}[`~]*\s*$/.test(partial) ? "" : codeLine(partial, state.indent);
    open = [{ block: codeBlock(state, shown, !complete), raw: "", labels: NONE, key: "" }];
    return false;
  };

  /** Parses the tail. `true`: a block was finished and the rest of the tail is still to be parsed. */
  const readTail = (complete: boolean): boolean => {
    if (fence) return readFence(fence, complete);
    if (finishedElements > budget) return readPlain();
    const tail = text.slice(tailStart);
    if (!/\S/.test(tail)) {
      open = [];
      return false;
    }
    const risk = findRisk(tail);
    if (risk) return readRisky(tail, risk, complete);
    const isDeferrable = !complete && tail.length > REPARSE_THRESHOLD && tail.startsWith(lastTail);
    if (isDeferrable && tail.length - lastTail.length < lastTail.length / 8) {
      const rest = tail.slice(lastTail.length);
      open = open.filter((entry) => entry.block.kind !== "plain" || entry.block.reason !== undefined);
      if (rest) open.push({ block: { kind: "plain", raw: rest }, raw: rest, labels: NONE, key: "" });
      return false;
    }
    lastTail = tail;
    return readNodes(tail, false);
  };

  /** Handles text beyond the limit: it is omitted until the rest is requested, then it becomes plain text. */
  const readPlain = (): boolean => {
    const list = finishedChildren && finishedChildrenBlock(finishedChildren);
    if (budget < MAX_ELEMENTS) {
      open = list ? [list] : [];
      return false;
    }
    if (list) finishedBlocks.push(list);
    finishedChildren = undefined;
    const plain = (raw: string): ParsedBlock => plainBlock(raw, hasPlainReason ? undefined : t.markdown.late);
    const cut = plainEnd(text, tailStart);
    if (cut < text.length) {
      finishedBlocks.push(plain(text.slice(tailStart, cut)));
      hasPlainReason = true;
      tailStart = cut;
      return true;
    }
    open = tailStart < text.length ? [plain(text.slice(tailStart))] : [];
    return false;
  };

  const finishedChildrenBlock = (state: FinishedChildren): ParsedBlock => {
    const labels = labelsIn(state.raw);
    return { block: blockOfFinished(state), raw: state.raw, labels, key: keyFor(labels) };
  };

  const readNodes = (tail: string, all: boolean): boolean => {
    const header = finishedChildren?.kind === "table" ? finishedChildren.header : "";
    const labels = labelsIn(tail);
    const { nodes, shift } = parse(header + tail, labels);
    if (shift < 0) {
      open = [plainBlock(tail, t.markdown.gaveUp)];
      return false;
    }
    const base = tailStart - shift - header.length;
    const tailEnd = tailStart + tail.length;
    const starts = nodes.map((node) =>
      Math.max(tailStart, text.lastIndexOf("\n", base + offsetOf(node) - 1) + 1),
    );
    const last = nodes.at(-1);
    const lastStart = starts.at(-1) ?? tailStart;
    const lastRaw = text.slice(lastStart, tailEnd);
    const openFence = last?.type === "code" ? fenceOf(last.lang ?? "", lastRaw) : undefined;

    const finishedCount = openFence
      ? nodes.length - 1
      : all
        ? nodes.length
        : countFinished(text, nodes, starts);

    const before = open;
    const parsedBlocks: ParsedBlock[] = [];
    for (const [index, node] of nodes.entries()) {
      const start = starts[index] ?? tailStart;
      const raw = text.slice(start, starts[index + 1] ?? tailEnd);
      if (index === nodes.length - 1 && openFence) break;
      if (index === 0 && finishedChildren) {
        // References in a growing list are resolved once its items are finished: doing it now would cost time for its whole
        // length.
        const listed = isComplete ? finishedChildren.raw + text.slice(tailStart, start) + raw : raw;
        const ownLabels = isComplete ? labelsIn(listed) : NONE;
        parsedBlocks.push({
          block: blockWithTail(finishedChildren, node, raw),
          raw: listed,
          labels: ownLabels,
          key: "",
        });
        continue;
      }
      const old = before[index];
      const ownLabels = labelsIn(raw);
      const key = keyFor(ownLabels);
      parsedBlocks.push(
        old && old.raw === raw && old.key === key && !finishedChildren
          ? old
          : { block: blockOf([node], raw), raw, labels: ownLabels, key },
      );
    }
    if (finishedCount > 0) {
      for (const [index, entry] of parsedBlocks.slice(0, finishedCount).entries()) {
        if (index > 0 || !finishedChildren) {
          finishedBlocks.push(entry);
          continue;
        }
        const raw = isComplete ? entry.raw : finishedChildren.raw + entry.raw;
        const ownLabels = labelsIn(raw);
        const isStale =
          finishedChildren.kind === "list" &&
          finishedChildren.knownDefinitions !== references.size &&
          ownLabels.size > 0;
        finishedBlocks.push({ ...entry, raw, labels: ownLabels, key: isStale ? STALE : keyFor(ownLabels) });
      }
      const facts = inspect(nodes.slice(0, finishedCount));
      learn(facts);
      finishedChildren = undefined;
      const end = finishedCount < nodes.length ? (starts[finishedCount] ?? tailStart) : tailEnd;
      finishedElements += facts.elements + effortOf(text.slice(tailStart, end));
      tailStart = end;
    }
    open = parsedBlocks.slice(finishedCount);
    lastTail = text.slice(tailStart, tailEnd);
    if (openFence) {
      fence = { ...openFence, scanned: lastStart + openFence.scanned };
      return true;
    }
    const growing = nodes.length - finishedCount === 1 ? last : undefined;
    const moved =
      growing &&
      moveFinished(parser, finishedChildren, growing, { text, tail: tailStart, start: lastStart, base });
    if (moved) {
      finishedElements += moved.elements + effortOf(text.slice(tailStart, moved.rest));
      finishedChildren = moved.finishedChildren;
      tailStart = moved.rest;
      lastTail = "";
    }
    return false;
  };

  /** The block of a growing list or table: its finished items or rows together with the tail. */
  const blockWithTail = (state: FinishedChildren, node: RootContent, raw: string): MarkdownBlock => {
    const block = blockWith(parser, state, node);
    if (block) return block;
    // Should not happen, because the tail begins with an item or a row. Parse everything again rather than lose text.
    const whole = state.raw + raw;
    return blockOf(parse(whole, NONE).nodes, whole);
  };

  /** Parses the text before a passage that is too expensive to parse, then shows that passage as plain text. */
  const readRisky = (tail: string, risk: Risk, complete: boolean): boolean => {
    const before = open;
    const start = tailStart + risk.start;
    if (risk.start > 0) {
      readNodes(tail.slice(0, risk.start), true);
      if (fence) return true;
      finishedChildren = undefined;
    }
    const opener = tail.slice(risk.start, risk.fence);
    const [code] = parse(opener, NONE).nodes;
    const opened = code?.type === "code" ? fenceOf(code.lang ?? "", opener) : undefined;
    if (opened) {
      // The fence need not be at the start of the tail, because blank lines before it create no nodes.
      fence = { ...opened, scanned: start + opened.scanned };
      return true;
    }
    finishedChildren = undefined;
    const here = text.slice(tailStart);
    const blank = /\n[ \t]*\n/.exec(here.slice(Math.max(0, risk.end - risk.start - 1)));
    const end = blank ? Math.max(0, risk.end - risk.start - 1) + blank.index + blank[0].length : here.length;
    const raw = here.slice(0, end);
    const entries = plainBlocks(raw, risk.reason, before);
    if (blank || complete) {
      finishedBlocks.push(...entries);
      tailStart += end;
      open = [];
      return true;
    }
    open = entries;
    return false;
  };

  const isCut = (): boolean => finishedElements > budget && fence === undefined && tailStart < text.length;

  const build = (isPartlyRead: boolean): MarkdownDocument => ({
    ...numberFootnotes(
      pages.build(finishedBlocks, open, result.pages),
      references.footnotes,
      references.definitions,
    ),
    isTruncated: isCut(),
    isPartlyRead,
  });

  return {
    read(given, complete, short = false, growth) {
      if (!source.take(given, growth)) reset();
      else if (source.text.length === text.length && isComplete === complete) return result;
      else if (isComplete) {
        if (beforeEnd) restore(beforeEnd);
        else {
          source.restart();
          reset();
        }
      }
      isComplete = false;
      beforeEnd = undefined;
      dropFinishedSource();
      const next = source.text;
      parsedBefore = parser.parsed;
      knownDefinitions = references.size;
      const max_elements = finishedElements + SHORT_ELEMENTS;
      const max_length = text.length + SHORT;
      const isEnough = () =>
        short &&
        (finishedElements >= max_elements ||
          parser.parsed - parsedBefore >= SHORT ||
          text.length >= max_length);
      // A long tail is scanned again in each step, so the steps grow with it.
      const step = () => Math.min(SHORT, Math.max(short ? SHORT_STEP : STEP, (text.length - tailStart) / 8));
      let to = text.length + step();
      while (to < next.length && !isEnough()) {
        text = next.slice(0, to);
        while (readTail(false));
        to = text.length + step();
      }
      const isPartlyRead = to < next.length;
      if (!isPartlyRead) {
        text = next;
        if (complete && next.length > STEP) {
          while (readTail(false));
          beforeEnd = save();
        }
        isComplete = complete;
        while (readTail(complete));
      }
      // Incomplete definitions at the end count too, until the next read parses them again.
      const finished_references = references.save();
      // The definitions of finished items were added when these were finished.
      const learnedPages = Math.max(0, (finishedChildren?.pages.length ?? 0) - 1);
      for (const [index, entry] of open.entries())
        learn(inspect(definingNodes(entry.block, index === 0 ? learnedPages : 0)));
      refresh(given.length);
      open = open.map((entry) => rereadOpen(entry));
      result = build(isPartlyRead);
      references.forgetSince(finished_references);
      return result;
    },
    readAll() {
      const wasCut = isCut();
      budget = MAX_ELEMENTS;
      if (!wasCut) return;
      isComplete = false;
      // Read the rest in steps, as if it were arriving now.
      text = text.slice(0, tailStart);
      open = [];
      lastTail = "";
    },
  };

  function rereadOpen(entry: ParsedBlock): ParsedBlock {
    const key = keyFor(entry.labels);
    return key === entry.key ? entry : reread(entry, key);
  }
}

/** The nodes of a block that may contain definitions, which rows of a table cannot. `from`: index of the first page of items. */
function definingNodes(block: MarkdownBlock, from = 0): readonly Node[] {
  if (block.kind === "nodes") return block.piece.nodes;
  return block.kind === "list" ? block.pages.slice(from).flatMap(({ nodes }) => nodes) : [];
}

function plainBlock(raw: string, reason: string | undefined): ParsedBlock {
  return {
    block: { kind: "plain", raw, ...(reason === undefined ? {} : { reason }) },
    raw,
    labels: NONE,
    key: "",
  };
}

/**
 * Splits text into plain blocks, of which the first contains the reason `why`. Unchanged blocks of `before` keep their identity.
 */
function plainBlocks(raw: string, why: string, before: readonly ParsedBlock[]): ParsedBlock[] {
  const entries: ParsedBlock[] = [];
  for (let at = 0; at < raw.length; ) {
    const next = plainEnd(raw, at);
    const piece = raw.slice(at, next);
    const reason = at === 0 ? why : undefined;
    const old = before[entries.length];
    const same = old?.raw === piece && old.block.kind === "plain" && old.block.reason === reason;
    entries.push(same ? old : plainBlock(piece, reason));
    at = next;
  }
  return entries;
}

function codeBlock(state: OpenFence, partial: string, isOpen: boolean): MarkdownBlock {
  const code = state.code + partial;
  return {
    kind: "code",
    language: state.language,
    code: code.endsWith("\n") ? code.slice(0, -1) : code,
    open: isOpen,
  };
}

/**
 * A list item that cannot interrupt a paragraph. Below indented code the parser does not let it begin a list either, regardless
 * of blank lines between them. Parsed separately from the code, it would begin one.
 */
const NON_INTERRUPTING_ITEM = /^ {0,3}(?:(?:[-+*]|\d{1,9}[.)])[ \t]*(?:\n|$)|(?!1[.)])\d{1,9}[.)])/;

/** Number of leading nodes that can no longer change. `starts`: start of each node's first line. */
function countFinished(text: string, nodes: readonly RootContent[], starts: readonly number[]): number {
  for (let index = nodes.length - 1; index > 0; index--) {
    const start = starts[index] ?? 0;
    const before = starts[index - 1] ?? 0;
    // For a heading below definitions, the parser reports the start of the definitions.
    const isApart = start > before;
    const lineIsComplete = text.indexOf("\n", start) >= 0;
    if (isApart && lineIsComplete && isBoundary(text, nodes[index - 1], before, start)) return index;
  }
  return 0;
}

/** Whether the text from `start` on can no longer change the block before it. */
function isBoundary(
  text: string,
  before: RootContent | undefined,
  startBefore: number,
  start: number,
): boolean {
  if (before?.type === "heading" || before?.type === "thematicBreak") return true;
  if (
    before?.type === "code" &&
    NON_INTERRUPTING_ITEM.test(text.slice(start)) &&
    !FENCE.test(text.slice(startBefore))
  )
    return false;
  const previousLine = text.slice(lineStart(text, start - 1), start - 1);
  return !/\S/.test(previousLine);
}
