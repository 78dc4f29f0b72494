import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { PART_KINDS, PART_STATUSES, type SearchFilter } from "../../model/search/query.ts";
import {
  type IndexedPart,
  type IndexedStep,
  type IndexedTurn,
  MAX_PARTS,
  type SegmentStart,
} from "./contract.ts";
import type { SearchTables } from "./search.ts";
import {
  BLOCK,
  checkpointOf,
  rowOf,
  type SessionRow,
  segmentOf,
  sessionOf,
  stepOf,
  turnOf,
  unpack,
} from "./sqlite-rows.ts";

/** Number of decompressed blocks that are cached. */
const MAX_BLOCKS = 8;

function prepareReads(database: DatabaseSync) {
  return {
    version: database.prepare("PRAGMA data_version"),
    sessions: database.prepare("SELECT * FROM session ORDER BY last_activity_at DESC, ref DESC"),
    session: database.prepare("SELECT ref FROM session WHERE source = ? AND id = ?"),
    segments: database.prepare("SELECT source, segment, version FROM segment"),
    segment: database.prepare("SELECT * FROM segment WHERE source = ? AND segment = ?"),
    segmentsOf: database.prepare(
      "SELECT segment, byte, version, transcripts FROM segment WHERE source = ? ORDER BY segment",
    ),
    position: database.prepare(
      `SELECT id FROM part WHERE substr(part_id, 1, 4) = substr(unhex(?3), 1, 4) AND part_id = unhex(?3)
       AND id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT 1`,
    ),
    turns: database.prepare("SELECT * FROM turn WHERE session_ref = ? ORDER BY position"),
    turnTitle: database.prepare("SELECT title FROM turn WHERE session_ref = ? AND position = ?"),
    part: database.prepare("SELECT * FROM part WHERE id = ?"),
    parts: database.prepare("SELECT * FROM part WHERE id >= ? AND id < ? ORDER BY id"),
    /** Masks of kinds and statuses (0: any), because reading a row costs many times what skipping it does. */
    positions: database.prepare(
      `SELECT * FROM part WHERE id >= ?1 AND id < ?2 AND (?3 = 0 OR (1 << kind) & ?3) AND (?4 = 0 OR (1 << status) & ?4)
       ORDER BY id DESC`,
    ),
    steps: database.prepare(
      `SELECT step.*, step.id / ${MAX_PARTS} AS ref FROM step WHERE at >= ? OR at IS NULL`,
    ),
    block: database.prepare("SELECT texts FROM text_block WHERE id = ?"),
    /** Only four bytes of the ids are indexed, which keeps the index small. */
    withIds: database.prepare(
      `SELECT part.id FROM json_each(?) JOIN part
       ON substr(part_id, 1, 4) = substr(unhex(value), 1, 4) AND part_id = unhex(value) ORDER BY part.id DESC`,
    ),
    cut: database.prepare("SELECT count(*) AS n FROM part WHERE full_length IS NOT NULL"),
    /** One row per session: a row per candidate would cost more than the lookup. */
    candidates: database.prepare(
      `SELECT rowid / ${MAX_PARTS} AS ref, group_concat(rowid % ${MAX_PARTS}) AS seqs
       FROM part_text WHERE part_text MATCH ? GROUP BY 1`,
    ),
  };
}

