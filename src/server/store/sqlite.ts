import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import type { SessionLinkFacts } from "../../formats/format.ts";
import { sessionSummary } from "../../model/session.ts";
import type { OpenCalls } from "../open-calls.ts";
import {
  type OpenedStore,
  type SessionStore,
  type StoreBatch,
  type StoredFile,
  type StoredSession,
  StoreError,
} from "./store.ts";

/** Each entry brings a store from the version of its index to the next. Entries are never changed, only added. */
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

/** Up to this size the whole store is checked when it is opened; a bigger one shows its damage when it is read. */
const CHECK_LIMIT = 64 * 1024 * 1024;

export interface StoreOptions {
  /** The data folder; made if it is missing. */
  folder: string;
  now: () => number;
  /** For tests of the migration itself. */
  migrations?: readonly string[];
}

/**
 * Opens the store of a data folder. Never throws: a store that is damaged is set aside and begun anew, one that a newer
 * version wrote is left alone, and one that another daemon writes to is only read. Each of these is told in `notices`.
 */
export function openStore(options: StoreOptions): OpenedStore {
  const path = join(options.folder, "verbatim.db");
  try {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    return without(
      `The data folder ${options.folder} cannot be made: ${messageOf(error)}.`,
      "Name a folder that you may write to with --data-dir.",
    );
  }
  let lock: DatabaseSync | undefined;
  try {
    lock = takeLock(options.folder);
  } catch (error) {
    return without(
      `The data folder ${options.folder} cannot be used: ${messageOf(error)}.`,
      "Check its permissions, or name another folder with --data-dir.",
    );
  }
  if (!lock) return openReadOnly(options, path);
  try {
    const store = openWritable(options, path, lock);
    return { store, read_only: false, notices: [] };
  } catch (error) {
    if (error instanceof NewerStore) {
      lock.close();
      return without(
        `The store ${path} was written by a newer Verbatim (version ${error.found} of the store, this one knows ${error.known}). It was not touched; nothing is archived now.`,
        "Start the newer Verbatim, or name another folder with --data-dir.",
      );
    }
    const cause = asStoreError(error);
    if (cause.kind !== "broken") {
      lock.close();
      return without(
        `The store ${path} cannot be opened: ${cause.message}.`,
        "Make room on the disk or check the permissions, then start again.",
      );
    }
    return startAnew(options, path, lock, cause);
  }
}

/** Moves a damaged store out of the way and begins a new one in its place. */
function startAnew(options: StoreOptions, path: string, lock: DatabaseSync, cause: StoreError): OpenedStore {
  const aside = freeName(`${path}.broken-${new Date(options.now()).toISOString().replaceAll(/[:.]/g, "-")}`);
  try {
    setAside(path, aside);
    const store = openWritable(options, path, lock);
    return {
      store,
      read_only: false,
      notices: [
        {
          level: "warning",
          text: `The store was damaged (${cause.message}). It was set aside as ${aside}, and a new one is being built from the agents' files.`,
          remedy:
            "Sessions whose files the agents have deleted are only in the one set aside: keep it if you need them.",
        },
      ],
    };
  } catch (error) {
    lock.close();
    return without(
      `The store ${path} is damaged (${cause.message}) and could not be set aside: ${messageOf(error)}.`,
      `Move ${path} away by hand, then start again.`,
    );
  }
}

function freeName(wanted: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    if (!existsSync(name)) return name;
  }
}

function setAside(path: string, aside: string): void {
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
}

function without(text: string, remedy: string): OpenedStore {
  return { read_only: true, notices: [{ level: "error", text, remedy }] };
}

/**
 * One daemon writes. The lock is an exclusive transaction on a small database of its own, so that the system frees it
 * however the daemon ends. `undefined`: another daemon has it.
 */
