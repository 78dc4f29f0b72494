import { flushSync } from "react-dom";
import type { Transcript } from "../../../../model/transcript/transcript-state.ts";
import { TURN_GAP } from "../layout.ts";
import { AT_START, anchorFocused, isOnScreen, nextShown, type Place, type Scrolling } from "./scroll-view.ts";

/** Controls the transcript from outside. */
export interface ScrollerHandle {
  /**
   * Scrolls to a part's row (for a prompt, to its turn's heading), just below the sticky heading. The row stays there while rows
   * above it are loaded. With `thenFollow`, the end is followed once it is in view.
   */
  toPart(index: number, thenFollow?: boolean): void;
  toTurn(turn: number): void;
  toPlace(place: Place): void;
  toStart(): void;
  toEnd(): void;
  /** The first row in view, its turn, and whether that turn starts above the viewport. */
  here(): { index: number; turn: number; within: boolean };
  /** Whether the row of a part is at least partly in view. */
  shows(index: number): boolean;
  /** The last part in view, including the parts after it that have no row. `undefined`: the box is not on screen. */
  lastInView(): number | undefined;
  /** Scrolls as if the user did, by pixels or (`pages`) by the height of the viewport. */
  scroll(by: number, unit: "pixels" | "pages"): void;
  /** Focuses the next (1) or previous (−1) row. */
  step(by: 1 | -1): void;
  /** Focuses the scrolling box. */
  focus(): void;
  /** The element that contains the rendered rows. */
  rows(): HTMLElement | null;
  /** Scrolls a range inside a row into view, unless it already is. It stays there, as with `toPart`. */
  toRange(range: Range): void;
}

const BELOW_HEADING = 8;
/** A range that is scrolled to has 1/`ABOVE_RANGE` of the viewport above it. */
const ABOVE_RANGE = 4;

/** Creates the handle of a scroller that shows `transcript`. */
export function createScrollerHandle(
  scrolling: Scrolling,
  transcript: Transcript | undefined,
): ScrollerHandle {
  const { layout, view, tick } = scrolling;
  const { box, viewport, held, seeksEnd } = view;
  return {
    toPart(index, thenFollow = false) {
      toPart(scrolling, transcript, index);
      seeksEnd.current = thenFollow;
      if (thenFollow) tick();
    },
    toTurn(turn) {
      const shown = transcript?.turns.at(turn);
      toPart(scrolling, transcript, shown?.prompt_index ?? shown?.first_part ?? 0);
    },
    toPlace: (place) => scrollToPlace(scrolling, place),
    toStart: () => scrollToPlace(scrolling, AT_START),
    toEnd() {
      // The rows stay held, but now show their current content.
      if (held.current !== undefined) held.current = { ...held.current, parts: new Map() };
      scrollToPlace(scrolling, { end: true });
    },
    scroll: (by, unit) =>
      box.current?.scrollBy({ top: unit === "pixels" ? by : by * (viewport.current.height - 80) }),
    here() {
      const turn = layout.turnOf(layout.at(viewport.current.top));
      const within = layout.turnTop(turn) < viewport.current.top - 1;
      return { index: firstInView(scrolling), turn, within };
    },
    shows: (index) => isInView(scrolling, layout.rowOf(index)),
    lastInView: () => lastInView(scrolling),
    focus: () => box.current?.focus({ preventScroll: true }),
    rows: () => box.current,
    toRange: (range) => toRange(scrolling, range),
    step: (by) => step(scrolling, transcript, by),
  };
}

/** The height of the viewport that a turn's heading covers, in pixels. 0 in low windows, where headings are not sticky. */
function covered({ layout, view }: Scrolling, turn: number): number {
  const heading = view.box.current?.querySelector(".turn-heading");
  const scrollsAway = heading && getComputedStyle(heading).position !== "sticky";
  return scrollsAway ? 0 : layout.headingHeight(turn);
}

/** The first part below the sticky heading. */
function firstInView(scrolling: Scrolling): number {
  const { layout, view } = scrolling;
  const { top } = view.viewport.current;
  const turn = layout.turnOf(layout.at(top));
  return layout.at(top + covered(scrolling, turn) + BELOW_HEADING + 1);
}

