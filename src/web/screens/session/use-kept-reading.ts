import { type RefObject, useCallback, useEffect, useRef } from "react";
import { type Reading, saveReading } from "../../app/scroll-position.ts";

const SAVE_MS = 300;

/** What this tab stores of the visit to a session. The members stay the same. */
interface KeptReading {
  readonly kept: RefObject<Reading>;
  /** Changes it, and stores it soon. */
  keep(change: Partial<Reading>): void;
}

/** `reading`: as it was when the screen came up. What follows is as it is now. */
export function useKeptReading(
  session_id: string,
  reading: Reading,
  { fragment, marked }: Pick<Reading, "fragment" | "marked">,
): KeptReading {
  // Not a state: a row keeps its own, and the host that all rows share stays the same when one is opened.
  const kept = useRef<Reading>({ ...reading, fragment, marked });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const save = useCallback(() => {
    clearTimeout(timer.current);
    saveReading(session_id, kept.current);
  }, [session_id]);
  const keep = useCallback(
    (change: Partial<Reading>) => {
      kept.current = { ...kept.current, ...change };
      clearTimeout(timer.current);
      timer.current = setTimeout(save, SAVE_MS);
    },
    [save],
  );
  useEffect(() => keep({ fragment, marked }), [fragment, marked, keep]);
  useEffect(() => {
    window.addEventListener("pagehide", save);
    return () => {
      window.removeEventListener("pagehide", save);
      save();
    };
  }, [save]);
  return { kept, keep };
}
