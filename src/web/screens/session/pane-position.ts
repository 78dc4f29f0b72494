import type { RefObject } from "react";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { PaneActions } from "./pane-keys.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import type { LoadedOutline } from "./use-turn-outline.ts";

type Scroller = RefObject<ScrollerHandle | null>;

/** Steps by turns and by entries of the outline, from where the view is. `toTurn`: goes to a turn that exists. */
export function stepsFrom(
  scroller: Scroller,
  transcript: Transcript | undefined,
  outline: LoadedOutline | undefined,
  toTurn: (turn: number) => void,
): Pick<PaneActions, "stepTurn" | "stepOutline"> & { goTurn(turn: number): void } {
  const goTurn = (turn: number): void => {
    if (transcript === undefined || turn < 0 || turn >= transcript.turns.length) return;
    toTurn(turn);
  };
  const stepTurn = (by: 1 | -1): void => {
    const here = scroller.current?.here();
    if (here === undefined) return;
    // Backwards from inside a turn leads to its own prompt first.
    goTurn(by === -1 && here.within ? here.turn : here.turn + by);
  };
  const stepOutline = (by: 1 | -1): void => {
    const here = scroller.current?.here().index ?? 0;
    const entry =
      by === 1
        ? outline?.entries.find(({ index }) => index > here)
        : outline?.entries.findLast(({ index }) => index < here);
    if (entry === undefined) stepTurn(by);
    else scroller.current?.toPart(entry.index);
  };
  return { goTurn, stepTurn, stepOutline: outline === undefined ? undefined : stepOutline };
}

/** The part that a new note is about: the focused one, else the marked one (`target`), else that at the top of the view. */
export function partToNote(
  session: OpenSession,
  scroller: Scroller,
  pane: HTMLElement | null,
  target: string | undefined,
): string | undefined {
  const focused = document.activeElement?.closest<HTMLElement>("[id^=part-]");
  const inPane = focused !== null && focused !== undefined && pane?.contains(focused);
  return inPane
    ? focused.id.slice("part-".length)
    : (target ?? session.partAt(scroller.current?.here().index ?? 0)?.id);
}

/** The model call of the marked part (`target`); else the last one at the end of the session, elsewhere that at the top of the view. */
export function callHere(
  session: OpenSession,
  scroller: Scroller,
  transcript: Transcript | undefined,
  target: string | undefined,
): { part: string } | { call: number } {
  const last = (transcript?.parts.length ?? 0) - 1;
  const isAtEnd = scroller.current?.lastInView() === last;
  const part = target ?? session.partAt(isAtEnd ? last : (scroller.current?.here().index ?? 0))?.id;
  return part === undefined ? { call: 1 } : { part };
}
