import type { DatabaseSync } from "node:sqlite";
import { transaction } from "../sqlite/transaction.ts";
import type { SourceUpdate, WriteReport } from "./contract.ts";
import { guarded, packText, serializeStarts } from "./sqlite-rows.ts";
import { putParts, removePartsFrom, type TextChanges, writeTexts } from "./sqlite-write-parts.ts";
import { prepareWrites, putSession, putSteps, putTurn } from "./sqlite-write-rows.ts";

/** Writes the index over a connection. */
export function createWriter(database: DatabaseSync) {
  const statements = prepareWrites(database);
  const text_changes: TextChanges = [];

  function write(updates: readonly SourceUpdate[]): WriteReport {
    const report: WriteReport = { written: 0, unchanged: 0 };
    try {
      transaction(database, () => {
        for (const update of updates) putSource(update, report);
        writeTexts(statements, text_changes);
      });
    } finally {
      text_changes.length = 0;
    }
    return report;
  }

  function putSource(update: SourceUpdate, report: WriteReport): void {
    const { key, stamp, sessions, segments = [], is_end_only } = update;
    for (const { segment, byte, version, checkpoint, transcripts } of segments) {
      const { agent, byte: checkpoint_byte, state } = checkpoint;
      const starts = serializeStarts(transcripts);
      statements.putSegment.run(key, segment, byte, version, agent, checkpoint_byte, packText(state), starts);
    }
    const known = new Map(statements.sessionsOf.all(key).map(({ id, ref }) => [String(id), Number(ref)]));
    for (const session of sessions) {
      const isNew = !known.delete(session.id);
      const ref = putSession(statements, key, session);
      putParts(statements, text_changes, { ref, isNew }, session, report);
      putSteps(statements, ref, session);
      for (const turn of session.turns) putTurn(statements, ref, turn);
      if (stamp === undefined || isNew) continue;
      removePartsFrom(statements, text_changes, ref, session.part_count);
      const last = session.turns.at(-1);
      if (last) statements.removeTurns.run(ref, last.index + 1);
    }
    if (stamp !== undefined && !is_end_only) for (const ref of known.values()) removeSession(ref);
    statements.putSource.run(key, stamp ?? "");
  }

  function removeSession(ref: number): void {
    removePartsFrom(statements, text_changes, ref, 0);
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
