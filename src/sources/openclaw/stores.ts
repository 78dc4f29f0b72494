import { asNumber, asText } from "../../model/narrow.ts";
import type { OpenStore, Row, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { columnsOf, hasTable } from "../tables/tables.ts";

/**
 * OpenClaw's store, one per agent: `agents/<agent>/agent/openclaw-agent.sqlite` (since 2026.7.2). `transcript_events` has the
 * lines of the older files, some of them compressed; `session_windows` the sessions; `session_nodes` the conversations that they
 * belong to, by key. A conversation that starts over gets a new session. Source: the schema in the package's `dist`.
 *
 * Sessions without events are left out: OpenClaw moves the events of old sessions to compressed files, which must not look as if
 * it had deleted them.
 */
export const openclawSnapshots: Snapshots = {
  storeOf(path) {
    const [, folder = "", database] =
      /^(.*\/)?(openclaw-agent\.sqlite)(?:-wal|-shm|-journal)?$/.exec(path) ?? [];
    return database === undefined ? undefined : `${folder}${database}`;
  },
  recognizes: (store) => hasTable(store, "transcript_events", ["session_id", "seq", "event_json"]),
  sessions,
};

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const conversations = hasTable(store, "session_nodes")
    ? rowsBy(store.rows(`SELECT ${present(store, "session_nodes", NODE)} FROM session_nodes`), "session_key")
    : new Map<string, Row>();
  // Its name in the first versions.
  const table = hasTable(store, "session_windows") ? "session_windows" : "sessions";
  const windows = rowsBy(store.rows(`SELECT ${present(store, table, WINDOW)} FROM ${table}`), "session_id");
  const rewrites = hasTable(store, "transcript_rewrite_watermarks")
    ? rowsBy(store.rows("SELECT session_id, generation FROM transcript_rewrite_watermarks"), "session_id")
    : new Map<string, Row>();
  const counts = store.rows(
    "SELECT session_id, count(*) AS count, max(seq) AS latest FROM transcript_events GROUP BY session_id",
  );
  for (const { session_id, count, latest } of counts) {
    const name = asText(session_id);
    if (name === undefined) continue;
    const window = windows.get(name) ?? {};
    const conversation = conversations.get(String(window.session_key)) ?? {};
    const facts = factsOf(name, { window, conversation, conversations });
    const text = JSON.stringify(facts);
    const place = { kind: "row" as const, file: store.path, table, key: name };
    yield {
      name,
      kind: facts.parent_key === undefined ? "session" : "run",
      stamp: JSON.stringify([text, Number(count), Number(latest), rewrites.get(name)?.generation]),
      modified_at:
        asNumber(window.transcript_updated_at) ??
        asNumber(window.updated_at) ??
        store.modifiedAt(store.path) ??
        0,
      ...(asNumber(conversation.archived_at) !== undefined && { archived: true }),
      records: () => recordsOf(store, name, { key: "session", place, text }),
    };
  }
}

const WINDOW = [
  "session_id",
  "session_key",
  "updated_at",
  "transcript_updated_at",
  "display_name",
  "spawned_by",
];
const NODE = ["session_key", "current_session_id", "label", "display_name", "spawned_by", "archived_at"];

/** The columns of the table that exist, for a query. */
function present(store: OpenStore, table: string, columns: readonly string[]): string {
  const known = new Set(columnsOf(store, table));
  return columns.filter((column) => known.has(column)).join(", ");
}

const rowsBy = (rows: Iterable<Row>, column: string): Map<string, Row> =>
  new Map([...rows].map((row) => [String(row[column]), row]));

/** The facts of a session that are shown. `parent_key`: of the conversation that spawned it. */
function factsOf(
  session_id: string,
  {
    window,
    conversation,
    conversations,
  }: { window: Row; conversation: Row; conversations: ReadonlyMap<string, Row> },
) {
  const title =
    asText(conversation.label) ?? asText(conversation.display_name) ?? asText(window.display_name);
  const parentOf = (row: Row | undefined) => asText(row?.spawned_by);
  const parent_key = parentOf(conversation) ?? parentOf(window);
  let top = parent_key;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const above = top === undefined ? undefined : parentOf(conversations.get(top));
    if (above === undefined) break;
    top = above;
  }
  const sessionOf = (key: string | undefined) =>
    key === undefined ? undefined : asText(conversations.get(key)?.current_session_id);
  return {
    session_id,
    session_key: asText(window.session_key),
    title,
    parent_key,
    parent_id: sessionOf(parent_key),
    top_id: sessionOf(top),
  };
}

/** Maximum number of sub-agents above a sub-agent. */
const MAX_DEPTH = 16;

function* recordsOf(store: OpenStore, name: string, session: SnapshotRecord): Generator<SnapshotRecord> {
  yield session;
  const hasIds = hasTable(store, "transcript_event_identities", ["session_id", "event_id", "seq"]);
  const events = store.rows(
    hasIds
      ? `SELECT seq, min(event_id) AS id FROM transcript_events LEFT JOIN transcript_event_identities USING (session_id, seq)
         WHERE session_id = ? GROUP BY seq ORDER BY seq`
      : "SELECT seq, NULL AS id FROM transcript_events WHERE session_id = ? ORDER BY seq",
    name,
  );
  const compressed = columnsOf(store, "transcript_events").includes("event_zstd") ? "event_zstd" : "NULL";
  for (const { seq, id } of events) {
    const key = asText(id) ?? `${seq}`;
    yield {
      // Events are numbered again when a transcript is rewritten. They are compressed later, so their bytes are no revision.
      key: `event:${key}`,
      revision: "1",
      place: { kind: "row", file: store.path, table: "transcript_events", key: `${name}/${seq}` },
      text() {
        const [row] = store.rows(
          `SELECT event_json AS text, ${compressed} AS compressed FROM transcript_events WHERE session_id = ? AND seq = ?`,
          name,
          Number(seq),
        );
        const text = asText(row?.text);
        if (text !== undefined) return text;
        return row?.compressed instanceof Uint8Array ? store.decompress(row.compressed) : "";
      },
    };
  }
}
