import { asNumber, asString, asText } from "../../model/narrow.ts";
import type { OpenStore, Row, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { columnsOf, hasTable, rowText } from "../tables/tables.ts";

/**
 * goose's session store: `sessions/sessions.db` (SQLite, since 1.10), with the tables `sessions` and `messages`. A session's
 * records are its row, its messages in insertion order, and the model calls of its compactions. Compaction deletes all messages and
 * inserts them again. Source: `crates/goose/src/session/session_manager.rs` of goose. Newer versions count each model call in the
 * table `usage_ledger`, of which only compactions are in no message; its columns are from two independent decoders.
 */
export const gooseSnapshots: Snapshots = {
  storeOf(path) {
    const database = /^(.*\/)?(sessions\.db)(?:-wal|-shm|-journal)?$/.exec(path);
    return database === null ? undefined : `${database[1] ?? ""}${database[2]}`;
  },
  recognizes: (store) =>
    hasTable(store, "sessions", ["id", "working_dir"]) &&
    hasTable(store, "messages", ["session_id", "role", "content_json"]),
  sessions,
};

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const metadata = columnsOf(store, "messages").includes("metadata_json") ? "metadata_json" : "NULL";
  const figures = new Map(
    [
      ...store.rows(
        // goose adds tokens to the metadata of a message after it has inserted it.
        `SELECT session_id, count(*) AS count, max(id) AS latest, sum(length(content_json)) AS size,
         sum(length(${metadata})) AS notes FROM messages GROUP BY session_id`,
      ),
    ].map((row) => [String(row.session_id), row]),
  );
  const message_id = columnsOf(store, "messages").includes("message_id") ? "message_id" : "NULL";
  const ledger = hasTable(store, "usage_ledger", LEDGER);
  const compactions = new Map(
    (ledger
      ? [
          ...store.rows(
            "SELECT session_id, count(*) AS count FROM usage_ledger WHERE is_compaction = 1 GROUP BY session_id",
          ),
        ]
      : []
    ).map((row) => [String(row.session_id), Number(row.count)]),
  );
  for (const row of store.rows("SELECT * FROM sessions")) {
    const name = asText(row.id);
    if (name === undefined) continue;
    const text = rowText(row);
    const { count, latest, size, notes } = figures.get(name) ?? {};
    yield {
      name,
      kind: asString(row.session_type) === "sub_agent" ? "run" : "session",
      stamp: JSON.stringify([
        text,
        ...[count, latest, size, notes ?? 0, compactions.get(name) ?? 0].map(Number),
      ]),
      modified_at: timeOf(row.updated_at) ?? timeOf(row.created_at) ?? 0,
      records: () => recordsOf(store, name, text, { metadata, message_id, ledger: compactions.has(name) }),
    };
  }
}

/** The columns of `usage_ledger` that are read. */
const LEDGER = [
  "id",
  "session_id",
  "created_timestamp",
  "model",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cost",
  "is_compaction",
];

function* recordsOf(
  store: OpenStore,
  name: string,
  text: string,
  columns: { metadata: string; message_id: string; ledger: boolean },
): Generator<SnapshotRecord> {
  const place = (table: string, key: string) => ({ kind: "row" as const, file: store.path, table, key });
  yield { key: "session", place: place("sessions", name), text };
  const messages = store.rows(
    `SELECT id, role, content_json, created_timestamp, ${columns.metadata} AS metadata, ${columns.message_id} AS message_id
     FROM messages WHERE session_id = ? ORDER BY id`,
    name,
  );
  // Keyed by position, because compaction inserts the same messages again with other ids.
  let position = 0;
  for (const row of messages) {
    yield { key: `message:${position}`, place: place("messages", String(row.id)), text: messageText(row) };
    position += 1;
  }
  if (!columns.ledger) return;
  const calls = store.rows(
    `SELECT ${LEDGER.join(", ")} FROM usage_ledger WHERE session_id = ? AND is_compaction = 1 ORDER BY id`,
    name,
  );
  for (const row of calls) {
    const id = String(row.id);
    yield { key: `ledger:${id}`, place: place("usage_ledger", id), text: rowText(row) };
  }
}

/** Formats a row like a line of the older files: `{id?, role, created, content, metadata?}`. Invalid JSON remains text. */
function messageText(row: Row): string {
  const content = asString(row.content_json) ?? "[]";
  const metadata = asString(row.metadata);
  return JSON.stringify({
    ...(asText(row.message_id) !== undefined && { id: row.message_id }),
    role: row.role,
    created: asNumber(row.created_timestamp),
    content: parsed(content),
    ...(metadata !== undefined && { metadata: parsed(metadata) }),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Converts SQLite's `2026-11-09 10:11:12` in UTC, or RFC 3339, to milliseconds since 1970. */
export function timeOf(value: unknown): number | undefined {
  const text = asText(value);
  if (text === undefined) return undefined;
  const time = Date.parse(/[zZ]|[+-]\d\d:\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`);
  return Number.isNaN(time) ? undefined : time;
}
