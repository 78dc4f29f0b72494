import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { messageOf } from "../../model/narrow.ts";
import type { OpenCalls } from "../../model/open-calls.ts";
import { sessionSummary } from "../../model/session.ts";
import type { KnownFacts } from "../../sources/link-runs.ts";
import { StoreError } from "../contract.ts";
import { number, text } from "../sqlite/columns.ts";
import { openDatabase } from "../sqlite/database.ts";
import { guarded } from "../sqlite/errors.ts";
import { inTransaction } from "../sqlite/transaction.ts";
import type { ArchiveContents, ArchiveStore, OpenedArchive, StoredFile, StoredSession } from "./contract.ts";

/** Migrations: entry n upgrades a store from version n. Entries are only added, never changed. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE file (
     id INTEGER PRIMARY KEY,
     path TEXT NOT NULL,
     format TEXT NOT NULL,
     kind TEXT NOT NULL,
     side TEXT,
     side_stamp TEXT,
     side_text TEXT,
     inode TEXT NOT NULL,
     size INTEGER NOT NULL,
     modified_at REAL NOT NULL,
     head TEXT NOT NULL,
     head_length INTEGER NOT NULL,
     tail TEXT NOT NULL,
     gone INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE session (
     id TEXT PRIMARY KEY,
     file_id INTEGER NOT NULL,
     summary TEXT NOT NULL,
     open_calls TEXT NOT NULL,
     facts TEXT
   ) STRICT;
   CREATE TABLE chunk (
     file_id INTEGER NOT NULL,
     start INTEGER NOT NULL,
     length INTEGER NOT NULL,
     compressed BLOB NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX chunk_place ON chunk (file_id, start, length);`,
];

/** How the archive of a data folder is opened. */
export interface SqliteArchiveOptions {
  /** The data folder. Created if missing. */
  folder: string;
  now: () => number;
  /** For tests of migrations. */
  migrations?: readonly string[];
  /** See `DatabaseOptions`. */
  check_limit?: number;
  read_only?: boolean;
}

