import { useEffect } from "react";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { OpenSession } from "../../app/open-session.ts";

interface ReloadOptions {
  /** While `false`, nothing is loaded. */
  isWanted: boolean;
  /** Delay before the first load, in milliseconds. */
  first: number;
  /** The size of what the data is derived from. The data is loaded again when it changes. */
  sizeOf(transcript: Transcript | undefined): number;
  /** Loads the data. Resolves with the delay between growth and the next load, in milliseconds. */
  load(signal: AbortSignal): Promise<number>;
}

/**
 * Loads data that is derived from a session, and loads it again after the session has grown, until the component is unmounted.
 * Starts over if `load` or `sizeOf` changes.
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
      // The session may have grown in the meantime.
      scheduleIfGrown();
    };
    let timer: ReturnType<typeof setTimeout> | undefined = setTimeout(() => void run(), first);
    const scheduleIfGrown = (): void => {
      if (timer !== undefined || size() === loaded || abort.signal.aborted) return;
      timer = setTimeout(() => void run(), delay);
    };
    const unsubscribe = session.state.subscribe(scheduleIfGrown);
    return () => {
      unsubscribe();
      clearTimeout(timer);
      abort.abort();
    };
  }, [session, isWanted, first, sizeOf, load]);
}
