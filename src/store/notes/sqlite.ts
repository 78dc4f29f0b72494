import type { DatabaseSync } from "node:sqlite";
import { type Note, note } from "../../model/note.ts";
import { StoreError } from "../contract.ts";
import { guarded } from "../sqlite/errors.ts";
import { type OpenedLoadedStore, openLoadedStore, type StoreFolder } from "../sqlite/loaded-store.ts";
import { inTransaction } from "../sqlite/transaction.ts";

/** Migrations: entry n upgrades a store from version n. Entries are only added, never changed. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE note (
     id TEXT PRIMARY KEY,
     session_id TEXT NOT NULL,
     created_at REAL NOT NULL,
     changed_at REAL NOT NULL,
     text TEXT NOT NULL,
     part TEXT
   ) STRICT;`,
];

/** Stores notes. Every call may throw a `StoreError`. The store is then unchanged. */
export interface NoteStore {
  /** All notes, oldest first. */
  load(): Note[];
  /** Adds or replaces a note. On disk when the call returns. */
  put(note: Note): void;
  /** On disk when the call returns. */
  remove(id: string): void;
  close(): void;
}

/**
 * Opens `notes.db` in a data folder. See `openDatabase`. Notes exist nowhere else, so they are in a separate file, apart from
 * data that can be rebuilt.
 */
export const openNoteStore = (place: StoreFolder): OpenedLoadedStore<NoteStore> =>
  openLoadedStore(place, {
    name: "notes",
    file: "notes",
    migrations: MIGRATIONS,
    create: createNoteStore,
  });

function createNoteStore(database: DatabaseSync): NoteStore {
  const statements = {
    load: database.prepare("SELECT * FROM note ORDER BY created_at, id"),
    put: database.prepare(
      `INSERT INTO note (id, session_id, created_at, changed_at, text, part) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET changed_at = excluded.changed_at, text = excluded.text`,
    ),
    remove: database.prepare("DELETE FROM note WHERE id = ?"),
  };
  return {
    load: () => guarded(() => statements.load.all().map(noteOf)),
    put({ id, session_id, created_at, changed_at, text, part }) {
      const about = part === undefined ? null : JSON.stringify(part);
      inTransaction(database, () => {
        statements.put.run(id, session_id, created_at, changed_at, text, about);
      });
    },
    remove(id) {
      inTransaction(database, () => {
        statements.remove.run(id);
      });
    },
    close: () => database.close(),
  };
}

function noteOf({ part, ...row }: Record<string, unknown>): Note {
  const parsed = note.safeParse(part === null ? row : { ...row, part: partOf(part) });
  if (parsed.success) return parsed.data;
  throw new StoreError("broken", "a note is invalid");
}

function partOf(json: unknown): unknown {
  try {
    return JSON.parse(String(json));
  } catch {
    throw new StoreError("broken", "a note is invalid");
  }
}