function takeLock(folder: string): DatabaseSync | undefined {
  const path = join(folder, "lock.db");
  let database = new DatabaseSync(path, { timeout: 0 });
  try {
    begin(database);
  } catch (error) {
    database.close();
    const cause = asStoreError(error);
    if (codeOf(error) === BUSY) return undefined;
    if (cause.kind !== "broken") throw cause;
    // It holds nothing, so a damaged one is simply made again.
    rmSync(path);
    database = new DatabaseSync(path, { timeout: 0 });
    begin(database);
  }
  writeFileSync(join(folder, "daemon.json"), `${JSON.stringify({ pid: process.pid })}\n`);
  return database;

  function begin(on: DatabaseSync) {
    on.exec("BEGIN EXCLUSIVE");
  }
}

function holderOf(folder: string): string {
  try {
    const found: unknown = JSON.parse(readFileSync(join(folder, "daemon.json"), "utf8"));
    if (typeof found === "object" && found !== null && "pid" in found && typeof found.pid === "number") {
      return `Another Verbatim (process ${found.pid})`;
    }
  } catch {
    // The file only makes the notice friendlier.
  }
  return "Another Verbatim";
}

function openReadOnly(options: StoreOptions, path: string): OpenedStore {
  const notice = {
    level: "warning",
    text: `${holderOf(options.folder)} already uses the data folder ${options.folder}. This one shows everything, but archives nothing.`,
    remedy: "Use the one that runs, or give this one a folder of its own with --data-dir.",
  } as const;
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    const known = (options.migrations ?? MIGRATIONS).length;
    if (versionOf(database) !== known) {
      database.close();
      return { read_only: true, notices: [notice] };
    }
    return { store: createStore(database), read_only: true, notices: [notice] };
  } catch {
    return { read_only: true, notices: [notice] };
  }
}

class NewerStore extends Error {
  readonly found: number;
  readonly known: number;
  constructor(found: number, known: number) {
    super(`store version ${found}`);
    this.found = found;
    this.known = known;
  }
}

function openWritable(options: StoreOptions, path: string, lock: DatabaseSync): SessionStore {
  const migrations = options.migrations ?? MIGRATIONS;
  // SQLite takes an empty or very short file for a new database; a cut store must be told from a store never begun.
  const existed = existsSync(path);
  if (existed && !hasHeader(path)) throw new StoreError("broken", "it is no SQLite file");
  // Nobody else writes, so waiting long only means that everything else waits.
  const database = new DatabaseSync(path, { timeout: 500 });
  try {
    const found = versionOf(database);
    if (found > migrations.length) throw new NewerStore(found, migrations.length);
    if (existed && pragma(database, "page_count") * pragma(database, "page_size") <= CHECK_LIMIT) {
      const verdict = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0];
      if (verdict !== "ok") throw new StoreError("broken", String(verdict));
    }
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (found < migrations.length) {
      if (found > 0) {
        const backup = freeName(`${path}.version-${found}`);
        database.prepare("VACUUM INTO ?").run(backup);
      }
      database.exec("BEGIN IMMEDIATE");
      for (const statement of migrations.slice(found)) database.exec(statement);
      database.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
    }
    // A daemon that ended while it read a file for the first time left bytes of it behind. The file is read again, and its
    // number given to whichever comes first: that one's archive must not begin with another's bytes.
    database.exec("DELETE FROM chunk WHERE file_id NOT IN (SELECT id FROM file)");
    const store = createStore(database);
    // Rows that cannot be read are found now, while there is still a way out.
    let loaded: ReturnType<SessionStore["load"]> | undefined = store.load();
    return {
      ...store,
      load() {
        const rows = loaded ?? store.load();
        loaded = undefined;
        return rows;
      },
      close() {
        store.close();
        lock.close();
      },
    };
  } catch (error) {
    database.close();
    throw error instanceof NewerStore ? error : asStoreError(error);
  }
}

