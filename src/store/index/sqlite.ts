import { existsSync, rmSync } from "node:fs";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { indexForm } from "../../model/search/match.ts";
import { PART_KINDS, PART_STATUSES } from "../../model/search/query.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import { StoreError } from "../contract.ts";
import { asStoreError } from "../sqlite/database.ts";
import {
  INDEX_VERSION,
  type IndexedPart,
  type IndexedSession,
  type IndexedTurn,
  MOST_PARTS,
  type PartIndex,
  type SessionUpdate,
  type SourceUpdate,
  type WriteReport,
} from "./contract.ts";
import { type SearchTables, type SessionEntry, searchTables } from "./search.ts";

/**
 * `part.id` is `session.ref × MOST_PARTS + seq`, and also the row id of the part's text in `part_text`, so that a session's parts
 * are one range. `text_block.id` is the id of the first of `BLOCK` parts whose texts it contains. See
 * docs/decisions/0023-part-index.md.
 */
const SCHEMA = `
  CREATE TABLE source (key TEXT PRIMARY KEY, stamp TEXT NOT NULL) STRICT, WITHOUT ROWID;
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
  CREATE INDEX part_cut ON part (full_length) WHERE full_length IS NOT NULL;
  CREATE TABLE text_block (id INTEGER PRIMARY KEY, texts BLOB NOT NULL) STRICT;
  CREATE VIRTUAL TABLE part_text USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram'
  );
`;

/** Number of parts whose texts are compressed together: about 60 KB. */
const BLOCK = 64;
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
/** Number of decompressed blocks that are cached. */
const MOST_BLOCKS = 8;
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
        return write.write(updates);
      },
      remove: async (keys) => write?.remove(keys),
      search: async (request) => guarded(() => searchTables(reader.tables, request)),
      sessions: async () =>
        guarded(() =>
          reader.sessions().map(({ session, source, part_count }) => ({ ...session, source, part_count })),
        ),
      turns: async (source, id) => guarded(() => reader.turns(source, id)),
      parts: async (source, id, from, to) => guarded(() => reader.parts(source, id, from, to)),
      close: async () => database.close(),
    };
  });
}

// --- Writing ----------------------------------------------------------------------------------------------------------

