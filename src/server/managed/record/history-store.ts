import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { messageOf } from "../../../model/narrow.ts";
import { type SessionSummary, sessionSummary } from "../../../model/session.ts";
import { type Notice, StoreError } from "../../../store/contract.ts";
import { guarded, inTransaction, number, openDatabase, text } from "../../../store/sqlite/database.ts";
import { type SessionConfig, type SessionState, sessionConfig, sessionState } from "../session-config.ts";

/** Migrations: entry n upgrades a store from version n. Entries are only added, never changed. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE session (
     id TEXT PRIMARY KEY,
     summary TEXT NOT NULL,
     config TEXT NOT NULL,
     state TEXT NOT NULL
   ) STRICT;
   CREATE TABLE history (
     session_id TEXT NOT NULL,
     position INTEGER NOT NULL,
     event TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX history_place ON history (session_id, position);
   CREATE TABLE pending (
     session_id TEXT NOT NULL,
     position INTEGER NOT NULL,
     frame TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX pending_place ON pending (session_id, position);`,
];

/** A session in `history.db`, without its events. */
export interface StoredSession {
  id: string;
  summary: SessionSummary;
  config: SessionConfig;
  state: SessionState;
  /** Whether there are frames that are not in the history: the daemon ended while a message was being written. */
  has_pending: boolean;
}

/** Changes to one session. */
export interface SessionWrite {
  id: string;
  /** Absent: unchanged. */
  summary?: SessionSummary;
  config?: SessionConfig;
  state?: SessionState;
  /** Lines of `encodeEvent`; the first one gets the position `from`. */
  events: readonly string[];
  from: number;
  /** The events cover all pending frames, which are deleted. */
  settles_pending: boolean;
  /** Frames that are not covered by events yet, as JSON; the first one gets the position `pending_from`. */
  frames: readonly string[];
  pending_from: number;
}

/**
 * Stores the managed sessions: their rows, their histories, and the frames that are not in the history yet. Every call may throw
 * a `StoreError`. The store is then unchanged.
 */
export interface HistoryStore {
  /** Path of the database, for display. */
  readonly path: string;
  load(): StoredSession[];
  /** Lines of `encodeEvent`, in order. */
  history(session_id: string): string[];
  /** Frames as JSON, in order. */
  pending(session_id: string): string[];
  /** Writes all or nothing. On disk when the call returns. */
  write(writes: readonly SessionWrite[]): void;
  close(): void;
}

/** Opens `history.db` in a data folder. See `openDatabase`. */
export function openHistoryStore(options: { folder: string; now: () => number; check_limit?: number }): {
  store?: HistoryStore;
  read_only: boolean;
  taken?: true;
  notices: Notice[];
  retry?(): boolean;
} {
  const { unlock, ...opened } = openDatabase<HistoryStore>({
    ...options,
    file: "history.db",
    lock: "history-lock.db",
    migrations: MIGRATIONS,
    create(database) {
      const store = createHistoryStore(database);
      // Read all rows now, while a damaged store can still be replaced.
      store.load();
      return store;
    },
    words: {
      untouched: "the sessions in it are not shown, and no session can be started",
      reads: "Sessions of the other daemon are shown as they were when this one started.",
      replacement: "a new one was created",
      aside: "Earlier sessions are in the quarantined file. Keep it if you need them.",
    },
  });
  const { store } = opened;
  if (!store) return opened;
  const close = () => {
    store.close();
    unlock();
  };
  return { ...opened, store: { ...store, close } };
}

function createHistoryStore(database: DatabaseSync): HistoryStore {
  const statements = {
    sessions: database.prepare(
      "SELECT *, EXISTS (SELECT 1 FROM pending WHERE session_id = session.id) AS has_pending FROM session",
    ),
    history: database.prepare("SELECT event FROM history WHERE session_id = ? ORDER BY position"),
    pending: database.prepare("SELECT frame FROM pending WHERE session_id = ? ORDER BY position"),
    begin: database.prepare("INSERT INTO session (id, summary, config, state) VALUES (?, ?, ?, ?)"),
    putSummary: database.prepare("UPDATE session SET summary = ? WHERE id = ?"),
    putConfig: database.prepare("UPDATE session SET config = ? WHERE id = ?"),
    putState: database.prepare("UPDATE session SET state = ? WHERE id = ?"),
    known: database.prepare("SELECT 1 FROM session WHERE id = ?"),
    addEvent: database.prepare("INSERT INTO history (session_id, position, event) VALUES (?, ?, ?)"),
    addFrame: database.prepare("INSERT INTO pending (session_id, position, frame) VALUES (?, ?, ?)"),
    settle: database.prepare("DELETE FROM pending WHERE session_id = ?"),
  };

  function writeRow({ id, summary, config, state }: SessionWrite): void {
    if (summary && config && state && !statements.known.get(id)) {
      statements.begin.run(id, JSON.stringify(summary), JSON.stringify(config), JSON.stringify(state));
      return;
    }
    if (summary) statements.putSummary.run(JSON.stringify(summary), id);
    if (config) statements.putConfig.run(JSON.stringify(config), id);
    if (state) statements.putState.run(JSON.stringify(state), id);
  }

  return {
    path: database.location() ?? "history.db",
    load: () => guarded(() => statements.sessions.all().map(sessionOf)),
    history: (id) => guarded(() => statements.history.all(id).map(({ event }) => text(event))),
    pending: (id) => guarded(() => statements.pending.all(id).map(({ frame }) => text(frame))),
    write(writes) {
      inTransaction(database, () => {
        for (const write of writes) {
          writeRow(write);
          for (const [index, event] of write.events.entries()) {
            statements.addEvent.run(write.id, write.from + index, event);
          }
          if (write.settles_pending) statements.settle.run(write.id);
          for (const [index, frame] of write.frames.entries()) {
            statements.addFrame.run(write.id, write.pending_from + index, frame);
          }
        }
      });
    },
    close: () => database.close(),
  };
}

const row = z.object({ id: z.string(), summary: z.string(), config: z.string(), state: z.string() });

function sessionOf(value: Record<string, unknown>): StoredSession {
  try {
    const stored = row.parse(value);
    return {
      id: stored.id,
      summary: sessionSummary.parse(JSON.parse(stored.summary)),
      config: sessionConfig.parse(JSON.parse(stored.config)),
      state: sessionState.parse(JSON.parse(stored.state)),
      has_pending: number(Number(value.has_pending)) === 1,
    };
  } catch (error) {
    throw new StoreError("broken", `the row of a session cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
