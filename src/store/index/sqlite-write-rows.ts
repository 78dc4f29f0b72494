import type { DatabaseSync } from "node:sqlite";
import { USAGE_FIELDS } from "../../model/messages/usage-fields.ts";
import { PART_KINDS, PART_STATUSES } from "../../model/search/query.ts";
import {
  type IndexedPart,
  type IndexedStep,
  type IndexedTurn,
  MAX_PARTS,
  type SessionUpdate,
} from "./contract.ts";
import { stepOf } from "./sqlite-rows.ts";

/** The prepared statements of a writer. */
export type WriteStatements = ReturnType<typeof prepareWrites>;

/** Prepares the statements of a writer. */
export function prepareWrites(database: DatabaseSync) {
  return {
    putSource: database.prepare("INSERT OR REPLACE INTO source (key, stamp) VALUES (?, ?)"),
    putSegment: database.prepare(
      `INSERT OR REPLACE INTO segment (source, segment, byte, version, agent, checkpoint_byte, state, transcripts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    removeSegments: database.prepare("DELETE FROM segment WHERE source = ?"),
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
    steps: database.prepare("SELECT * FROM step WHERE id >= ? AND id < ?"),
    putStep: database.prepare(
      `INSERT OR REPLACE INTO step (id, at, model, active, tool_calls, failed, ${USAGE_FIELDS.join(", ")})
       VALUES (?, ?, ?, ?, ?, ?${", ?".repeat(USAGE_FIELDS.length)})`,
    ),
    removeStep: database.prepare("DELETE FROM step WHERE id = ?"),
    removeSteps: database.prepare("DELETE FROM step WHERE id >= ? AND id < ?"),
    putText: database.prepare("INSERT INTO part_text (rowid, text) VALUES (?, ?)"),
    removeText: database.prepare("DELETE FROM part_text WHERE rowid = ?"),
    removeTexts: database.prepare(
      "DELETE FROM part_text WHERE rowid IN (SELECT id FROM part WHERE id >= ? AND id < ?)",
    ),
    block: database.prepare("SELECT texts FROM text_block WHERE id = ?"),
    putBlock: database.prepare("INSERT OR REPLACE INTO text_block (id, texts) VALUES (?, ?)"),
    removeBlocks: database.prepare("DELETE FROM text_block WHERE id >= ? AND id < ?"),
  };
}

/** Adds or replaces the row of a session. Returns its reference. */
export function putSession(statements: WriteStatements, source: string, session: SessionUpdate): number {
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

/** Adds or replaces the row of a turn. */
export function putTurn(statements: WriteStatements, ref: number, turn: IndexedTurn): void {
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

/** Adds or replaces the row of a part, without its text. */
export function putPart(statements: WriteStatements, base: number, part: IndexedPart): void {
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

/** Replaces the rows of a session's steps. Equal rows are not written again. */
export function putSteps(
  statements: WriteStatements,
  ref: number,
  { steps, steps_from }: SessionUpdate,
): void {
  const base = ref * MAX_PARTS;
  const known = new Map<number, string>();
  for (const row of statements.steps.iterate(base + steps_from, base + MAX_PARTS)) {
    const step = stepOf(row);
    known.set(step.seq, JSON.stringify(step));
  }
  for (const step of steps) {
    if (step.seq >= MAX_PARTS) break;
    const before = known.get(step.seq);
    known.delete(step.seq);
    const row = stepRow(base, step);
    if (before === JSON.stringify(stepOf(row))) continue;
    statements.putStep.run(...Object.values(row));
  }
  for (const seq of known.keys()) statements.removeStep.run(base + seq);
}

/** A row of `step`, its columns in the order of `putStep`. */
function stepRow(base: number, { seq, at, model, active, tool_calls, failed, usage }: IndexedStep) {
  const counts = USAGE_FIELDS.map((column) => [column, usage?.[column] ?? null] as const);
  return {
    ...{ id: base + seq, at: at ?? null, model: model ?? null, active, tool_calls, failed },
    ...Object.fromEntries(counts),
  };
}
