import { useEffect } from "react";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { OpenSession } from "../../app/open-session.ts";

interface ReloadOptions {
  /** Nothing is loaded while this is false. */
  isWanted: boolean;
  /** Delay before the first load, in milliseconds. */
  first: number;
  /** The size of what is loaded: it is loaded again when that changes. */
  sizeOf(transcript: Transcript | undefined): number;
  /** Loads it. Returns the delay between growth and the next load, in milliseconds. */
  load(signal: AbortSignal): Promise<number>;
}

/**
 * Loads something that is derived from a session, and again after the session has grown, until the component is removed. Another
 * `load` or `sizeOf` begins anew.
 */
export function useReloadOnGrowth(session: OpenSession, options: ReloadOptions): void {
  const { isWanted, first, sizeOf, load } = options;
  useEffect(() => {
    if (!isWanted) return;
    const abort = new AbortController();
    const size = (): number => sizeOf(session.state.getState().transcript);
    let loaded = 0;
    let delay = 0;
    const run = async (): Promise<void> => {
      loaded = size();
      delay = await load(abort.signal);
      timer = undefined;
      // It may have grown in the meantime.
      runIfGrown();
    };
    let timer: ReturnType<typeof setTimeout> | undefined = setTimeout(() => void run(), first);
    const runIfGrown = (): void => {
      if (timer !== undefined || size() === loaded || abort.signal.aborted) return;
      timer = setTimeout(() => void run(), delay);
    };
    const unsubscribe = session.state.subscribe(runIfGrown);
    return () => {
      unsubscribe();
      clearTimeout(timer);
      abort.abort();
    };
  }, [session, isWanted, first, sizeOf, load]);
}
