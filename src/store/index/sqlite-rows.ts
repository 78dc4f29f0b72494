import type { SQLOutputValue } from "node:sqlite";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import * as z from "zod";
import type { Usage } from "../../model/messages/message.ts";
import { USAGE_FIELDS } from "../../model/messages/usage-fields.ts";
import { PART_KINDS, PART_STATUSES } from "../../model/search/query.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import { type TranscriptStart, transcriptStart } from "../../model/transcript/transcript-start.ts";
import { tableOfTurns, turnsOfTable } from "../../model/transcript/turn-table.ts";
import { turnTable } from "../../model/transcript/turn-table-schema.ts";
import type { Checkpoint } from "../../sources/contract.ts";
import { StoreError } from "../contract.ts";
import { guarded as guardedStore } from "../sqlite/errors.ts";
import {
  type IndexedPart,
  type IndexedSession,
  type IndexedStep,
  type IndexedTurn,
  MAX_PARTS,
  type SegmentStart,
} from "./contract.ts";
import type { SessionEntry } from "./search.ts";

/** Number of parts whose texts are compressed together: about 60 KB. */
export const BLOCK = 64;
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

/** The fields of a part that its row contains. */
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

/** Whether two parts have equal rows. */
export const isSameRow = (one: Omit<IndexedPart, "text">, other: IndexedPart): boolean =>
  ROW_FIELDS.every((field) => one[field] === other[field]);

/** Compresses the texts of a block. */
export function pack(texts: readonly (string | undefined)[]): Uint8Array {
  return zstdCompressSync(JSON.stringify(Array.from(texts, (text) => text ?? "")), COMPRESSION);
}

/** The texts of a compressed block. */
export function unpack(block: Uint8Array): string[] {
  const texts: unknown = JSON.parse(zstdDecompressSync(block).toString("utf8"));
  if (!Array.isArray(texts)) throw new StoreError("broken", "a block of texts is invalid");
  return texts.map(String);
}

/** The start of a transcript as it is stored. */
const storedStart = transcriptStart.extend({ turns: turnTable });

/** Serializes the starts of transcripts. They are not compressed, because opening a huge session reads those of all its segments. */
export const serializeStarts = (starts: readonly TranscriptStart[]): string =>
  JSON.stringify(starts.map((start) => ({ ...start, turns: tableOfTurns(start.turns) })));

export const packText = (text: string): Uint8Array => zstdCompressSync(text, COMPRESSION);
const unpackText = (bytes: Uint8Array): string => zstdDecompressSync(bytes).toString("utf8");

/** Parses a row of `segment`, without the checkpoint. */
export function segmentOf(row: Record<string, SQLOutputValue>): Omit<SegmentStart, "checkpoint"> {
  const { transcripts } = row;
  if (typeof transcripts !== "string") throw invalidSegment();
  const starts = z.array(storedStart).safeParse(JSON.parse(transcripts));
  if (!starts.success) throw invalidSegment();
  return {
    segment: Number(row.segment),
    byte: Number(row.byte),
    version: Number(row.version),
    transcripts: starts.data.map(({ turns, ...start }) => ({
      ...start,
      turns: turnsOfTable(turns, start.session_id),
    })),
  };
}

/** Parses the checkpoint in a row of `segment`. */
export function checkpointOf(row: Record<string, SQLOutputValue>): Checkpoint {
  const { agent, state } = row;
  if (typeof agent !== "string" || !(state instanceof Uint8Array)) throw invalidSegment();
  return { agent, byte: Number(row.checkpoint_byte), state: unpackText(state) };
}

const invalidSegment = (): StoreError => new StoreError("broken", "the start of a segment is invalid");

/** A session with its number of parts. */
export interface SessionRow extends SessionEntry {
  readonly part_count: number;
}

/** Parses a row of `session`. */
export function sessionOf(row: Record<string, SQLOutputValue>): SessionRow {
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

/** Parses a row of `step`. */
export function stepOf(row: Record<string, SQLOutputValue>): IndexedStep {
  const step: IndexedStep = {
    seq: Number(row.id) % MAX_PARTS,
    ...(typeof row.at === "number" && { at: row.at }),
    ...(typeof row.model === "string" && { model: row.model }),
    active: Number(row.active),
    tool_calls: Number(row.tool_calls),
    failed: Number(row.failed),
  };
  if (typeof row.input !== "number" || typeof row.output !== "number") return step;
  const usage: Usage = { input: row.input, output: row.output };
  for (const column of USAGE_FIELDS) {
    const count = row[column];
    if (typeof count === "number") usage[column] = count;
  }
  return { ...step, usage };
}

/** Parses a row of `turn`. */
export function turnOf(row: Record<string, SQLOutputValue>): IndexedTurn {
  const turn: IndexedTurn = {
    index: Number(row.position),
    id: String(row.id),
    first_seq: Number(row.first_seq),
    // The cast is safe: only `sqlite-writer.ts` writes the column.
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

/** Parses a row of `part`. */
export function rowOf(row: Record<string, SQLOutputValue>): Omit<IndexedPart, "text"> {
  const kind = PART_KINDS[Number(row.kind)];
  if (kind === undefined || !(row.part_id instanceof Uint8Array))
    throw new StoreError("broken", "a part's row is invalid");
  const part: Omit<IndexedPart, "text"> = {
    seq: Number(row.id) % MAX_PARTS,
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

/** The text form of a UUID. */
export const uuidOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** Converts SQLite errors to `StoreError`s that name the part index. */
export const guarded = <Value>(work: () => Value): Value => guardedStore(work, "the part index");
