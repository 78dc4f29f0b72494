import { type RefObject, useCallback, useEffect, useRef } from "react";
import { type Reading, saveReading } from "../../app/scroll-position.ts";

const SAVE_MS = 300;

/** The reading state of a session that is stored in this tab. The members are stable. */
interface KeptReading {
  readonly kept: RefObject<Reading>;
  /** Changes the reading state, and stores it after a short delay. */
  keep(change: Partial<Reading>): void;
}

/** `reading`: what was stored when the screen was mounted. `fragment` and `marked`: the current values. */
export function useKeptReading(
  session_id: string,
  reading: Reading,
  { fragment, marked }: Pick<Reading, "fragment" | "marked">,
): KeptReading {
  // A ref, not a state: expanding a row must not change the host that all rows share. Each row has its own state.
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
