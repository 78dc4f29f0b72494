import { asNumber, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, Row, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { inputOf } from "../conversation/tool-payload.ts";
import { columnsOf, hasTable } from "../tables/tables.ts";

/**
 * Hermes Agent's session store `state.db`, in its folder and in that of each profile: the tables `sessions` and `messages`. Source:
 * `NousResearch/hermes-agent`, `hermes_state_common.py` (schema 30), `hermes_state_messages.py` and `hermes_state_schema.py`.
 * Columns were added over time, so only those of the first schema are required.
 *
 * Since 2026 a compaction keeps the messages: it marks them (`compacted`), and inserts the summary and copies of the last
 * messages. A rewind marks them too (neither `active` nor `compacted`). Copies are recognized as Hermes does
 * (`_dedupe_display_generations`): by their content and time. Earlier versions delete messages and insert them again, so records
 * are named after their position.
 */
export const hermesSnapshots: Snapshots = {
  storeOf: (path) => /^((?:.*\/)?state\.db)(?:-wal|-shm|-journal)?$/.exec(path)?.[1],
  recognizes: (store) =>
    hasTable(store, "sessions", ["id", "source", "started_at", "parent_session_id"]) &&
    hasTable(store, "messages", ["id", "session_id", "role", "content", "tool_calls", "timestamp"]),
  sessions,
  mayContainStores: (path) => /^profiles(?:\/[^/]+)?$/.test(path),
};

/** The columns of a session that the reader needs. Others change with each heartbeat. */
const FACTS = [
  "id",
  "source",
  "model",
  "title",
  "cwd",
  "git_branch",
  "billing_provider",
  "started_at",
  "ended_at",
  "end_reason",
  "actual_cost_usd",
  "estimated_cost_usd",
] as const;
const FIGURES = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"] as const;

interface Columns {
  /** Whether messages have this column. */
  has(name: string): boolean;
  /** Whether the database stores system prompts in a table of their own. */
  prompts: boolean;
}

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const names = new Set(columnsOf(store, "messages"));
  const columns: Columns = {
    has: (name) => names.has(name),
    prompts: hasTable(store, "system_prompts", ["hash", "prompt"]),
  };
  const sum = (name: string) => (names.has(name) ? `sum(${name})` : "0");
  const messages = new Map(
    [
      ...store.rows(
        `SELECT session_id, count(*) AS count, max(id) AS latest, max(timestamp) AS at, sum(length(content)) AS size,
           ${sum("active")} AS active, ${sum("compacted")} AS compacted,
           ${names.has("display_kind") ? "count(display_kind)" : "0"} AS kinds
         FROM messages GROUP BY session_id`,
      ),
    ].map((row) => [String(row.session_id), row]),
  );
  const rows = [...store.rows("SELECT * FROM sessions")];
  const ends = new Map(rows.map((row) => [String(row.id), asText(row.end_reason)]));
  for (const row of rows) {
    const name = asText(row.id);
    const figures = name === undefined ? undefined : messages.get(name);
    if (name === undefined || figures === undefined) continue;
    const origin = originOf(row, ends);
    const head = JSON.stringify({ ...pick(row, FACTS), ...origin });
    const totals = JSON.stringify({ ...pick(row, FIGURES), model: row.model });
    yield {
      name,
      kind: origin.delegated_from === undefined ? "session" : "run",
      stamp: JSON.stringify([head, totals, row.system_prompt_hash, figures]),
      modified_at:
        Math.max(timeOf(figures.at) ?? 0, timeOf(row.ended_at) ?? 0) || (timeOf(row.started_at) ?? 0),
      ...((row.archived === 1 || row.hidden === 1) && { archived: true }),
      records: () => recordsOf(store, { row, head, totals }, columns),
    };
  }
}

/**
 * Where a session comes from. Every kind of child names its parent, so `model_config` or the end of the parent has to say which
 * kind it is. The session that continues a compressed one inherits its `model_config`: a marker counts if it names the parent.
 */
