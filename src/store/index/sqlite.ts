import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../contract.ts";
import { INDEX_VERSION, type PartIndex } from "./contract.ts";
import { searchTables } from "./search.ts";
import { createPastReader } from "./sqlite-past.ts";
import { createReader } from "./sqlite-reader.ts";
import { guarded } from "./sqlite-rows.ts";
import { createWriter } from "./sqlite-writer.ts";
import { sumUsage } from "./usage-sums.ts";

/**
 * `part.id` is `session.ref × MAX_PARTS + seq`, and also the row id of the part's text in `part_text`, so that a session's parts
 * are one range. `step.id` is the id of the step's first part. `text_block.id` is the id of the first of `BLOCK` parts whose
 * texts it contains. See docs/decisions/0023-part-index.md.
 */
const SCHEMA = `
  CREATE TABLE source (key TEXT PRIMARY KEY, stamp TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE segment (
    source TEXT NOT NULL,
    segment INTEGER NOT NULL,
    byte INTEGER NOT NULL,
    version INTEGER NOT NULL,
    agent TEXT NOT NULL,
    checkpoint_byte INTEGER NOT NULL,
    state BLOB NOT NULL,
    transcripts TEXT NOT NULL,
    PRIMARY KEY (source, segment)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE session (
    ref INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    title TEXT,
    cwd TEXT,
    model TEXT,
    is_run INTEGER NOT NULL,
    started_at REAL,
    last_activity_at REAL NOT NULL,
    part_count INTEGER NOT NULL,
    UNIQUE (source, id)
  ) STRICT;
  CREATE TABLE turn (
    session_ref INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    title TEXT,
    started_at REAL,
    ended_at REAL,
    steps INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    model TEXT,
    PRIMARY KEY (session_ref, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    part_id BLOB NOT NULL,
    kind INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    step INTEGER,
    tool TEXT,
    status INTEGER,
    mine INTEGER,
    started_at REAL,
    ended_at REAL,
    tokens INTEGER,
    line INTEGER,
    byte INTEGER,
    record TEXT,
    full_length INTEGER
  ) STRICT;
  CREATE TABLE step (
    id INTEGER PRIMARY KEY,
    at REAL,
    model TEXT,
    active REAL NOT NULL,
    tool_calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    cache_write_1h INTEGER,
    reasoning INTEGER,
    cost REAL
  ) STRICT;
  CREATE INDEX step_at ON step (at);
  CREATE INDEX part_by_id ON part (substr(part_id, 1, 4));
  CREATE INDEX part_cut ON part (full_length) WHERE full_length IS NOT NULL;
  CREATE TABLE text_block (id INTEGER PRIMARY KEY, texts BLOB NOT NULL) STRICT;
  CREATE VIRTUAL TABLE part_text USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram'
  );
`;

/** Time that a write waits for another thread's write, in milliseconds. */
const BUSY_MS = 120_000;
const CACHE_KB = 8_192;

/**
 * Prepares the index of a data folder for opening: deletes a damaged one or one of another version, and creates an empty one.
 * `rebuilt`: an existing one was deleted. Throws a `StoreError` on disk errors.
 */
export function prepareIndex(path: string): { rebuilt: boolean } {
  const existed = existsSync(path);
  if (existed && isUsable(path)) return { rebuilt: false };
  deleteIndex(path);
  guarded(() => {
    const database = new DatabaseSync(path);
    try {
      database.exec(
        `PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; BEGIN; ${SCHEMA} PRAGMA user_version = ${INDEX_VERSION}; COMMIT`,
      );
    } finally {
      database.close();
    }
  });
  return { rebuilt: existed };
}

export function deleteIndex(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}

function isUsable(path: string): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: BUSY_MS });
    if (Number(database.prepare("PRAGMA user_version").get()?.user_version) !== INDEX_VERSION) return false;
    database.prepare("SELECT count(*) FROM source").get();
    database.prepare("SELECT count(*) FROM part_text WHERE rowid < 0").get();
    return true;
  } catch {
    return false;
  } finally {
    database?.close();
  }
}

/** Opens an index prepared by `prepareIndex`. `read_only`: for searching. */
export function openSqliteIndex(path: string, { read_only = false } = {}): PartIndex {
  return guarded(() => {
    const database = new DatabaseSync(path, { timeout: BUSY_MS, readOnly: read_only });
    // Data lost in a power failure is rebuilt, so writes need not wait for the disk.
    database.exec(`PRAGMA synchronous = ${read_only ? "NORMAL" : "OFF"}; PRAGMA cache_size = -${CACHE_KB};`);
    const reader = createReader(database);
    const past = createPastReader(database, reader.sessions);
    const write = read_only ? undefined : createWriter(database);
    return {
      sources: async () =>
        guarded(() =>
          database
            .prepare("SELECT key, stamp FROM source")
            .all()
            .map(({ key, stamp }) => ({ key: String(key), stamp: String(stamp) })),
        ),
      async write(updates) {
        if (!write) throw new StoreError("refused", "the index was opened read-only");
        reader.invalidate();
        return write.write(updates);
      },
      async remove(keys) {
        reader.invalidate();
        write?.remove(keys);
      },
      search: async (request) => guarded(() => searchTables(reader.tables, request)),
      usage: async (request) => guarded(() => sumUsage(reader.steps(request.since), request)),
      past: async (request) => guarded(() => past(request)),
      sessions: async () =>
        guarded(() =>
          reader.sessions().map(({ session, source, part_count }) => ({ ...session, source, part_count })),
        ),
      turns: async (source, id) => guarded(() => reader.turns(source, id)),
      parts: async (source, id, from, to) => guarded(() => reader.parts(source, id, from, to)),
      segments: async () => guarded(() => reader.segments()),
      segmentsOf: async (source) => guarded(() => reader.segmentsOf(source)),
      segment: async (source, segment) => guarded(() => reader.segment(source, segment)),
      position: async (source, session_id, part_id) =>
        guarded(() => reader.position(source, session_id, part_id)),
      close: async () => database.close(),
    };
  });
}