/** Reads the index over a connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over a connection and its caches: its methods are short
export function createReader(database: DatabaseSync) {
  const statements = prepareReads(database);
  /** Valid until this or another connection writes. */
  let cached: { version: number; sessions?: SessionRow[]; cut?: number } = { version: -1 };
  const texts = createTexts(statements);

  function current() {
    const version = Number(Object.values(statements.version.get() ?? {})[0]);
    if (version !== cached.version) {
      cached = { version };
      texts.clear();
    }
    return cached;
  }

  /** Call after writes over this connection, which do not change SQLite's `data_version`. */
  function invalidate(): void {
    cached = { version: -1 };
    texts.clear();
  }

  function sessions(): SessionRow[] {
    const cache = current();
    cache.sessions ??= statements.sessions.all().map(sessionOf);
    return cache.sessions;
  }

  const partOf = (row: Record<string, SQLOutputValue>): IndexedPart => ({
    ...rowOf(row),
    text: texts.of(Number(row.id)),
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
    withIds(part_ids) {
      const found = new Map<number, number[]>();
      if (part_ids.length === 0) return found;
      const hex = JSON.stringify(part_ids.map((id) => id.replaceAll("-", "")));
      for (const row of statements.withIds.iterate(hex)) {
        const ref = Math.floor(Number(row.id) / MAX_PARTS);
        const seqs = found.get(ref) ?? [];
        seqs.push(Number(row.id) % MAX_PARTS);
        found.set(ref, seqs);
      }
      return found;
    },
    *positions(ref, { filters, holds }) {
      const base = ref * MAX_PARTS;
      const kinds = maskOf(filters, "kind", PART_KINDS);
      const statuses = maskOf(filters, "status", PART_STATUSES);
      for (const row of statements.positions.iterate(base, base + MAX_PARTS, kinds, statuses))
        if (holds(rowOf(row))) yield Number(row.id) - base;
    },
    row(ref, seq) {
      const row = statements.part.get(ref * MAX_PARTS + seq);
      return row && rowOf(row);
    },
    text: (ref, seq) => texts.of(ref * MAX_PARTS + seq),
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
    segments: () =>
      statements.segments.all().map(({ source, segment, version }) => ({
        source: String(source),
        segment: Number(segment),
        version: Number(version),
      })),
    segment(source: string, segment: number): SegmentStart | undefined {
      const row = statements.segment.get(source, segment);
      return row && { ...segmentOf(row), checkpoint: checkpointOf(row) };
    },
    invalidate,
    // One row at a time: a huge session has 12 MB of them.
    segmentsOf: (source: string) => Array.from(statements.segmentsOf.iterate(source), segmentOf),
    position(source: string, id: string, part_id: string): number | undefined {
      const ref = refOf(source, id);
      if (ref === undefined) return undefined;
      const base = ref * MAX_PARTS;
      const row = statements.position.get(base, base + MAX_PARTS, part_id.replaceAll("-", ""));
      return row && Number(row.id) - base;
    },
    /** The steps since a time, and those without a time. */
    *steps(since: number): Generator<SessionRow & { step: IndexedStep }> {
      const by_ref = new Map(sessions().map((row) => [row.ref, row]));
      for (const row of statements.steps.iterate(since)) {
        const session = by_ref.get(Number(row.ref));
        if (session !== undefined) yield { ...session, step: stepOf(row) };
      }
    },
    parts(source: string, id: string, from: number, to: number): IndexedPart[] {
      const ref = refOf(source, id);
      if (ref === undefined) return [];
      const base = ref * MAX_PARTS;
      return statements.parts.all(base + from, base + Math.min(to, MAX_PARTS)).map(partOf);
    },
  };
}

/** The texts of parts, with a cache of the blocks that were read last. */
function createTexts(statements: ReturnType<typeof prepareReads>) {
  const blocks = new Map<number, string[]>();

  function of(id: number): string {
    const block = id - (id % BLOCK);
    let texts = blocks.get(block);
    if (texts === undefined) {
      const row = statements.block.get(block);
      texts = row?.texts instanceof Uint8Array ? unpack(row.texts) : [];
      blocks.set(block, texts);
      if (blocks.size > MAX_BLOCKS)
        for (const oldest of blocks.keys()) return drop(oldest, texts[id - block]);
    }
    return texts[id - block] ?? "";
  }

  function drop(block: number, text: string | undefined): string {
    blocks.delete(block);
    return text ?? "";
  }

  return { of, clear: () => blocks.clear() };
}

/** `detail = none` does not support phrases: each trigram is a separate term. */
const matchOf = (trigrams: readonly string[]): string =>
  trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(" AND ");

/** A bit mask of the values that the filters require in a column. Bit n is the value `names[n]`. 0: any value matches. */
function maskOf(
  filters: readonly SearchFilter[],
  column: SearchFilter["field"],
  names: readonly string[],
): number {
  let mask = 0;
  for (const { field, value, excluded } of filters) {
    const number = names.indexOf(value);
    if (field === column && !excluded && number !== -1) mask |= 1 << number;
  }
  return mask;
}