function originOf(
  row: Row,
  ends: ReadonlyMap<string, string | undefined>,
): { delegated_from?: string; continues?: string } {
  const config = inputOf(row.model_config);
  const parent = asText(row.parent_session_id);
  const [delegate, branch] = [asText(config?._delegate_from), asText(config?._branched_from)];
  const end = parent === undefined ? undefined : ends.get(parent);
  const continues =
    end === "compression" || end === "branched" || (branch !== undefined && branch === parent)
      ? parent
      : undefined;
  const isRun = row.source === "subagent" || (delegate !== undefined && delegate === (parent ?? delegate));
  const delegated_from = isRun ? (delegate ?? parent) : undefined;
  return {
    ...(delegated_from !== undefined && { delegated_from }),
    ...(continues !== undefined && { continues }),
  };
}

function pick(row: Row, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = row[name];
      return value === null || value === undefined ? [] : [[name, value]];
    }),
  );
}

function* recordsOf(
  store: OpenStore,
  { row, head, totals }: { row: Row; head: string; totals: string },
  columns: Columns,
): Generator<SnapshotRecord> {
  const name = String(row.id);
  const place = (table: string, key: string) => ({ kind: "row" as const, file: store.path, table, key });
  yield { key: "session", place: place("sessions", name), text: head };
  const hash = asText(row.system_prompt_hash);
  const [stored] =
    hash !== undefined && columns.prompts
      ? [...store.rows("SELECT prompt FROM system_prompts WHERE hash = ?", hash)]
      : [];
  const system_prompt = asText(stored?.prompt) ?? asText(row.system_prompt);
  if (system_prompt !== undefined)
    yield {
      key: "system",
      place: stored === undefined ? place("sessions", name) : place("system_prompts", hash ?? ""),
      text: JSON.stringify({ system_prompt }),
    };
  const rows = store.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY id", name);
  let position = 0;
  for (const message of withoutCopies(rows, columns)) {
    yield {
      key: `message:${position}`,
      place: place("messages", String(message.id)),
      text: messageText(message, columns),
    };
    position += 1;
  }
  yield { key: "figures", place: place("sessions", name), text: totals };
}

/** The messages at the place of their first copy: of each the one that is in use, or the newest. */
function withoutCopies(rows: Iterable<Row>, columns: Columns): Iterable<Row> {
  // Without these columns there are no copies.
  if (!columns.has("active") || !columns.has("compacted")) return rows;
  const chosen = new Map<string, Row>();
  for (const row of rows) {
    const { role, content, timestamp, tool_call_id, tool_calls, tool_name } = row;
    const key = JSON.stringify([role, content, timestamp, tool_call_id, tool_calls, tool_name]);
    const before = chosen.get(key);
    if (before === undefined || Number(row.active) >= Number(before.active)) chosen.set(key, row);
  }
  return chosen.values();
}

/** Structured content has this prefix. */
const JSON_CONTENT = "\0json:";
/** Columns with JSON. */
const LISTS = ["tool_calls", "reasoning_details", "codex_reasoning_items"] as const;
const TEXTS = [
  "role",
  "tool_call_id",
  "tool_name",
  "finish_reason",
  "reasoning",
  "reasoning_content",
  "display_kind",
];

/** A message with its JSON parsed. Invalid JSON remains text. */
function messageText(row: Row, columns: Columns): string {
  const content = asString(row.content);
  const lists = LISTS.flatMap((name) => {
    const text = asText(row[name]);
    return text === undefined ? [] : [[name, parsed(text)]];
  });
  const isRewound = columns.has("active") && row.active === 0 && row.compacted !== 1;
  return JSON.stringify({
    ...pick(row, TEXTS),
    timestamp: asNumber(row.timestamp),
    content: content?.startsWith(JSON_CONTENT) ? parsed(content.slice(JSON_CONTENT.length)) : row.content,
    ...Object.fromEntries(lists),
    ...(row.observed === 1 && { observed: true }),
    ...(row._compressed_summary === 1 && { compressed_summary: true }),
    ...(isRewound && { rewound: true }),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