function hasHeader(path: string): boolean {
  const bytes = new Uint8Array(16);
  const file = openSync(path, "r");
  try {
    return readSync(file, bytes) === 16 && new TextDecoder().decode(bytes) === "SQLite format 3\0";
  } finally {
    closeSync(file);
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}
const versionOf = (database: DatabaseSync) => pragma(database, "user_version");

function createStore(database: DatabaseSync): SessionStore {
  const statements = {
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
    removeChunk: database.prepare("DELETE FROM chunk WHERE file_id = ? AND start = ?"),
    putChunk: database.prepare("INSERT INTO chunk (file_id, start, length, compressed) VALUES (?, ?, ?, ?)"),
    places: database.prepare("SELECT start, length FROM chunk WHERE file_id = ? ORDER BY start"),
    lastChunk: database.prepare(
      "SELECT start, length, compressed FROM chunk WHERE file_id = ? ORDER BY start DESC LIMIT 1",
    ),
    chunkAt: database.prepare(
      "SELECT start, length, compressed FROM chunk WHERE file_id = ? AND start <= ? ORDER BY start DESC LIMIT 1",
    ),
  };

  return {
    load: () =>
      guarded(() => ({
        files: statements.files.all().map(fileOf),
        sessions: statements.sessions.all().map(sessionOf),
      })),

    write(batch: StoreBatch) {
      guarded(() => {
        database.exec("BEGIN IMMEDIATE");
        try {
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
          database.exec("COMMIT");
        } catch (error) {
          // A full disk may already have rolled it back.
          if (database.isTransaction) database.exec("ROLLBACK");
          throw error;
        }
      });
    },

    archivedTo: (file_id) =>
      guarded(() => {
        let end = 0;
        for (const row of statements.places.iterate(file_id)) {
          if (number(row.start) !== end) break;
          end += number(row.length);
        }
        return end;
      }),

    shortTail: (file_id, limit) =>
      guarded(() => {
        const row = statements.lastChunk.get(file_id);
        if (!row || number(row.length) >= limit) return undefined;
        return { start: number(row.start), bytes: unpack(row) };
      }),

    read: (file_id, from, to) =>
      guarded(() => {
        const row = statements.chunkAt.get(file_id, from);
        if (!row) return new Uint8Array();
        const start = number(row.start);
        return unpack(row).subarray(from - start, to - start);
      }),

    close() {
      database.close();
    },
  };
}

function unpack(row: Record<string, SQLOutputValue>): Uint8Array {
  if (!(row.compressed instanceof Uint8Array)) throw new StoreError("broken", "a chunk holds no bytes");
  const length = number(row.length);
  let bytes: Uint8Array;
  try {
    bytes = zstdDecompressSync(row.compressed, { maxOutputLength: Math.max(length, 1) });
  } catch (error) {
    throw new StoreError("broken", `a chunk of the archive is damaged: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (bytes.length !== length) throw new StoreError("broken", "a chunk of the archive has another length");
  return bytes;
}

function number(value: SQLOutputValue | undefined): number {
  if (typeof value !== "number") throw new StoreError("broken", "a number is missing");
  return value;
}
function text(value: SQLOutputValue | undefined): string {
  if (typeof value !== "string") throw new StoreError("broken", "a text is missing");
  return value;
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
      // Both were written by this module only, and a flipped bit breaks the JSON or the page, not the shape.
      open_calls: JSON.parse(text(row.open_calls)) as OpenCalls,
      ...(typeof row.facts === "string" && { facts: JSON.parse(row.facts) as SessionLinkFacts }),
    };
  } catch (error) {
    throw new StoreError("broken", `a row of the list cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

const BUSY = 5;

function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  // The low byte is the code, the rest says more about it.
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  // CORRUPT and NOTADB; a schema that lost its tables shows as a plain ERROR while statements are prepared.
  const broken =
    code === 11 || code === 26 || (code === 1 && /no such (table|column)|malformed/.test(messageOf(error)));
  // IOERR and FULL
  const full = code === 10 || code === 13;
  return new StoreError(broken ? "broken" : full ? "full" : "refused", messageOf(error), { cause: error });
}

function guarded<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error);
  }
}
