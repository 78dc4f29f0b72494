import { useMemo, useState } from "react";
import { useStore } from "zustand";
import type { SessionSummary } from "../../../model/session.ts";
import { useClient } from "../../app/store.ts";
import { type PaletteEntry, sessionEntries, sessionEntry } from "./entries.ts";

/** The sessions that a palette lists. */
interface ListedSessions {
  /** The sessions that were known at the last refresh. */
  readonly sessions: readonly PaletteEntry[];
  /** The sessions that were added since, in order of arrival. */
  readonly added: readonly PaletteEntry[];
  /** Takes all sessions and ranks them together. */
  refresh(): void;
}

/**
 * The sessions at the time when the palette opened or was last refreshed, so that nothing moves under the selection. Sessions
 * that are added later, for example while indexing, are kept apart. `session_id`: the session on screen, which is not listed.
 */
export function useListedSessions(session_id: string | undefined): ListedSessions {
  const { rows } = useClient();
  const { version } = useStore(rows);
  const others = (): SessionSummary[] =>
    [...rows.getState().byId.values()].filter(({ id }) => id !== session_id);
  const takeSnapshot = () => {
    const now = Date.now();
    const all = others();
    return { now, known: new Set(all.map(({ id }) => id)), sessions: sessionEntries(all, now) };
  };
  const [snapshot, setSnapshot] = useState(takeSnapshot);
  // Depends on `version`, because the map of rows is mutated.
  const added = useMemo(
    () =>
      others()
        .filter(({ id }) => !snapshot.known.has(id))
        .map((row) => sessionEntry(row, snapshot.now)),
    [snapshot, version],
  );
  return { sessions: snapshot.sessions, added, refresh: () => setSnapshot(takeSnapshot()) };
}
