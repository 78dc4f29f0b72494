import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { messageOf } from "../../model/narrow.ts";
import { sessionSummary } from "../../model/session.ts";
import { StoreError } from "../contract.ts";
import { number, text } from "../sqlite/columns.ts";
import { openDatabase } from "../sqlite/database.ts";
import { guarded } from "../sqlite/errors.ts";
import { inTransaction } from "../sqlite/transaction.ts";
import type { HistoryStore, OpenedHistory, SessionWrite, StoredSession } from "./contract.ts";
import { sessionConfig, sessionState } from "./session-config.ts";

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

/** Opens `history.db` in a data folder, and reads its sessions. See `openDatabase`. */
export function openSqliteHistory(options: {
  folder: string;
  now: () => number;
  /** See `DatabaseOptions`. */
  check_limit?: number;
}): OpenedHistory {
  let sessions: StoredSession[] = [];
  const { unlock, ...opened } = openDatabase<HistoryStore>({
    ...options,
    file: "history.db",
    lock: "history-lock.db",
    migrations: MIGRATIONS,
    create(database) {
      const statements = prepareStatements(database);
      // Read all rows now, while a damaged store can still be replaced.
      sessions = sessionsOf(statements);
      return createStore(database, statements);
    },
    name: "sessions",
  });
  const { store } = opened;
  if (!store) return { ...opened, sessions };
  return {
    ...opened,
    sessions,
    store: {
      ...store,
      async close() {
        await store.close();
        unlock();
      },
    },
  };
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(database: DatabaseSync) {
  return {
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
}

function sessionsOf(statements: Statements): StoredSession[] {
  return guarded(() => statements.sessions.all().map(sessionOf));
}

/** SQLite calls block, so each promise is settled when the call returns. */
function createStore(database: DatabaseSync, statements: Statements): HistoryStore {
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
    sessions: async () => sessionsOf(statements),
    history: async (id) => guarded(() => statements.history.all(id).map(({ event }) => text(event))),
    pending: async (id) => guarded(() => statements.pending.all(id).map(({ frame }) => text(frame))),
    async write(writes) {
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
    async close() {
      database.close();
    },
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
