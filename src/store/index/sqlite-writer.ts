import type { DatabaseSync } from "node:sqlite";
import { indexForm } from "../../model/search/match.ts";
import { PART_KINDS, PART_STATUSES } from "../../model/search/query.ts";
import {
  type IndexedPart,
  type IndexedStep,
  type IndexedTurn,
  MOST_PARTS,
  type SessionUpdate,
  type SourceUpdate,
  type WriteReport,
} from "./contract.ts";
import { BLOCK, guarded, isSameRow, pack, rowOf, stepOf, USAGE_COLUMNS, unpack } from "./sqlite-rows.ts";

/** Writes the index over a connection. */
export function createWriter(database: DatabaseSync) {
  const statements = {
    putSource: database.prepare("INSERT OR REPLACE INTO source (key, stamp) VALUES (?, ?)"),
    putSegment: database.prepare(
      `INSERT OR REPLACE INTO segment (source, segment, byte, version, agent, checkpoint_byte, state)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
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
      `INSERT OR REPLACE INTO step (id, at, model, active, tool_calls, failed, ${USAGE_COLUMNS.join(", ")})
       VALUES (?, ?, ?, ?, ?, ?${", ?".repeat(USAGE_COLUMNS.length)})`,
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

  /**
   * Changes to the text index that the current transaction has not written yet. It writes them after all other rows: SQLite opens
   * a savepoint for each `INSERT OR REPLACE`, and at a savepoint FTS5 flushes the texts so far into a segment of their own.
   */
  let text_changes: { id: number; text: string; is_replaced: boolean }[] = [];

  function writeTexts(): void {
    for (const { id, text, is_replaced } of text_changes) {
      if (is_replaced) statements.removeText.run(id);
      if (text !== "") statements.putText.run(id, indexForm(text));
    }
    text_changes = [];
  }

  function write(updates: readonly SourceUpdate[]): WriteReport {
    const report: WriteReport = { written: 0, unchanged: 0 };
    try {
      transaction(database, () => {
        for (const update of updates) putSource(update, report);
        writeTexts();
      });
    } finally {
      text_changes = [];
    }
    return report;
  }

  function putSource({ key, stamp, sessions, segments = [] }: SourceUpdate, report: WriteReport): void {
    for (const { segment, byte, version, checkpoint } of segments) {
      const { agent, byte: checkpoint_byte, state } = checkpoint;
      statements.putSegment.run(key, segment, byte, version, agent, checkpoint_byte, pack([state]));
    }
    const known = new Map(statements.sessionsOf.all(key).map(({ id, ref }) => [String(id), Number(ref)]));
    for (const session of sessions) {
      const isNew = !known.delete(session.id);
      const ref = putSession(key, session);
      putParts(ref, session, isNew, report);
      putSteps(ref, session);
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
      text_changes.push({ id: base + part.seq, text: part.text, is_replaced: before !== undefined });
      texts[part.seq - block] = part.text;
      is_changed = true;
    }
    endBlock();
  }

  /** Equal rows are not written again. */
  function putSteps(ref: number, { steps, steps_from }: SessionUpdate): void {
    const base = ref * MOST_PARTS;
    const known = new Map<number, string>();
    for (const row of statements.steps.iterate(base + steps_from, base + MOST_PARTS)) {
      const step = stepOf(row);
      known.set(step.seq, JSON.stringify(step));
    }
    for (const step of steps) {
      if (step.seq >= MOST_PARTS) break;
      const before = known.get(step.seq);
      known.delete(step.seq);
      const row = stepRow(base, step);
      if (before === JSON.stringify(stepOf(row))) continue;
      statements.putStep.run(...Object.values(row));
    }
    for (const seq of known.keys()) statements.removeStep.run(base + seq);
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
    writeTexts();
    const from = ref * MOST_PARTS + seq;
    const end = (ref + 1) * MOST_PARTS;
    statements.removeTexts.run(from, end);
    statements.removeParts.run(from, end);
    statements.removeSteps.run(from, end);
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
            statements.removeSegments.run(key);
            statements.removeSource.run(key);
          }
        }),
      ),
  };
}

/** A row of `step`, its columns in the order of `putStep`. */
function stepRow(base: number, { seq, at, model, active, tool_calls, failed, usage }: IndexedStep) {
  const counts = USAGE_COLUMNS.map((column) => [column, usage?.[column] ?? null] as const);
  return {
    ...{ id: base + seq, at: at ?? null, model: model ?? null, active, tool_calls, failed },
    ...Object.fromEntries(counts),
  };
}

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
