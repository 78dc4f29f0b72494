import { type RefObject, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ReadStatePatch } from "../../../model/read-state.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { markRead } from "../../app/read-state.ts";
import { useClient } from "../../app/store.ts";
import { t } from "../../text/text.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

/** How long a part must be on screen to count as seen, in milliseconds. */
const DWELL_MS = 1_000;

/**
 * Reports to the daemon how far the session has been on screen in a focused window. Returns the position of the first part that
 * was new when the session was opened. `isAbove`: that part has not been in view yet.
 */
export function useReadState(
  session: OpenSession,
  scroller: RefObject<ScrollerHandle | null>,
): { firstNew: number | undefined; isAbove: boolean } {
  const client = useClient();
  const { id } = session;
  const isListed = useStore(client.rows, ({ byId }) => byId.has(id));
  const [firstNew, setFirstNew] = useState<number>();
  const [isAbove, setAbove] = useState(false);
  const current = useRef<number>(undefined);

  useEffect(() => {
    const rowNow = () => client.rows.getState().byId.get(id);
    const opened = rowNow();
    if (!isListed || opened === undefined) return;
    const { parts, new_parts: count = 0 } = opened;
    // A session that was never opened has no "new" line.
    if (count > 0 && count < parts && current.current === undefined) {
      current.current = parts - count;
      setFirstNew(current.current);
      setAbove(true);
    }
    let reported = 0;
    let isMarked = opened.unread === true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = (): void => {
      timer = undefined;
      const row = rowNow();
      const last = scroller.current?.lastInView();
      if (row === undefined || last === undefined) return;
      if (document.visibilityState !== "visible" || !document.hasFocus()) return;
      const first = current.current;
      if (first !== undefined && scroller.current?.shows(first)) setAbove(false);
      const seen = Math.max(reported, row.parts - (row.new_parts ?? 0));
      if (!isMarked && (row.new_parts === undefined || last + 1 <= seen)) return;
      reported = Math.max(reported, last + 1);
      isMarked = false;
      void markRead(client, id, { parts: last + 1, unread: false }).then((kept) => {
        // Report it again next time.
        if (!kept) reported = 0;
      });
    };
    const scheduleCheck = (): void => {
      timer ??= setTimeout(check, DWELL_MS);
    };
    const box = scroller.current?.rows();
    const ends = [
      session.state.subscribe(scheduleCheck),
      client.rows.subscribe((now, before) => {
        if (now.version !== before.version && rowNow()?.new_parts !== undefined) scheduleCheck();
      }),
    ];
    box?.addEventListener("scroll", scheduleCheck, { passive: true });
    addEventListener("focus", scheduleCheck);
    document.addEventListener("visibilitychange", scheduleCheck);
    scheduleCheck();
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
      box?.removeEventListener("scroll", scheduleCheck);
      removeEventListener("focus", scheduleCheck);
      document.removeEventListener("visibilitychange", scheduleCheck);
    };
  }, [client, session, id, scroller, isListed]);
  return { firstNew, isAbove };
}

/** Changes the read state of a session, and shows a message if it could not be stored. */
export function useMark(
  session_id: string,
  setMessage: (message: string) => void,
): (patch: ReadStatePatch) => Promise<boolean> {
  const client = useClient();
  return async (patch) => {
    const isStored = await markRead(client, session_id, patch);
    setMessage(isStored ? "" : t.attention.notSaved);
    return isStored;
  };
}
