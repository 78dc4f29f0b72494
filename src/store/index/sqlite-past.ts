import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { PART_KINDS } from "../../model/search/query.ts";
import { MAX_PARTS, MAX_PAST, type PastPage, type PastPlace, type PastRequest } from "./contract.ts";
import { type SessionRow, uuidOf } from "./sqlite-rows.ts";

const REQUEST = PART_KINDS.indexOf("request");

/** Searches the past of all sessions over a connection. */
export function createPastReader(database: DatabaseSync, sessions: () => readonly SessionRow[]) {
  const statements = {
    times: database.prepare("SELECT id, turn, kind, started_at FROM part WHERE started_at > 0 ORDER BY id"),
    part: database.prepare("SELECT part_id FROM part WHERE id = ?"),
    turns: database.prepare(
      `SELECT turn.session_ref AS ref, part.part_id, coalesce(turn.ended_at, turn.started_at) AS at
       FROM turn LEFT JOIN part ON part.id = turn.session_ref * ${MAX_PARTS} + turn.first_seq
       WHERE turn.status = ? ORDER BY at DESC LIMIT ${MAX_PAST + 1}`,
    ),
  };
  statements.times.setReturnArrays(true);

  /** Gaps as rows, newest first. A loop over all parts takes half the time of a window function. */
  function gaps(longer_than: number): Record<string, SQLOutputValue>[] {
    const found: { id: number; ref: number; at: number; length: number }[] = [];
    let before = { ref: -1, turn: -1, kind: -1, at: 0 };
    for (const [id, turn, kind, at] of partTimes()) {
      const ref = Math.floor(id / MAX_PARTS);
      const length = at - before.at;
      const is_gap = length > longer_than && ref === before.ref && turn === before.turn;
      if (is_gap && before.kind !== REQUEST) found.push({ id, ref, at, length });
      before = { ref, turn, kind, at };
    }
    found.sort((one, other) => other.at - one.at);
    return found
      .slice(0, MAX_PAST + 1)
      .map(({ id, ref, at, length }) => ({ ...statements.part.get(id), ref, at, length }));
  }
  function* partTimes(): Generator<[id: number, turn: number, kind: number, at: number]> {
    // Arrays are not in the types of `iterate`.
    for (const row of statements.times.iterate() as Iterable<unknown>) {
      const [id, turn, kind, at] = Array.isArray(row) ? row : [];
      yield [Number(id), Number(turn), Number(kind), Number(at)];
    }
  }

  return (request: PastRequest): PastPage => {
    const all = sessions();
    const byRef = new Map(all.map((row) => [row.ref, row]));
    const rows = request.type === "gaps" ? gaps(request.longer_than) : statements.turns.all(request.status);
    return {
      places: rows.slice(0, MAX_PAST).flatMap((row) => placeOf(row, byRef.get(Number(row.ref)))),
      sessions: all.length,
      is_more: rows.length > MAX_PAST,
    };
  };
}

function placeOf(row: Record<string, SQLOutputValue>, owner: SessionRow | undefined): PastPlace[] {
  if (owner === undefined) return [];
  const place: PastPlace = { source: owner.source, session: owner.session };
  if (row.part_id instanceof Uint8Array) place.part_id = uuidOf(row.part_id);
  if (typeof row.at === "number") place.at = row.at;
  if (typeof row.length === "number") place.length = row.length;
  return [place];
}
