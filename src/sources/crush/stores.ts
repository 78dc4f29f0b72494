import { asNumber, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, Row, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { columnsOf, hasTable } from "../tables/tables.ts";

/**
 * Crush's session stores: `<project>/.crush/crush.db` (SQLite), or `crush.db` in another data directory. Source:
 * `internal/db/migrations`, `internal/db/sql`, `internal/message`, `internal/session` and `internal/agent` of
 * charmbracelet/crush.
 *
 * The records of a session are the head, and its messages in Crush's order. An answer is updated while it is written, so each of
 * its parts is a record. Its end is a record too. It follows the results of its calls, because Crush writes it after them. The
 * tables `files` and `read_files` are not read.
 */
export const crushSnapshots: Snapshots = {
  storeOf: (path) => /^(.*\/)?crush\.db(?=(?:-wal|-shm|-journal)?$)/.exec(path)?.[0],
  recognizes: (store) =>
    hasTable(store, "sessions", ["id", "parent_session_id", "title", "completion_tokens"]) &&
    hasTable(store, "messages", ["id", "session_id", "role", "parts", "created_at"]),
  sessions,
};

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const figures = new Map(
    [
      ...store.rows(
        `SELECT session_id, count(*) AS count, max(rowid) AS last, max(updated_at) AS latest, sum(length(parts)) AS size
         FROM messages GROUP BY session_id`,
      ),
    ].map((row) => [String(row.session_id), row]),
  );
  const columns = columnsOf(store, "messages");
  for (const row of store.rows("SELECT * FROM sessions")) {
    const name = asText(row.id);
    const found = name === undefined ? undefined : figures.get(name);
    // A session without messages is new, or was only used to generate a title.
    if (name === undefined || found === undefined) continue;
    const head = headOf(store, row);
    const { count, last, latest, size } = found;
    yield {
      name,
      kind: asText(row.parent_session_id) === undefined ? "session" : "run",
      stamp: JSON.stringify([head, ...[count, last, latest, size].map(Number)]),
      modified_at: Math.max(timeOf(row.updated_at) ?? 0, timeOf(latest) ?? 0),
      *records() {
        yield { key: "head", place: placeOf(store, "sessions", name), text: head };
        yield* messagesOf(store, name, columns);
      },
    };
  }
}

/** The facts about a session. Totals are omitted: they would create a new revision at each request. */
function headOf(store: OpenStore, row: Row): string {
  const { id, parent_session_id, title, created_at } = row;
  const [, folder] = /^(.+)[\\/]\.crush[\\/]crush\.db$/.exec(store.path) ?? [];
  return JSON.stringify({ id, parent_session_id, title, created_at, folder });
}

function* messagesOf(
  store: OpenStore,
  session: string,
  columns: readonly string[],
): Generator<SnapshotRecord> {
  const optional = (column: string) => (columns.includes(column) ? column : `NULL AS ${column}`);
  const rows = [
    ...store.rows(
      `SELECT id, role, model, ${optional("provider")}, ${optional("is_summary_message")}, created_at, updated_at,
     length(parts) AS length FROM messages WHERE session_id = ? ORDER BY created_at, rowid`,
      session,
    ),
  ];
  const parts = partsOf(store, session);
  let end: SnapshotRecord | undefined;
  for (const row of rows) {
    const id = String(row.id);
    if (row.role !== "tool" && end !== undefined) {
      yield end;
      end = undefined;
    }
    const own = parts.get(id);
    if (row.role !== "assistant" || Number(row.is_summary_message) === 1 || own === undefined) {
      yield messageOf(store, row);
      continue;
    }
    for (const part of own) {
      // A call whose arguments are being written has none yet.
      if (part.unfinished && row === rows.at(-1)) continue;
      const record = partOf(store, row, part);
      if (part.type === "finish") end = record;
      else yield record;
    }
  }
  if (end !== undefined) yield end;
}

interface Part {
  /** Its index. */
  at: number;
  type: string;
  length: number;
  /** A call of which only the name was written. */
  unfinished: boolean;
}

/** The parts of the answers of a session, by message. Messages whose parts are no JSON list are absent. */
function partsOf(store: OpenStore, session: string): ReadonlyMap<string, Part[]> {
  const parts = new Map<string, Part[]>();
  const rows = store.rows(
    `SELECT m.id, p.key AS at, p.type AS kind, length(p.value) AS length,
     CASE WHEN p.type = 'object' THEN json_extract(p.value, '$.type') END AS type,
     CASE WHEN p.type = 'object' THEN json_extract(p.value, '$.data.finished') END AS finished
     FROM (SELECT id, created_at, rowid AS row, CAST(parts AS TEXT) AS parts FROM messages
       WHERE session_id = ? AND role = 'assistant') m
     LEFT JOIN json_each(CASE WHEN json_valid(m.parts) THEN m.parts END) p
     WHERE CASE WHEN json_valid(m.parts) THEN json_type(m.parts) END = 'array' ORDER BY m.created_at, m.row, p.key`,
    session,
  );
  for (const { id, at, kind, type, length, finished } of rows) {
    const list = parts.get(String(id)) ?? [];
    parts.set(String(id), list);
    if (kind === null) continue;
    const unfinished = type === "tool_call" && Number(finished ?? 1) === 0;
    list.push({ at: Number(at), type: asText(type) ?? "unknown", length: Number(length), unfinished });
  }
  return parts;
}

/** A part of an answer: `{message, model, provider, created_at, part: {type, data}}`. */
function partOf(store: OpenStore, row: Row, { at, type, length }: Part): SnapshotRecord {
  const id = String(row.id);
  const head = { message: id, ...factsOf(row) };
  return {
    key: type === "finish" ? `finish:${id}` : `part:${id}:${at}:${type}`,
    revision: String(length),
    place: placeOf(store, "messages", id),
    text() {
      const [found] = store.rows(
        "SELECT json_extract(CAST(parts AS TEXT), ?) AS part FROM messages WHERE id = ?",
        `$[${at}]`,
        id,
      );
      return JSON.stringify({ ...head, part: parsed(asString(found?.part) ?? "null") });
    },
  };
}

/** A message as a whole: `{message, role, model, provider, created_at, summary?, parts}`. Parts that are no JSON remain text. */
function messageOf(store: OpenStore, row: Row): SnapshotRecord {
  const id = String(row.id);
  const summary = Number(row.is_summary_message) === 1;
  const head = { message: id, role: row.role, ...factsOf(row), ...(summary && { summary }) };
  return {
    key: `message:${id}`,
    revision: `${row.updated_at}.${row.length}`,
    place: placeOf(store, "messages", id),
    text() {
      const [found] = store.rows("SELECT CAST(parts AS TEXT) AS parts FROM messages WHERE id = ?", id);
      const parts = asString(found?.parts) ?? "";
      return JSON.stringify({ ...head, parts: parsed(parts) });
    },
  };
}

const factsOf = ({ model, provider, created_at }: Row): JsonObject => ({
  ...(asText(model) !== undefined && { model }),
  ...(asText(provider) !== undefined && { provider }),
  created_at: asNumber(created_at),
});

const placeOf = (store: OpenStore, table: string, key: string) => ({
  kind: "row" as const,
  file: store.path,
  table,
  key,
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Times from here on are in milliseconds. Crush writes seconds. */
const MILLISECONDS = 100_000_000_000;

/** A time in milliseconds since 1970. */
export function timeOf(value: unknown): number | undefined {
  const time = asNumber(value) ?? 0;
  if (time <= 0) return undefined;
  return time < MILLISECONDS ? time * 1_000 : time;
}
