import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { PART_KINDS } from "../../model/search/query.ts";
import { MAX_PAST, MOST_PARTS, type PastPage, type PastPlace, type PastRequest } from "./contract.ts";
import { type SessionRow, uuidOf } from "./sqlite-rows.ts";

const REQUEST = PART_KINDS.indexOf("request");

/** Looks through the past of all sessions over a connection. */
export function createPastReader(database: DatabaseSync, sessions: () => readonly SessionRow[]) {
  const statements = {
    gaps: database.prepare(
      `SELECT ref, part_id, byte, started_at AS at, gap AS length FROM (
         SELECT id / ${MOST_PARTS} AS ref, part_id, byte, started_at,
                started_at - lag(started_at) OVER turns AS gap, lag(kind) OVER turns AS before
         FROM part WHERE started_at > 0
         WINDOW turns AS (PARTITION BY id / ${MOST_PARTS}, turn ORDER BY id)
       ) WHERE gap > ? AND before <> ${REQUEST} ORDER BY started_at DESC LIMIT ${MAX_PAST + 1}`,
    ),
    turns: database.prepare(
      `SELECT turn.session_ref AS ref, part.part_id, part.byte, coalesce(turn.ended_at, turn.started_at) AS at
       FROM turn LEFT JOIN part ON part.id = turn.session_ref * ${MOST_PARTS} + turn.first_seq
       WHERE turn.status = ? ORDER BY at DESC LIMIT ${MAX_PAST + 1}`,
    ),
  };
  return (request: PastRequest): PastPage => {
    const all = sessions();
    const byRef = new Map(all.map((row) => [row.ref, row]));
    const rows =
      request.type === "gaps"
        ? statements.gaps.all(request.longer_than)
        : statements.turns.all(request.status);
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
  if (typeof row.byte === "number") place.byte = row.byte;
  if (typeof row.at === "number") place.at = row.at;
  if (typeof row.length === "number") place.length = row.length;
  return [place];
}