function lastInView({ layout, view }: Scrolling): number | undefined {
  if (!isOnScreen(view.box.current) || layout.parts === 0) return undefined;
  const bottom = view.viewport.current.top + view.viewport.current.height;
  if (bottom >= layout.height - TURN_GAP) return layout.parts - 1;
  let index = layout.at(bottom);
  while (index + 1 < layout.parts && !layout.isShown(index + 1)) index += 1;
  return index;
}

function isInView({ layout, view }: Scrolling, row: number): boolean {
  const { top, height } = view.viewport.current;
  const rowTop = layout.topOf(row);
  const rowHeight = view.mounted.current.get(`row ${row}`)?.offsetHeight ?? 0;
  return rowTop < top + height && rowTop + rowHeight > top;
}

function scrollToPlace({ view, place, tick }: Scrolling, next: Place): void {
  view.seeksEnd.current = false;
  place(next);
  // Commit now, which scrolls there and measures the rows.
  flushSync(tick);
}

function toPart(scrolling: Scrolling, transcript: Transcript | undefined, wanted: number): void {
  const { layout } = scrolling;
  const index = layout.rowOf(wanted);
  const turn = layout.turnOf(index);
  const isHeading = layout.topOf(index) === layout.turnTop(turn);
  const offsetNow = (): number => (isHeading ? 0 : -covered(scrolling, turn) - BELOW_HEADING);
  const guess = offsetNow();
  scrollToPlace(scrolling, { end: false, index, offset: guess });
  // Only now the heading is measured, if it had never been rendered: correct the position.
  const offset = offsetNow();
  if (offset !== guess) scrollToPlace(scrolling, { end: false, index, offset });
  // In an expanded group, the part is somewhere below the group's own line.
  const part = index === wanted ? undefined : transcript?.parts.at(wanted);
  const inside = part && document.getElementById(`part-${part.id}`);
  const row = inside?.closest("[data-index]");
  if (!inside || !row) return;
  const down = inside.getBoundingClientRect().top - row.getBoundingClientRect().top;
  scrollToPlace(scrolling, { end: false, index, offset: offset + down });
}

function toRange(scrolling: Scrolling, range: Range): void {
  const { layout, view } = scrolling;
  const element = view.box.current;
  const row = range.startContainer.parentElement?.closest<HTMLElement>("[data-index]");
  const index = Number(row?.dataset.index ?? Number.NaN);
  if (element === null || !row || !Number.isInteger(index)) return;
  const heading = covered(scrolling, layout.turnOf(index)) + BELOW_HEADING;
  const box = element.getBoundingClientRect();
  const { top, bottom } = range.getBoundingClientRect();
  if (top >= box.top + heading && bottom <= box.bottom - BELOW_HEADING) return;
  const down = top - row.getBoundingClientRect().top;
  const above = heading + (view.viewport.current.height - heading) / ABOVE_RANGE;
  scrollToPlace(scrolling, { end: false, index, offset: down - above });
}

function step(scrolling: Scrolling, transcript: Transcript | undefined, by: 1 | -1): void {
  const { layout, view } = scrolling;
  view.seeksEnd.current = false;
  const { top: viewTop, height } = view.viewport.current;
  const from = view.focusedRow.current;
  const first = firstInView(scrolling);
  const index = nextShown(layout, from !== undefined && isInView(scrolling, from) ? from : first - by, by);
  if (index === undefined) return;
  const rowTop = layout.topOf(index);
  const heading = covered(scrolling, layout.turnOf(index));
  if (nextShown(layout, index, 1) === undefined && rowTop - heading >= layout.height - height)
    scrollToPlace(scrolling, { end: true });
  else {
    if (rowTop - heading < viewTop || rowTop + 40 > viewTop + height) toPart(scrolling, transcript, index);
    anchorFocused(scrolling, index);
  }
  const row = view.mounted.current.get(`row ${index}`);
  if (row === undefined) return;
  if (row.tabIndex < 0) row.tabIndex = -1;
  row.focus({ preventScroll: true });
}
