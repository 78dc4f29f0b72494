import { type RefObject, useCallback, useEffect, useRef } from "react";
import { type Reading, saveReading } from "../../app/scroll-position.ts";

const SAVE_MS = 300;

/** The reading state of a session that is stored in this tab. The members are stable. */
interface SavedReading {
  readonly saved: RefObject<Reading>;
  /** Changes the reading state, and stores it after a short delay. */
  saveSoon(change: Partial<Reading>): void;
}

/** `reading`: what was stored when the screen was mounted. `fragment` and `marked`: the current values. */
export function useSavedReading(
  session_id: string,
  reading: Reading,
  { fragment, marked }: Pick<Reading, "fragment" | "marked">,
): SavedReading {
  // A ref, not a state: expanding a row must not change the host that all rows share. Each row has its own state.
  const saved = useRef<Reading>({ ...reading, fragment, marked });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const saveNow = useCallback(() => {
    clearTimeout(timer.current);
    saveReading(session_id, saved.current);
  }, [session_id]);
  const saveSoon = useCallback(
    (change: Partial<Reading>) => {
      saved.current = { ...saved.current, ...change };
      clearTimeout(timer.current);
      timer.current = setTimeout(saveNow, SAVE_MS);
    },
    [saveNow],
  );
  useEffect(() => saveSoon({ fragment, marked }), [fragment, marked, saveSoon]);
  useEffect(() => {
    window.addEventListener("pagehide", saveNow);
    return () => {
      window.removeEventListener("pagehide", saveNow);
      saveNow();
    };
  }, [saveNow]);
  return { saved, saveSoon };
}
