import { useCallback, useState } from "react";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { OutlineReply } from "../../../protocol.ts";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { useClient } from "../../app/store.ts";
import { useReloadOnGrowth } from "./use-reload-on-growth.ts";

/**
 * Delay between the growth of a turn and the next request for its outline, in milliseconds: a minimum, and an increment per
 * entry, because the whole outline is loaded again.
 */
const GROWN_MS = 1_000;
const GROWN_MS_PER_ENTRY = 4;
/** Debounce time before the outline of another turn is requested, in milliseconds, so that fast scrolling sends no requests. */
const CURRENT_MS = 200;

/** Minimum number of entries. Shorter outlines are left out: the turn fits on the screen, and the list would only jump. */
const MIN_ENTRIES = 8;

export interface LoadedOutline extends OutlineReply {
  /** Index of the turn in the session. */
  readonly turn: number;
}

/**
 * The outline of a turn (by its index), loaded again when the turn grows. While the outline of another turn is loading, the
 * previous one is returned. `undefined`: none is loaded yet, it is not wanted, or loading failed.
 */
export function useTurnOutline(
  session: OpenSession,
  turn: number,
  isWanted: boolean,
): LoadedOutline | undefined {
  const api = apiOf(useClient());
  const [outline, setOutline] = useState<LoadedOutline>();
  const sizeOf = useCallback(
    (transcript: Transcript | undefined): number => transcript?.turns.at(turn)?.part_count ?? 0,
    [turn],
  );
  const load = useCallback(
    async (signal: AbortSignal): Promise<number> => {
      const reply = await api.outline(session.id, turn + 1, signal);
      if (signal.aborted) return GROWN_MS;
      if (!reply.ok) {
        setOutline(undefined);
        return GROWN_MS;
      }
      const { entries } = reply.value;
      setOutline({ ...reply.value, turn, entries: entries.length < MIN_ENTRIES ? [] : entries });
      return GROWN_MS + GROWN_MS_PER_ENTRY * entries.length;
    },
    [api, session, turn],
  );
  useReloadOnGrowth(session, { isWanted, first: CURRENT_MS, sizeOf, load });
  return isWanted ? outline : undefined;
}
