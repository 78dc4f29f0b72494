import { isError, isRow } from "../../../model/parts/part-kinds.ts";
import type { RowSettings } from "../../../model/parts/quiet.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import { turnOfPart } from "../../../model/transcript/positions.ts";
import { changedPositions, sparseSequence } from "../../../model/transcript/sequence.ts";
import type { TranscriptPart, Turn } from "../../../model/transcript/transcript.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { continuesGroup } from "../../transcript/marker-groups.ts";
import { createRowHeights, evenRowHeights } from "../../virtual-list/row-heights.ts";

/** Space below a turn's last row, in pixels. */
export const TURN_GAP = 24;
/** Estimated heights of unmeasured rows, in pixels. */
const HEADING_ESTIMATE = 40;
const UNLOADED_ESTIMATE = 44;
const ROW_ESTIMATE = 28;

/** The visible rows of one turn. `top` of a row is relative to the turn, `top` of the turn to the transcript. */
export interface VisibleTurn {
  readonly turn: Turn;
  readonly top: number;
  readonly height: number;
  readonly rows: { index: number; top: number }[];
}

/** Merges the visible rows of two windows, without duplicates. */
export function joinTurns(one: readonly VisibleTurn[], other: readonly VisibleTurn[]): VisibleTurn[] {
  const turns = new Map(one.map((visible) => [visible.turn.index, visible]));
  for (const visible of other) {
    const known = turns.get(visible.turn.index)?.rows ?? [];
    const added = visible.rows.filter(({ index }) => !known.some((row) => row.index === index));
    const rows = [...known, ...added].sort((a, b) => a.index - b.index);
    turns.set(visible.turn.index, { ...visible, rows });
  }
  return [...turns.values()].sort((a, b) => a.turn.index - b.turn.index);
}

/** Which rows the user wants to see. */
export interface LayoutSettings extends RowSettings {
  /** Hides rows. Absent: no filter is set. */
  readonly filter?: RowFilter | undefined;
}
export interface RowFilter {
  /** Whether a part is hidden. `part`: `undefined` if it is not loaded. */
  hides(index: number, part: TranscriptPart | undefined): boolean;
  /** Positions of unloaded parts that may be hidden. */
  readonly hidden: Iterable<number>;
}

/**
 * The layout of a transcript: the position of each turn and row. The cost of lookups and updates hardly depends on their number.
 */
export interface Layout {
  readonly height: number;
  readonly parts: number;
  /** Lays out a transcript that may have changed anywhere. Measured heights are kept by position until measured again. */
  reset(transcript: Transcript, settings: LayoutSettings): void;
  /** Sets which empty parts have rows because they show live text, by id. Returns the positions of parts that this changes. */
  setLive(part_ids: ReadonlySet<string>, shown: Transcript): number[];
  /**
   * Updates the layout after parts were appended and those at `touched` changed. Returns the numbers of appended rows and errors.
   */
  update(transcript: Transcript, touched: readonly number[]): { rows: number; errors: number };
  /** Sets the measured height of a row. `false`: it already had this height. */
  measureRow(index: number, height: number): boolean;
  measureHeading(turn: number, height: number): boolean;
  /** Sets the height of content below the last part, in pixels. */
  measureTail(height: number): boolean;
  /** The top of the content below the last part. */
  readonly tailTop: number;
  headingHeight(turn: number): number;
  /** The top of a part's row or, if the part is its turn's heading, of the turn. */
  topOf(index: number): number;
  turnTop(turn: number): number;
  /** The part at an offset from the top. */
  at(offset: number): number;
  /** The index of the turn that contains a part. −1: there are no turns. */
  turnOf(index: number): number;
  /**
   * Whether the part has a row of its own. A turn's heading, a paired result, a hidden step and a marker inside a group of
   * markers have none.
   */
  isShown(index: number): boolean;
  /** The row that shows a part. For a marker in a group: the row of the group. */
  rowOf(index: number): number;
  visible(from: number, to: number): VisibleTurn[];
}

const lines = (text: string, width: number): number => Math.ceil(text.length / width);

/** Estimates the height of an unmeasured part, in pixels, from its kind and the length of its text. */
function estimateHeight(part: TranscriptPart): number {
  switch (part.type) {
    case "text":
      return 16 + 24 * Math.min(400, lines(part.text, 76) + part.text.split("\n", 200).length / 2);
    case "legacy":
      return 16 + 24 * Math.min(400, lines(part.content, 76));
    case "prompt":
      return 40;
    case "image":
      return 240;
    case "request":
      return part.outcome === undefined ? 160 : ROW_ESTIMATE;
    default:
      return ROW_ESTIMATE;
  }
}

