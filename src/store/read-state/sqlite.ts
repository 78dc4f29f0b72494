import type { DatabaseSync } from "node:sqlite";
import { type ReadState, readState } from "../../model/read-state.ts";
import { StoreError } from "../contract.ts";
import { number } from "../sqlite/columns.ts";
import { guarded } from "../sqlite/errors.ts";
import { type OpenedLoadedStore, openLoadedStore, type StoreFolder } from "../sqlite/loaded-store.ts";
import { inTransaction } from "../sqlite/transaction.ts";

/** Migrations: entry n upgrades a store from version n. Entries are only added, never changed. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE read_state (
     session_id TEXT PRIMARY KEY,
     parts INTEGER NOT NULL,
     seen_at INTEGER NOT NULL,
     unread INTEGER NOT NULL,
     pinned INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE origin (since INTEGER NOT NULL) STRICT;
   INSERT INTO origin (since) VALUES (CAST(unixepoch('subsec') * 1000 AS INTEGER));`,
];

/** Stores read states. Every call may throw a `StoreError`. The store is then unchanged. */
export interface ReadStateStore {
  /** Creation time of the store, in milliseconds since 1970. Sessions that ended before it count as read. */
  readonly since: number;
  load(): ReadState[];
  /** On disk when the call returns. */
  put(states: readonly ReadState[]): void;
  close(): void;
}

/**
 * Opens `read-state.db` in a data folder. See `openDatabase`. It cannot be rebuilt from agents' files and does not belong to the
 * archive, so it is a separate file.
 */
export const openReadStateStore = (place: StoreFolder): OpenedLoadedStore<ReadStateStore> =>
  openLoadedStore(place, {
    name: "read_state",
    file: "read-state",
    migrations: MIGRATIONS,
    create: createReadStateStore,
  });

function createReadStateStore(database: DatabaseSync): ReadStateStore {
  const statements = {
    since: database.prepare("SELECT since FROM origin"),
    load: database.prepare("SELECT * FROM read_state"),
    put: database.prepare(
      `INSERT INTO read_state (session_id, parts, seen_at, unread, pinned) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (session_id) DO UPDATE SET
         parts = excluded.parts, seen_at = excluded.seen_at, unread = excluded.unread, pinned = excluded.pinned`,
    ),
  };
  return {
    since: guarded(() => number(statements.since.get()?.since)),
    load: () => guarded(() => statements.load.all().map(stateOf)),
    put(states) {
      inTransaction(database, () => {
        for (const { session_id, parts, seen_at, unread, pinned } of states)
          statements.put.run(session_id, parts, seen_at, Number(unread), Number(pinned));
      });
    },
    close: () => database.close(),
  };
}

function stateOf(row: Record<string, unknown>): ReadState {
  const parsed = readState.safeParse({ ...row, unread: row.unread === 1, pinned: row.pinned === 1 });
  if (parsed.success) return parsed.data;
  throw new StoreError("broken", "a read state is invalid");
}
