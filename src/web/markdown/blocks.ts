import type { Node, RootContent } from "mdast";
import { t } from "../text/text.ts";
import { blockSoFar, blockWith, type Carried, type CarriedList, carryOn } from "./carried.ts";
import { type MarkdownBlock, type MarkdownDocument, numberFootnotes } from "./document.ts";
import { createPages, type Kept } from "./pages.ts";
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
  PATIENT,
  plainEnd,
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
  kept: number;
  tailStart: number;
  fence: OpenFence | undefined;
  carried: Carried | undefined;
  open: Kept[];
  lastTail: string;
  references: SavedReferences;
  spent: number;
  hasPlainReason: boolean;
}

interface MarkdownStream {
  /**
   * Reads the text so far. If it continues the text of the last read, only its tail is parsed. `complete`: the text has ended,
   * so nothing is deferred. `short`: reads only a portion of a long addition, because rendering takes much longer than parsing;
   * `behind` of the result tells whether more is left.
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
  let kept: Kept[] = [];
  const pages = createPages();
  let tailStart = 0;
  let fence: OpenFence | undefined;
  let carried: Carried | undefined;
  let open: Kept[] = [];
  let lastTail = "";
  let signature = "";
  let refreshed = 0;
  /** Text length at which blocks that refer to new definitions are parsed again. */
  let reparse_at = 0;
  let result: MarkdownDocument = {
    pages: [],
    calls: [],
    footnotes: [],
    definitions: [],
    cut: false,
    behind: false,
  };
  let finished = false;
  /** Number of definitions when the current read began. */
  let known = 0;
  /** The state before a text was read as complete, to continue from if the text grows after all. */
  let beforeEnd: Checkpoint | undefined;
  /** Number of elements of the finished blocks. */
  let spent = 0;
  /** Whether the first plain block beyond the limit was created, which contains the reason. */
  let hasPlainReason = false;
  /** Total number of characters that were parsed before the current read. */
  let parsedBefore = 0;

  const save = (): Checkpoint => ({
    kept: kept.length,
    tailStart,
    fence,
    carried,
    open,
    lastTail,
    references: references.save(),
    spent,
    hasPlainReason,
  });

  const restore = (to: Checkpoint): void => {
    keep(to.kept);
    ({ tailStart, fence, carried, open, lastTail, spent, hasPlainReason } = to);
    references.restore(to.references);
  };

  /** Removes finished blocks after the first `count`. */
  const keep = (count: number): void => {
    kept.length = count;
    pages.changeFrom(count);
    refreshed = Math.min(refreshed, count);
  };

  /** Drops the source of finished blocks from the window. */
  const leaveFinished = (): void => {
    const done = fence ? fence.scanned : tailStart;
    source.leave(done);
    text = text.slice(done);
    tailStart = 0;
    if (fence) fence.scanned = 0;
  };

  const reset = (): void => {
    text = "";
    kept = [];
    pages.changeFrom(0);
    tailStart = 0;
    fence = undefined;
    carried = undefined;
    open = [];
    lastTail = "";
    references.clear();
    signature = "";
    refreshed = 0;
    reparse_at = 0;
    spent = 0;
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
    if (!unchanged && !finished && length < reparse_at) return;
    const from = unchanged ? refreshed : 0;
    signature = now;
    refreshed = kept.length;
    const given = parser.parsed;
    for (const [offset, entry] of kept.slice(from).entries()) {
      const key = keyFor(entry.labels);
      if (key === entry.key) continue;
      kept[from + offset] = reread(entry, key);
      pages.changeFrom(from + offset);
    }
    if (carried?.kind === "list") {
      if (!unchanged) rebuildItems(carried);
      if (!unchanged || references.size > known) rebuildOpen(carried);
    }
    const again = parser.parsed - given;
    if (again > PATIENT) reparse_at = length + again / 8;
  };