/** A layout without parts, until `reset`. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the slots and the rows of a layout, which its short methods keep consistent
export function createLayout(): Layout {
  let transcript: Transcript | undefined;
  let settings: LayoutSettings = { showSteps: false };
  // One slot per part, and one after the last part for the headings of turns that have no parts yet. The height of a slot is the
  // height of its row, plus the heights of the headings directly above it.
  let slots = createRowHeights([0]);
  let count = 0;
  /** Rows that differ from the default of an unloaded part. `measured`: the height was measured on screen. */
  let rows = new Map<number, { height: number; shown: boolean; measured: boolean }>();
  let headings: number[] = [];
  let tail = 0;
  let live: ReadonlySet<string> = new Set();

  const turnAt = (turn: number): Turn | undefined => transcript?.turns.at(turn);
  const turnCount = (): number => transcript?.turns.length ?? 0;
  const turnOf = (index: number): number =>
    transcript === undefined ? -1 : turnOfPart(transcript.turns, index);
  /** The first turn with a heading in this slot, including turns without parts before it. */
  const firstHeadingIn = (turn: number): number => {
    const slot = turnAt(turn)?.first_part;
    let first = turn;
    while (first > 0 && turnAt(first - 1)?.first_part === slot) first -= 1;
    return first;
  };
  /** The height of a turn's heading and the gap above it. */
  const headingSpace = (turn: number): number =>
    (headings[turn] ?? HEADING_ESTIMATE) + (turn === 0 ? 0 : TURN_GAP);
  const headingSpaceIn = (slot: number): number => {
    let sum = 0;
    for (let turn = turnOf(slot); turn >= 0 && turnAt(turn)?.first_part === slot; turn -= 1)
      sum += headingSpace(turn);
    return sum;
  };
  const rowHeight = (index: number): number =>
    rows.get(index)?.height ?? (index < count ? UNLOADED_ESTIMATE : 0);
  const isShown = (index: number): boolean => index < count && rows.get(index)?.shown !== false;
  const updateSlot = (slot: number): void => {
    const height = rowHeight(slot) + headingSpaceIn(slot);
    if (slot < slots.length) slots.set(slot, height);
    else slots.append(height);
  };

  const partAt = (index: number): TranscriptPart | undefined => transcript?.parts.at(index);
  const isHeading = (index: number): boolean => turnAt(turnOf(index))?.prompt_index === index;
  /** With a filter there are no groups, because it may hide some of their markers. */
  const isInGroup = (index: number): boolean =>
    settings.filter === undefined &&
    continuesGroup(partAt, index, turnAt(turnOf(index))?.first_part ?? 0, settings);
  const hasRow = (index: number, part: TranscriptPart | undefined, heading: boolean): boolean =>
    !heading &&
    settings.filter?.hides(index, part) !== true &&
    (part === undefined || ((isRow(part, settings) || live.has(part.id)) && !isInGroup(index)));
  /** Updates the row of one part. Keeps a measured height as long as the part has a row. */
  const updateRow = (index: number): void => {
    const part = partAt(index);
    if (!hasRow(index, part, isHeading(index))) rows.set(index, { height: 0, shown: false, measured: false });
    else if (rows.get(index)?.measured === true) return;
    else if (part === undefined) rows.delete(index);
    else rows.set(index, { height: estimateHeight(part), shown: true, measured: false });
  };

  const turnTop = (turn: number): number => {
    const slot = turnAt(turn)?.first_part ?? 0;
    let top = slots.top(slot);
    for (let before = firstHeadingIn(turn); before < turn; before += 1) top += headingSpace(before);
    return top + (turn === 0 ? 0 : TURN_GAP);
  };
  const rowTop = (index: number): number => slots.top(index) + headingSpaceIn(index);

  return {
    get height() {
      return slots.total + TURN_GAP + tail;
    },
    get tailTop() {
      return slots.total;
    },
    get parts() {
      return count;
    },
    reset(next, shown) {
      transcript = next;
      settings = shown;
      count = next.parts.length;
      headings = headings.slice(0, next.turns.length);
      rows = new Map([...rows].filter(([index, row]) => row.measured && index < count));
      slots = evenRowHeights(count, UNLOADED_ESTIMATE);
      // In a long session, most parts are unloaded and have the default height: update only the others.
      const others = new Set(changedPositions(sparseSequence<TranscriptPart>(count), next.parts));
      for (const index of rows.keys()) others.add(index);
      for (const turn of next.turns) {
        if (turn === undefined) continue;
        others.add(turn.first_part);
        if (turn.prompt_index !== undefined) others.add(turn.prompt_index);
      }
      for (const index of shown.filter?.hidden ?? []) if (index < count) others.add(index);
      others.delete(count);
      for (const index of others) updateRow(index);
      for (const index of others) updateSlot(index);
      updateSlot(count);
    },
    setLive(part_ids, shown) {
      const before = live;
      live = part_ids;
      const changed = [...before, ...part_ids].filter((id) => before.has(id) !== part_ids.has(id));
      return changed.flatMap((id) => positionOf(shown, id) ?? []);
    },
    update(next, touched) {
      const before = count;
      const turnsBefore = turnCount();
      transcript = next;
      count = next.parts.length;
      let newRows = 0;
      let newErrors = 0;
      for (let index = before; index < count; index += 1) {
        updateRow(index);
        updateSlot(index);
        const part = next.parts.at(index);
        if (isShown(index)) newRows += 1;
        // An earlier call may fail through a new result, which has no row of its own.
        const failsCall =
          part?.type === "tool_result" && part.is_error && (part.call_index ?? before) < before;
        if (part !== undefined && (isError(part) || failsCall)) newErrors += 1;
      }
      for (const index of touched) {
        if (index >= before) continue;
        updateRow(index);
        updateSlot(index);
        // Whether the next row is in a group depends on this one.
        for (let next = index + 1; next < before; next += 1) {
          const part = partAt(next);
          updateRow(next);
          updateSlot(next);
          if (part === undefined || isRow(part, settings)) break;
        }
      }
      for (let turn = turnsBefore; turn < next.turns.length; turn += 1)
        updateSlot(Math.min(next.turns.at(turn)?.first_part ?? count, count));
      updateSlot(count);
      return { rows: newRows, errors: newErrors };
    },
    measureRow(index, height) {
      if (!isShown(index)) return false;
      const before = rowHeight(index);
      rows.set(index, { height, shown: true, measured: partAt(index) !== undefined });
      if (before === height) return false;
      updateSlot(index);
      return true;
    },
    measureHeading(turn, height) {
      if (turn >= turnCount() || headings[turn] === height) return false;
      headings[turn] = height;
      updateSlot(turnAt(turn)?.first_part ?? 0);
      return true;
    },
    measureTail(height) {
      if (tail === height) return false;
      tail = height;
      return true;
    },
    headingHeight: (turn) => headings[turn] ?? HEADING_ESTIMATE,
    topOf(index) {
      return isHeading(index) ? turnTop(turnOf(index)) : rowTop(index);
    },
    turnTop,
    at: (offset) => Math.max(0, Math.min(slots.at(offset), count - 1)),
    turnOf,
    isShown,
    rowOf(index) {
      let row = index;
      const first = turnAt(turnOf(index))?.first_part ?? 0;
      if (!isInGroup(index)) return index;
      while (row > first && !isShown(row)) row -= 1;
      return row;
    },
    visible(from, to) {
      const turns: VisibleTurn[] = [];
      if (transcript === undefined || turnCount() === 0) return turns;
      const first = Math.max(0, slots.at(Math.max(0, from)));
      // The heading of a turn without parts is in the slot of the next turn.
      for (let turn = firstHeadingIn(Math.max(0, turnOf(first))); turn < turnCount(); turn += 1) {
        const here = turnAt(turn);
        if (here === undefined) break;
        const top = turnTop(turn);
        if (top > to) break;
        const end =
          turn + 1 < turnCount()
            ? turnTop(turn + 1) - TURN_GAP
            : slots.total + (here.status === "running" ? tail : 0);
        const last = turnAt(turn + 1)?.first_part ?? count;
        const visibleRows: { index: number; top: number }[] = [];
        let index = Math.max(here.first_part, first);
        if (index < last) {
          let rowAt = rowTop(index);
          for (; index < last && rowAt <= to; index += 1) {
            if (isShown(index)) visibleRows.push({ index, top: rowAt - top });
            rowAt += rowHeight(index);
          }
        }
        turns.push({ turn: here, top, height: end - top, rows: visibleRows });
      }
      return turns;
    },
  };
}