function createWriter(database: DatabaseSync) {
  const statements = {
    putSource: database.prepare("INSERT OR REPLACE INTO source (key, stamp) VALUES (?, ?)"),
    removeSource: database.prepare("DELETE FROM source WHERE key = ?"),
    sessionsOf: database.prepare("SELECT ref, id FROM session WHERE source = ?"),
    addSession: database.prepare(
      `INSERT INTO session (source, id, agent, title, cwd, model, is_run, started_at, last_activity_at, part_count)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (source, id) DO UPDATE SET agent = excluded.agent, title = excluded.title, cwd = excluded.cwd,
         model = excluded.model, is_run = excluded.is_run, started_at = excluded.started_at,
         last_activity_at = excluded.last_activity_at, part_count = excluded.part_count
       RETURNING ref`,
    ),
    removeSession: database.prepare("DELETE FROM session WHERE ref = ?"),
    putTurn: database.prepare(
      `INSERT OR REPLACE INTO turn (session_ref, position, id, first_seq, status, title, started_at, ended_at, steps, tool_calls, errors, model)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    removeTurns: database.prepare("DELETE FROM turn WHERE session_ref = ? AND position >= ?"),
    parts: database.prepare("SELECT * FROM part WHERE id >= ? AND id < ?"),
    putPart: database.prepare(
      `INSERT OR REPLACE INTO part (id, part_id, kind, turn, step, tool, status, mine, started_at, ended_at, tokens, line, byte, record, full_length)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    removeParts: database.prepare("DELETE FROM part WHERE id >= ? AND id < ?"),
    putText: database.prepare("INSERT INTO part_text (rowid, text) VALUES (?, ?)"),
    removeText: database.prepare("DELETE FROM part_text WHERE rowid = ?"),
    removeTexts: database.prepare(
      "DELETE FROM part_text WHERE rowid IN (SELECT id FROM part WHERE id >= ? AND id < ?)",
    ),
    block: database.prepare("SELECT texts FROM text_block WHERE id = ?"),
    putBlock: database.prepare("INSERT OR REPLACE INTO text_block (id, texts) VALUES (?, ?)"),
    removeBlocks: database.prepare("DELETE FROM text_block WHERE id >= ? AND id < ?"),
  };

  function write(updates: readonly SourceUpdate[]): WriteReport {
    const report: WriteReport = { written: 0, unchanged: 0 };
    transaction(database, () => {
      for (const update of updates) putSource(update, report);
    });
    return report;
  }

  function putSource({ key, stamp, sessions }: SourceUpdate, report: WriteReport): void {
    const known = new Map(statements.sessionsOf.all(key).map(({ id, ref }) => [String(id), Number(ref)]));
    for (const session of sessions) {
      const isNew = !known.delete(session.id);
      const ref = putSession(key, session);
      putParts(ref, session, isNew, report);
      for (const turn of session.turns) putTurn(ref, turn);
      if (stamp === undefined || isNew) continue;
      removePartsFrom(ref, session.part_count);
      const last = session.turns.at(-1);
      if (last) statements.removeTurns.run(ref, last.index + 1);
    }
    if (stamp !== undefined) for (const ref of known.values()) removeSession(ref);
    statements.putSource.run(key, stamp ?? "");
  }

  function putSession(source: string, session: SessionUpdate): number {
    const row = statements.addSession.get(
      source,
      session.id,
      session.agent,
      session.title ?? null,
      session.cwd ?? null,
      session.model ?? null,
      session.is_run ? 1 : 0,
      session.started_at ?? null,
      session.last_activity_at,
      session.part_count,
    );
    return Number(row?.ref);
  }

  function putTurn(ref: number, turn: IndexedTurn): void {
    statements.putTurn.run(
      ref,
      turn.index,
      turn.id,
      turn.first_seq,
      turn.status,
      turn.title ?? null,
      turn.started_at ?? null,
      turn.ended_at ?? null,
      turn.steps,
      turn.tool_calls,
      turn.errors,
      turn.model ?? null,
    );
  }

  function putParts(ref: number, { parts }: SessionUpdate, isNew: boolean, report: WriteReport): void {
    const first = parts[0];
    const last = parts.at(-1);
    if (!first || !last) return;
    const base = ref * MOST_PARTS;
    const known = new Map<number, Omit<IndexedPart, "text">>();
    if (!isNew) {
      for (const row of statements.parts.iterate(base + first.seq, base + last.seq + 1)) {
        const part = rowOf(row);
        known.set(part.seq, part);
      }
    }
    /** The block that is being compared or changed. */
    let block = -1;
    let texts: string[] = [];
    let is_changed = false;
    const endBlock = () => {
      if (is_changed) statements.putBlock.run(base + block, pack(texts));
      is_changed = false;
    };
    for (const part of parts) {
      if (part.seq >= MOST_PARTS) break;
      const own_block = part.seq - (part.seq % BLOCK);
      if (own_block !== block) {
        endBlock();
        block = own_block;
        const stored = isNew ? undefined : statements.block.get(base + block);
        texts = stored?.texts instanceof Uint8Array ? unpack(stored.texts) : [];
      }
      const before = known.get(part.seq);
      const text_before = before && texts[part.seq - block];
      if (before && text_before === part.text && isSameRow(before, part)) {
        report.unchanged += 1;
        continue;
      }
      report.written += 1;
      putPart(base, part);
      if (text_before === part.text) continue;
      if (before) statements.removeText.run(base + part.seq);
      if (part.text !== "") statements.putText.run(base + part.seq, indexForm(part.text));
      texts[part.seq - block] = part.text;
      is_changed = true;
    }
    endBlock();
  }

  function putPart(base: number, part: IndexedPart): void {
    statements.putPart.run(
      base + part.seq,
      Buffer.from(part.id.replaceAll("-", ""), "hex"),
      PART_KINDS.indexOf(part.kind),
      part.turn,
      part.step ?? null,
      part.tool ?? null,
      part.status === undefined ? null : PART_STATUSES.indexOf(part.status),
      part.mine ? 1 : null,
      part.started_at ?? null,
      part.ended_at ?? null,
      part.tokens ?? null,
      part.line ?? null,
      part.byte ?? null,
      part.record ?? null,
      part.full_length ?? null,
    );
  }

  /** Texts in the last block stay: no row refers to them, and the next part at their position replaces them. */
  function removePartsFrom(ref: number, seq: number): void {
    const from = ref * MOST_PARTS + seq;
    const end = (ref + 1) * MOST_PARTS;
    statements.removeTexts.run(from, end);
    statements.removeParts.run(from, end);
    statements.removeBlocks.run(from, end);
  }

  function removeSession(ref: number): void {
    removePartsFrom(ref, 0);
    statements.removeTurns.run(ref, 0);
    statements.removeSession.run(ref);
  }

  return {
    write: (updates: readonly SourceUpdate[]) => guarded(() => write(updates)),
    remove: (keys: readonly string[]) =>
      guarded(() =>
        transaction(database, () => {
          for (const key of keys) {
            for (const { ref } of statements.sessionsOf.all(key)) removeSession(Number(ref));
            statements.removeSource.run(key);
          }
        }),
      ),
  };
}

const ROW_FIELDS = [
  "id",
  "kind",
  "turn",
  "step",
  "tool",
  "status",
  "mine",
  "started_at",
  "ended_at",
  "tokens",
  "line",
  "byte",
  "record",
  "full_length",
] as const satisfies readonly (keyof IndexedPart)[];
const isSameRow = (one: Omit<IndexedPart, "text">, other: IndexedPart): boolean =>
  ROW_FIELDS.every((field) => one[field] === other[field]);

function pack(texts: readonly (string | undefined)[]): Uint8Array {
  return zstdCompressSync(JSON.stringify(Array.from(texts, (text) => text ?? "")), COMPRESSION);
}

function unpack(block: Uint8Array): string[] {
  const texts: unknown = JSON.parse(zstdDecompressSync(block).toString("utf8"));
  if (!Array.isArray(texts)) throw new StoreError("broken", "a block of texts is invalid");
  return texts.map(String);
}

// --- Reading ----------------------------------------------------------------------------------------------------------

interface SessionRow extends SessionEntry {
  readonly part_count: number;
}

function createReader(database: DatabaseSync) {
  const statements = {
    version: database.prepare("PRAGMA data_version"),
    sessions: database.prepare("SELECT * FROM session ORDER BY last_activity_at DESC, ref DESC"),
    session: database.prepare("SELECT ref FROM session WHERE source = ? AND id = ?"),
    turns: database.prepare("SELECT * FROM turn WHERE session_ref = ? ORDER BY position"),
    turnTitle: database.prepare("SELECT title FROM turn WHERE session_ref = ? AND position = ?"),
    part: database.prepare("SELECT * FROM part WHERE id = ?"),
    parts: database.prepare("SELECT * FROM part WHERE id >= ? AND id < ? ORDER BY id"),
    positions: database.prepare("SELECT * FROM part WHERE id >= ? AND id < ? ORDER BY id DESC"),
    block: database.prepare("SELECT texts FROM text_block WHERE id = ?"),
    cut: database.prepare("SELECT count(*) AS n FROM part WHERE full_length IS NOT NULL"),
    /** One row per session: a row per candidate would cost more than the lookup. */
    candidates: database.prepare(
      `SELECT rowid / ${MOST_PARTS} AS ref, group_concat(rowid % ${MOST_PARTS}) AS seqs
       FROM part_text WHERE part_text MATCH ? GROUP BY 1`,
    ),
  };
  /** Valid until another connection writes. */
  let cached: { version: number; sessions?: SessionRow[]; cut?: number } = { version: -1 };
  const blocks = new Map<number, string[]>();

  function current() {
    const version = Number(Object.values(statements.version.get() ?? {})[0]);
    if (version !== cached.version) {
      cached = { version };
      blocks.clear();
    }
    return cached;
  }

  function sessions(): SessionRow[] {
    const cache = current();
    cache.sessions ??= statements.sessions.all().map(sessionOf);
    return cache.sessions;
  }

  function textOf(id: number): string {
    const block = id - (id % BLOCK);
    let texts = blocks.get(block);
    if (texts === undefined) {
      const row = statements.block.get(block);
      texts = row?.texts instanceof Uint8Array ? unpack(row.texts) : [];
      blocks.set(block, texts);
      if (blocks.size > MOST_BLOCKS)
        for (const oldest of blocks.keys()) return drop(oldest, texts[id - block]);
    }
    return texts[id - block] ?? "";
  }

  function drop(block: number, text: string | undefined): string {
    blocks.delete(block);
    return text ?? "";
  }

  const partOf = (row: Record<string, SQLOutputValue>): IndexedPart => ({
    ...rowOf(row),
    text: textOf(Number(row.id)),
  });

  const tables: SearchTables = {
    sessions,
    candidates(trigrams) {
      const found = new Map<number, readonly number[]>();
      for (const { ref, seqs } of statements.candidates.iterate(matchOf(trigrams))) {
        const positions = String(seqs).split(",").map(Number);
        found.set(
          Number(ref),
          positions.sort((one, other) => other - one),
        );
      }
      return found;
    },
    *positions(ref, filter) {
      const base = ref * MOST_PARTS;
      for (const row of statements.positions.iterate(base, base + MOST_PARTS))
        if (filter(rowOf(row))) yield Number(row.id) - base;
    },
    row(ref, seq) {
      const row = statements.part.get(ref * MOST_PARTS + seq);
      return row && rowOf(row);
    },
    text: (ref, seq) => textOf(ref * MOST_PARTS + seq),
    turnTitle(ref, turn) {
      const title = statements.turnTitle.get(ref, turn)?.title;
      return typeof title === "string" ? title : undefined;
    },
    cutParts() {
      const cache = current();
      cache.cut ??= Number(statements.cut.get()?.n);
      return cache.cut;
    },
  };

  const refOf = (source: string, id: string) => {
    const ref = statements.session.get(source, id)?.ref;
    return ref === undefined ? undefined : Number(ref);
  };

  return {
    tables,
    sessions,
    turns(source: string, id: string): IndexedTurn[] {
      const ref = refOf(source, id);
      return ref === undefined ? [] : statements.turns.all(ref).map(turnOf);
    },
    parts(source: string, id: string, from: number, to: number): IndexedPart[] {
      const ref = refOf(source, id);
      if (ref === undefined) return [];
      const base = ref * MOST_PARTS;
      return statements.parts.all(base + from, base + Math.min(to, MOST_PARTS)).map(partOf);
    },
  };
}

/** `detail = none` does not support phrases: each trigram is a separate term. */
const matchOf = (trigrams: readonly string[]): string =>
  trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(" AND ");

function sessionOf(row: Record<string, SQLOutputValue>): SessionRow {
  const session: IndexedSession = {
    id: String(row.id),
    agent: String(row.agent),
    is_run: row.is_run === 1,
    last_activity_at: Number(row.last_activity_at),
  };
  if (typeof row.title === "string") session.title = row.title;
  if (typeof row.cwd === "string") session.cwd = row.cwd;
  if (typeof row.model === "string") session.model = row.model;
  if (typeof row.started_at === "number") session.started_at = row.started_at;
  return { ref: Number(row.ref), source: String(row.source), session, part_count: Number(row.part_count) };
}

function turnOf(row: Record<string, SQLOutputValue>): IndexedTurn {
  const turn: IndexedTurn = {
    index: Number(row.position),
    id: String(row.id),
    first_seq: Number(row.first_seq),
    // The cast is safe: only this module writes the column.
    status: String(row.status) as TurnStatus,
    steps: Number(row.steps),
    tool_calls: Number(row.tool_calls),
    errors: Number(row.errors),
  };
  if (typeof row.title === "string") turn.title = row.title;
  if (typeof row.started_at === "number") turn.started_at = row.started_at;
  if (typeof row.ended_at === "number") turn.ended_at = row.ended_at;
  if (typeof row.model === "string") turn.model = row.model;
  return turn;
}

function rowOf(row: Record<string, SQLOutputValue>): Omit<IndexedPart, "text"> {
  const kind = PART_KINDS[Number(row.kind)];
  if (kind === undefined || !(row.part_id instanceof Uint8Array))
    throw new StoreError("broken", "a part's row is invalid");
  const part: Omit<IndexedPart, "text"> = {
    seq: Number(row.id) % MOST_PARTS,
    id: uuidOf(row.part_id),
    kind,
    turn: Number(row.turn),
  };
  const status = typeof row.status === "number" ? PART_STATUSES[row.status] : undefined;
  if (status !== undefined) part.status = status;
  if (typeof row.step === "number") part.step = row.step;
  if (typeof row.tool === "string") part.tool = row.tool;
  if (row.mine === 1) part.mine = true;
  if (typeof row.started_at === "number") part.started_at = row.started_at;
  if (typeof row.ended_at === "number") part.ended_at = row.ended_at;
  if (typeof row.tokens === "number") part.tokens = row.tokens;
  if (typeof row.line === "number") part.line = row.line;
  if (typeof row.byte === "number") part.byte = row.byte;
  if (typeof row.record === "string") part.record = row.record;
  if (typeof row.full_length === "number") part.full_length = row.full_length;
  return part;
}

const uuidOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

function transaction(database: DatabaseSync, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function guarded<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error, "the part index");
  }
}
