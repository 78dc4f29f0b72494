import { StoreError } from "../contract.ts";
import type { HistoryStore, OpenedHistory, SessionWrite, StoredSession } from "./contract.ts";

/** Opens an empty history store that lasts as long as its process. */
export function openMemoryHistory(): OpenedHistory {
  return { store: createMemoryHistory(), sessions: [], read_only: false, notices: [] };
}

interface Rows {
  readonly session: Omit<StoredSession, "has_pending">;
  readonly events: readonly string[];
  readonly frames: readonly string[];
}

function createMemoryHistory(): HistoryStore {
  const sessions = new Map<string, Rows>();
  return {
    path: "memory",
    sessions: async () =>
      [...sessions.values()].map(({ session, frames }) => ({
        ...structuredClone(session),
        has_pending: frames.length > 0,
      })),
    history: async (id) => [...(sessions.get(id)?.events ?? [])],
    pending: async (id) => [...(sessions.get(id)?.frames ?? [])],
    async write(writes) {
      const changed = new Map<string, Rows>();
      for (const write of structuredClone(writes)) {
        const { id } = write;
        changed.set(id, afterWrite(changed.get(id) ?? sessions.get(id), write));
      }
      for (const [id, rows] of changed) sessions.set(id, rows);
    },
    async close() {},
  };
}

function afterWrite(before: Rows | undefined, write: SessionWrite): Rows {
  const { id, summary, config, state, from, pending_from } = write;
  const session = before?.session ?? (summary && config && state && { id, summary, config, state });
  const { events = [], frames = [] } = before ?? {};
  const kept = write.settles_pending ? [] : frames;
  if (!session || (write.events.length > 0 && from !== events.length) || pending_from < kept.length)
    throw new StoreError("refused", `a write of session ${id} does not continue its history`);
  return {
    session: {
      ...session,
      ...(summary && { summary }),
      ...(config && { config }),
      ...(state && { state }),
    },
    events: [...events, ...write.events],
    frames: [...kept, ...write.frames],
  };
}
