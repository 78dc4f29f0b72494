import { useEffect } from "react";
import type { TranscriptPart } from "../../../../model/transcript/transcript.ts";
import type { ApiFailure } from "../../../api/requests.ts";
import type { OpenSession } from "../../../app/open-session.ts";
import { joinTurns, type Layout, type VisibleTurn } from "../layout.ts";
import { MAX_HELD_ROWS } from "../selection-copy.ts";
import type { Held, ScrollView } from "./scroll-view.ts";

/** Debounce time of loading, in milliseconds: scrolling fast through a long session loads only the parts where it stops. */
const LOAD_MS = 60;
const RETRY_MS = 2_000;

/** The rows to render: those in view, the focused one, the held ones and, during a copy, those `between` the held ones. */
export function renderedTurns(
  layout: Layout,
  { focusedRow, held }: ScrollView,
  inView: VisibleTurn[],
  between: readonly VisibleTurn[],
): VisibleTurn[] {
  const include = (turns: VisibleTurn[], first?: number, last = first): VisibleTurn[] =>
    first !== undefined && last !== undefined && first < layout.parts && last < layout.parts
      ? joinTurns(turns, layout.visible(layout.topOf(first), layout.topOf(last)))
      : turns;
  const { rows = [] } = held.current ?? {};
  const firstHeld = rows[0];
  const lastHeld = rows.at(-1);
  const withFocused = include(inView, focusedRow.current);
  const ends =
    firstHeld !== undefined && lastHeld !== undefined && lastHeld - firstHeld > MAX_HELD_ROWS
      ? include(include(withFocused, firstHeld), lastHeld)
      : include(withFocused, firstHeld, lastHeld);
  return joinTurns(ends, between);
}

/** Whether a held row shows outdated content. */
export function isBehind(session: OpenSession, held: Held | undefined): boolean {
  return held !== undefined && [...held.parts].some(([index, part]) => session.partAt(index) !== part);
}

/** The part that each row shows. A held row shows its part at the time when the user started to hold it. */
export function partsShown(
  session: OpenSession,
  held: Held | undefined,
  shownAs: (part: TranscriptPart | undefined) => TranscriptPart | undefined,
): (index: number) => TranscriptPart | undefined {
  const parts = held?.parts;
  return parts === undefined
    ? (index) => shownAs(session.partAt(index))
    : (index) => parts.get(index) ?? shownAs(session.partAt(index));
}

/** Loads the parts from `from` to `to` after a short delay; after a failure, with a longer delay. */
export function useLoaded(
  session: OpenSession,
  from: number | undefined,
  to: number | undefined,
  failure: ApiFailure | undefined,
): void {
  useEffect(() => {
    if (from === undefined || to === undefined) return;
    const timer = setTimeout(
      () => void session.load(from, to + 1),
      failure === undefined ? LOAD_MS : RETRY_MS,
    );
    return () => clearTimeout(timer);
  }, [session, from, to, failure]);
}
