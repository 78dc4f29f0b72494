import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useStore } from "zustand";
import { endingOfTurn } from "../../../model/parts/error-list.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { sessionTitle } from "../../app/session-title.ts";
import { rowsOf, useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import { rowOf, takeFocus } from "./pane-focus.ts";
import { locateProblem, runsWithErrors } from "./problems.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import type { SessionFilter } from "./use-filter.ts";

interface NavigationOptions {
  session: OpenSession;
  scroller: RefObject<ScrollerHandle | null>;
  rowFilter: SessionFilter;
  /** The id of the highlighted part. */
  target: string | undefined;
  setTarget(part_id: string): void;
  setOpen(part_id: string, open: boolean): void;
  setMessage(message: string): void;
  /** Opens a run in split view. `undefined` in the pane beside another session. */
  openBeside: ((run_id: string) => void) | undefined;
}

/** Navigation within a session, for keys, buttons and links. */
interface Navigation {
  /**
   * Scrolls to a part by position, highlights it and, with `open`, expands it. For a paired result, goes to its call. Moves the
   * focus there unless `keepsFocus`. Resolves with the part whose row shows it. Stable.
   */
  goTo(index: number, open: boolean, keepsFocus?: boolean): Promise<string | undefined>;
  /** Scrolls to the heading of a turn and focuses it. Stable. */
  toTurn(turn: number): Promise<void>;
  /**
   * Goes to the next (1) or previous (−1) failure, starting at the highlighted part or, if that is not in view, at the top of the
   * viewport. Wraps around. Opens a run with failures in split view, where the same key continues.
   */
  stepError(by: 1 | -1, stays?: boolean): Promise<void>;
  /** Goes to the part at which the last turn ended, if the turn failed or its record breaks off. */
  toEnding(): Promise<void>;
  /** Whether a run has failures, live. */
  readonly hasFailedRuns: boolean;
  /** The row that a button scrolled to without moving the focus, to be announced to screen readers. */
  readonly scrolledTo: { readonly name: string; readonly count: number };
}

export function useNavigation({
  session,
  scroller,
  rowFilter,
  target,
  setTarget,
  setOpen,
  setMessage,
  openBeside,
}: NavigationOptions): Navigation {
  const client = useClient();
  const api = apiOf(client);
  const [scrolledTo, setScrolledTo] = useState({ name: "", count: 0 });
  /** Closes the filter if it hides the target of a navigation. */
  const showAll = useRef((_index: number): void => {});
  useEffect(() => {
    showAll.current = (index) => {
      if (rowFilter.rows?.hides(index, session.partAt(index)) === true) flushSync(rowFilter.close);
    };
  });
  const goTo = useCallback(
    async (index: number, open: boolean, keepsFocus = false): Promise<string | undefined> => {
      await session.load(index, index + 1);
      let at = index;
      let part = session.partAt(at);
      if (part?.type === "tool_result" && part.call_index !== undefined) {
        at = part.call_index;
        await session.load(at, at + 1);
        part = session.partAt(at);
      }
      showAll.current(at);
      if (part !== undefined) {
        const { id } = part;
        if (open) setOpen(id, true);
        // Render now, so that the part is expanded, even in a group of markers, when the scroller goes there.
        flushSync(() => setTarget(id));
      }
      scroller.current?.toPart(at, part?.type === "request" && part.outcome === undefined);
      if (part !== undefined && !keepsFocus) takeFocus(rowOf(part.id));
      return part?.id;
    },
    [session, scroller, setOpen, setTarget],
  );

  const toTurn = useCallback(
    async (turn: number): Promise<void> => {
      scroller.current?.toTurn(turn);
      const { id, prompt_index } = session.state.getState().transcript?.turns.at(turn) ?? {};
      if (prompt_index !== undefined) await session.load(prompt_index, prompt_index + 1);
      // Render now: the heading gets a new element when its prompt is loaded.
      flushSync(() => {});
      takeFocus(document.getElementById(`turn-${id}`)?.closest("header"));
    },
    [session, scroller],
  );

  const stepError = async (by: 1 | -1, keepsFocus = false): Promise<void> => {
    const { transcript } = session.state.getState();
    const here = scroller.current?.here().index ?? 0;
    const marked =
      target === undefined || transcript === undefined ? undefined : positionOf(transcript, target);
    // Start at the highlighted part, even if it is not at the top of the viewport.
    const isMarkedInView = marked !== undefined && scroller.current?.shows(marked);
    const from = isMarkedInView ? marked + by : here - (by === 1 ? 0 : 1);
    const rows = rowsOf(client, session.id).getState();
    const ahead = await locateProblem(session, api, rows, from, by);
    const wrapped_from = by === 1 ? 0 : (transcript?.parts.length ?? 0) - 1;
    const found = ahead ?? (await locateProblem(session, api, rows, wrapped_from, by));
    if (found === undefined) setMessage(t.session.noError);
    else {
      const wrappedText = by === 1 ? t.session.wrappedFirst : t.session.wrappedLast;
      const id = await goTo(found.index, false, keepsFocus);
      const name = keepsFocus && id !== undefined ? (rowOf(id)?.getAttribute("aria-label") ?? "") : "";
      setScrolledTo(({ count }) => ({ name, count: count + 1 }));
      if (found.run !== undefined) {
        if (!keepsFocus) openBeside?.(found.run.id);
        setMessage(t.session.errorsInRun(sessionTitle(found.run)));
      } else if (ahead === undefined) setMessage(found.index === marked ? t.session.onlyError : wrappedText);
    }
  };
  const toEnding = async (): Promise<void> => {
    const reply = await api.errors(session.id);
    if (!reply.ok) {
      setMessage(failureText(reply.failure));
      return;
    }
    const ending = endingOfTurn(reply.value, session.state.getState().transcript?.turns.length ?? 0);
    if (ending === undefined) setMessage(t.session.noEnding);
    else await goTo(ending.index, true);
  };
  const hasFailedRuns = useStore(
    rowsOf(client, session.id),
    (rows) => runsWithErrors(rows, session.id).length > 0,
  );
  return { goTo, toTurn, stepError, toEnding, hasFailedRuns, scrolledTo };
}