/** Opens the archive of a data folder, `verbatim.db`, and reads its rows. See `openDatabase`. */
export function openSqliteArchive(options: SqliteArchiveOptions): OpenedArchive {
  let contents: ArchiveContents = { files: [], sessions: [], archived_to: new Map() };
  const { unlock, ...opened } = openDatabase<ArchiveStore>({
    folder: options.folder,
    file: "verbatim.db",
    lock: "lock.db",
    now: options.now,
    ...(options.check_limit !== undefined && { check_limit: options.check_limit }),
    ...(options.read_only !== undefined && { read_only: options.read_only }),
    migrations: options.migrations ?? MIGRATIONS,
    create(database, writable) {
      // A daemon that ended while it read a file for the first time leaves archived bytes of it behind. The file is read again,
      // and its id is given to the next file, whose archive must not begin with these bytes.
      if (writable) database.exec("DELETE FROM chunk WHERE file_id NOT IN (SELECT id FROM file)");
      const statements = prepareStatements(database);
      // Read all rows now, while a damaged store can still be replaced.
      contents = contentsOf(statements);
      return createStore(database, statements);
    },
    name: "archive",
  });
  const { store } = opened;
  if (!store) return { ...opened, contents };
  return {
    ...opened,
    contents,
    store: {
      ...store,
      async close() {
        await store.close();
        unlock();
      },
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    files: database.prepare("SELECT * FROM file"),
    sessions: database.prepare("SELECT * FROM session"),
    putFile: database.prepare(
      `INSERT OR REPLACE INTO file (id, path, format, kind, side, side_stamp, side_text, inode, size, modified_at, head, head_length, tail, gone)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    putSession: database.prepare(
      "INSERT OR REPLACE INTO session (id, file_id, summary, open_calls, facts) VALUES (?, ?, ?, ?, ?)",
    ),
    removeSession: database.prepare("DELETE FROM session WHERE id = ?"),
    removeFile: database.prepare("DELETE FROM file WHERE id = ?"),
    removeChunks: database.prepare("DELETE FROM chunk WHERE file_id = ?"),
    removeChunk: database.prepare("DELETE FROM chunk WHERE file_id = ? AND start = ?"),
    putChunk: database.prepare("INSERT INTO chunk (file_id, start, length, compressed) VALUES (?, ?, ?, ?)"),
    // A file without gaps has as many bytes as its last chunk ends at. Chunks never overlap.
    ends: database.prepare(
      "SELECT file_id, SUM(length) AS total, MAX(start + length) AS last FROM chunk GROUP BY file_id",
    ),
    places: database.prepare("SELECT start, length FROM chunk WHERE file_id = ? ORDER BY start"),
    lastChunk: database.prepare(
      "SELECT start, length, compressed FROM chunk WHERE file_id = ? ORDER BY start DESC LIMIT 1",
    ),
    chunkAt: database.prepare(
      "SELECT start, length, compressed FROM chunk WHERE file_id = ? AND start <= ? ORDER BY start DESC LIMIT 1",
    ),
  };
}

type Statements = ReturnType<typeof prepareStatements>;

function contentsOf(statements: Statements): ArchiveContents {
  return guarded(() => ({
    files: statements.files.all().map(fileOf),
    sessions: statements.sessions.all().map(sessionOf),
    archived_to: new Map(
      statements.ends.all().map(({ file_id, total, last }) => {
        const id = number(file_id);
        return [id, total === last ? number(last) : endBeforeGap(statements, id)];
      }),
    ),
  }));
}

function endBeforeGap({ places }: Statements, file_id: number): number {
  let end = 0;
  for (const { start, length } of places.iterate(file_id)) {
    if (number(start) !== end) break;
    end += number(length);
  }
  return end;
}

/** SQLite calls block, so each promise is settled when the call returns. */
function createStore(database: DatabaseSync, statements: Statements): ArchiveStore {
  return {
    load: async () => contentsOf(statements),

    async write(batch) {
      inTransaction(database, () => {
        for (const file of batch.files ?? []) {
          statements.putFile.run(
            file.id,
            file.path,
            file.format,
            file.kind,
            file.side ?? null,
            file.side_stamp ?? null,
            file.side_text ?? null,
            file.inode,
            file.size,
            file.modified_at,
            file.head,
            file.head_length,
            file.tail,
            file.gone ? 1 : 0,
          );
        }
        for (const session of batch.sessions ?? []) {
          statements.putSession.run(
            session.id,
            session.file_id,
            JSON.stringify(session.summary),
            JSON.stringify(session.open_calls),
            session.facts ? JSON.stringify(session.facts) : null,
          );
        }
        for (const id of batch.removed_sessions ?? []) statements.removeSession.run(id);
        for (const chunk of batch.chunks ?? []) {
          statements.removeChunk.run(chunk.file_id, chunk.start);
          statements.putChunk.run(chunk.file_id, chunk.start, chunk.length, chunk.compressed);
        }
        for (const id of batch.removed_files ?? []) {
          statements.removeChunks.run(id);
          statements.removeFile.run(id);
        }
      });
    },

    shortTail: async (file_id, limit) =>
      guarded(() => {
        const row = statements.lastChunk.get(file_id);
        if (!row || number(row.length) >= limit) return undefined;
        return { start: number(row.start), bytes: unpack(row) };
      }),

    read: async (file_id, from, to) =>
      guarded(() => {
        const row = statements.chunkAt.get(file_id, from);
        if (!row) return new Uint8Array();
        const start = number(row.start);
        return unpack(row).subarray(from - start, to - start);
      }),

    async close() {
      database.close();
    },
  };
}

function unpack(row: Record<string, SQLOutputValue>): Uint8Array {
  if (!(row.compressed instanceof Uint8Array)) throw new StoreError("broken", "a chunk has no bytes");
  const length = number(row.length);
  let bytes: Uint8Array;
  try {
    bytes = zstdDecompressSync(row.compressed, { maxOutputLength: Math.max(length, 1) });
  } catch (error) {
    throw new StoreError("broken", `a chunk of the archive is damaged: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (bytes.length !== length) throw new StoreError("broken", "a chunk of the archive has a wrong length");
  return bytes;
}

function fileOf(row: Record<string, SQLOutputValue>): StoredFile {
  return {
    id: number(row.id),
    path: text(row.path),
    format: text(row.format),
    kind: row.kind === "run" ? "run" : "session",
    ...(typeof row.side === "string" && { side: row.side }),
    ...(typeof row.side_stamp === "string" && { side_stamp: row.side_stamp }),
    ...(typeof row.side_text === "string" && { side_text: row.side_text }),
    inode: text(row.inode),
    size: number(row.size),
    modified_at: number(row.modified_at),
    head: text(row.head),
    head_length: number(row.head_length),
    tail: text(row.tail),
    gone: row.gone === 1,
  };
}

function sessionOf(row: Record<string, SQLOutputValue>): StoredSession {
  try {
    return {
      id: text(row.id),
      file_id: number(row.file_id),
      summary: sessionSummary.parse(JSON.parse(text(row.summary))),
      // The casts are safe: only this module writes them, and a flipped bit breaks the JSON or the page, not the shape.
      open_calls: JSON.parse(text(row.open_calls)) as OpenCalls,
      ...(typeof row.facts === "string" && { facts: JSON.parse(row.facts) as KnownFacts }),
    };
  } catch (error) {
    throw new StoreError("broken", `a row of the list is invalid: ${messageOf(error)}`, { cause: error });
  }
}
