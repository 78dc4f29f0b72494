import type { RefObject } from "react";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { PaneActions } from "./pane-keys.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import type { LoadedOutline } from "./use-turn-outline.ts";

type Scroller = RefObject<ScrollerHandle | null>;

/** Functions that step by turns and by outline entries, starting at the current view. `toTurn`: goes to an existing turn. */
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
    // Going back from the middle of a turn leads to its own prompt first.
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

/**
 * The part that a new note is about: the focused one, else the highlighted one (`target`), else the one at the top of the
 * viewport.
 */
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

/**
 * The model call of the highlighted part (`target`). Without one: at the end of the session, the last call; elsewhere, the call
 * at the top of the viewport.
 */
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