  /** Parses a block again, together with the footnotes that it defines. */
  const reread = (entry: Kept, key: string): Kept => {
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
  const rebuildItems = (state: CarriedList): void => {
    const labels = labelsIn(state.raw);
    if (labels.size === 0) return;
    const [node] = parse(state.raw, labels).nodes;
    if (node?.type === "list") state.pages = paginate(node.children);
    state.known = references.size;
  };

  /** Builds the block of a growing list again, once the definitions in its items are known. */
  const rebuildOpen = (state: CarriedList): void => {
    const [first, ...others] = open;
    const tail = text.slice(tailStart);
    const labels = labelsIn(tail);
    if (first?.block.kind !== "list" || (labels.size === 0 && first.block.pages[0] === state.pages[0]))
      return;
    const [node] = parse(tail, labels).nodes;
    if (node) open = [{ ...first, block: continueCarried(state, node, tail) }, ...others];
  };

  const readFence = (state: OpenFence, complete: boolean): boolean => {
    for (;;) {
      const end = text.indexOf("\n", state.scanned);
      if (end < 0 && !complete) break;
      const line = text.slice(state.scanned, end < 0 ? text.length : end);
      if (state.closer.test(line)) {
        kept.push({ block: codeBlock(state, "", false), raw: "", labels: NONE, key: "" });
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
    if (spent > budget) return readPlain();
    const tail = text.slice(tailStart);
    if (!/\S/.test(tail)) {
      open = [];
      return false;
    }
    const risk = findRisk(tail);
    if (risk) return readRisky(tail, risk, complete);
    const patient = !complete && tail.length > PATIENT && tail.startsWith(lastTail);
    if (patient && tail.length - lastTail.length < lastTail.length / 8) {
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
    const list = carried && carriedSoFar(carried);
    if (budget < MAX_ELEMENTS) {
      open = list ? [list] : [];
      return false;
    }
    if (list) kept.push(list);
    carried = undefined;
    const plain = (raw: string): Kept => plainBlock(raw, hasPlainReason ? undefined : t.markdown.late);
    const cut = plainEnd(text, tailStart);
    if (cut < text.length) {
      kept.push(plain(text.slice(tailStart, cut)));
      hasPlainReason = true;
      tailStart = cut;
      return true;
    }
    open = tailStart < text.length ? [plain(text.slice(tailStart))] : [];
    return false;
  };

  const carriedSoFar = (state: Carried): Kept => {
    const labels = labelsIn(state.raw);
    return { block: blockSoFar(state), raw: state.raw, labels, key: keyFor(labels) };
  };

  const readNodes = (tail: string, all: boolean): boolean => {
    const header = carried?.kind === "table" ? carried.header : "";
    const labels = labelsIn(tail);
    const { nodes, shift } = parse(header + tail, labels);
    if (shift < 0) {
      open = [
        {
          block: { kind: "plain", raw: tail, reason: t.markdown.gaveUp },
          raw: tail,
          labels: NONE,
          key: "",
        },
      ];
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
    const fresh: Kept[] = [];
    for (const [index, node] of nodes.entries()) {
      const start = starts[index] ?? tailStart;
      const raw = text.slice(start, starts[index + 1] ?? tailEnd);
      if (index === nodes.length - 1 && openFence) break;
      if (index === 0 && carried) {
        // References in a growing list are resolved once its items are finished: doing it now would cost time for its whole
        // length.
        const listed = finished ? carried.raw + text.slice(tailStart, start) + raw : raw;
        const ownLabels = finished ? labelsIn(listed) : NONE;
        fresh.push({ block: continueCarried(carried, node, raw), raw: listed, labels: ownLabels, key: "" });
        continue;
      }
      const old = before[index];
      const ownLabels = labelsIn(raw);
      const key = keyFor(ownLabels);
      fresh.push(
        old && old.raw === raw && old.key === key && !carried
          ? old
          : { block: blockOf([node], raw), raw, labels: ownLabels, key },
      );
    }
    if (finishedCount > 0) {
      for (const [index, entry] of fresh.slice(0, finishedCount).entries()) {
        if (index > 0 || !carried) {
          kept.push(entry);
          continue;
        }
        const raw = finished ? entry.raw : carried.raw + entry.raw;
        const ownLabels = labelsIn(raw);
        const isStale = carried.kind === "list" && carried.known !== references.size && ownLabels.size > 0;
        kept.push({ ...entry, raw, labels: ownLabels, key: isStale ? STALE : keyFor(ownLabels) });
      }
      const facts = inspect(nodes.slice(0, finishedCount));
      learn(facts);
      carried = undefined;
      const end = finishedCount < nodes.length ? (starts[finishedCount] ?? tailStart) : tailEnd;
      spent += facts.elements + effortOf(text.slice(tailStart, end));
      tailStart = end;
    }
    open = fresh.slice(finishedCount);
    lastTail = text.slice(tailStart, tailEnd);
    if (openFence) {
      fence = { ...openFence, scanned: lastStart + openFence.scanned };
      return true;
    }
    const growing = nodes.length - finishedCount === 1 ? last : undefined;
    const taken =
      growing && carryOn(parser, carried, growing, { text, tail: tailStart, start: lastStart, base });
    if (taken) {
      spent += taken.elements + effortOf(text.slice(tailStart, taken.rest));
      carried = taken.carried;
      tailStart = taken.rest;
      lastTail = "";
    }
    return false;
  };

  /** The block of a growing list or table: its finished items or rows together with the tail. */
  const continueCarried = (state: Carried, node: RootContent, raw: string): MarkdownBlock => {
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
      carried = undefined;
    }
    const opener = tail.slice(risk.start, risk.fence);
    const [code] = parse(opener, NONE).nodes;
    const opened = code?.type === "code" ? fenceOf(code.lang ?? "", opener) : undefined;
    if (opened) {
      // The fence need not be at the start of the tail, because blank lines before it create no nodes.
      fence = { ...opened, scanned: start + opened.scanned };
      return true;
    }
    carried = undefined;
    const here = text.slice(tailStart);
    const blank = /\n[ \t]*\n/.exec(here.slice(Math.max(0, risk.end - risk.start - 1)));
    const end = blank ? Math.max(0, risk.end - risk.start - 1) + blank.index + blank[0].length : here.length;
    const raw = here.slice(0, end);
    const entries = plainBlocks(raw, risk.reason, before);
    if (blank || complete) {
      kept.push(...entries);
      tailStart += end;
      open = [];
      return true;
    }
    open = entries;
    return false;
  };

  const isCut = (): boolean => spent > budget && fence === undefined && tailStart < text.length;

  const build = (behind: boolean): MarkdownDocument => ({
    ...numberFootnotes(pages.build(kept, open, result.pages), references.footnotes, references.definitions),
    cut: isCut(),
    behind,
  });

  return {
    read(given, complete, short = false, growth) {
      if (!source.take(given, growth)) reset();
      else if (source.text.length === text.length && finished === complete) return result;
      else if (finished) {
        if (beforeEnd) restore(beforeEnd);
        else {
          source.restart();
          reset();
        }
      }
      finished = false;
      beforeEnd = undefined;
      leaveFinished();
      const next = source.text;
      parsedBefore = parser.parsed;
      known = references.size;
      const most = spent + SHORT_ELEMENTS;
      const furthest = text.length + SHORT;
      const isEnough = () =>
        short && (spent >= most || parser.parsed - parsedBefore >= SHORT || text.length >= furthest);
      // A long tail is scanned again in each step, so the steps grow with it.
      const step = () => Math.min(SHORT, Math.max(short ? SHORT_STEP : STEP, (text.length - tailStart) / 8));
      let to = text.length + step();
      while (to < next.length && !isEnough()) {
        text = next.slice(0, to);
        while (readTail(false));
        to = text.length + step();
      }
      const behind = to < next.length;
      if (!behind) {
        text = next;
        if (complete && next.length > STEP) {
          while (readTail(false));
          beforeEnd = save();
        }
        finished = complete;
        while (readTail(complete));
      }
      // Incomplete definitions at the end count too, until the next read parses them again.
      const finished_references = references.save();
      // The definitions of carried items were added when these were finished.
      const told = Math.max(0, (carried?.pages.length ?? 0) - 1);
      for (const [index, entry] of open.entries())
        learn(inspect(definingNodes(entry.block, index === 0 ? told : 0)));
      refresh(given.length);
      open = open.map((entry) => rereadOpen(entry));
      result = build(behind);
      references.forgetSince(finished_references);
      return result;
    },
    readAll() {
      const wasCut = isCut();
      budget = MAX_ELEMENTS;
      if (!wasCut) return;
      finished = false;
      // Read the rest in steps, as if it were arriving now.
      text = text.slice(0, tailStart);
      open = [];
      lastTail = "";
    },
  };

  function rereadOpen(entry: Kept): Kept {
    const key = keyFor(entry.labels);
    return key === entry.key ? entry : reread(entry, key);
  }
}

/** The nodes of a block that may contain definitions, which rows of a table cannot. `from`: index of the first page of items. */
function definingNodes(block: MarkdownBlock, from = 0): readonly Node[] {
  if (block.kind === "nodes") return block.piece.nodes;
  return block.kind === "list" ? block.pages.slice(from).flatMap(({ nodes }) => nodes) : [];
}

function plainBlock(raw: string, reason: string | undefined): Kept {
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
function plainBlocks(raw: string, why: string, before: readonly Kept[]): Kept[] {
  const entries: Kept[] = [];
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
const SHY_ITEM = /^ {0,3}(?:(?:[-+*]|\d{1,9}[.)])[ \t]*(?:\n|$)|(?!1[.)])\d{1,9}[.)])/;

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
  if (before?.type === "code" && SHY_ITEM.test(text.slice(start)) && !FENCE.test(text.slice(startBefore)))
    return false;
  const previousLine = text.slice(lineStart(text, start - 1), start - 1);
  return !/\S/.test(previousLine);
}
