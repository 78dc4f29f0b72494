import { asArray, asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, Row, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { readDocument } from "../documents/document.ts";
import { parseObject } from "../lines/parse-object.ts";
import { hasTable } from "../tables/tables.ts";

/**
 * The conversations of Amazon Q Developer CLI, and of Kiro CLI's first engine, in `data.sqlite3`: the table `conversations(key,
 * value)` with one conversation for each folder (`key`), later `conversations_v2`, which has also ids and times. `value` is the
 * conversation's state as JSON. `/save` writes the same JSON to a file, which is opened by name. Source:
 * `aws/amazon-q-developer-cli`, `crates/chat-cli/src/cli/chat/conversation.rs` and `message.rs`; the columns of
 * `conversations_v2` are those of independent decoders (among them `casr` and aws-bench).
 *
 * An entry of the history is split into `user:…` and `answer:…`, because the last prompt (`next_message`) has no answer yet.
 */
export const kiroSnapshots: Snapshots = {
  storeOf: (path) => /^((?:.*\/)?data\.sqlite3)(?:-wal|-shm|-journal)?$/.exec(path)?.[1],
  recognizes: (store) =>
    isSaved(store) ? isConversation(readDocument(store, store.path)?.value) : hasOld(store) || hasNew(store),
  sessions: (store) => (isSaved(store) ? savedSession(store) : databaseSessions(store)),
  // They are in the folders of sessions of the third engine.
  skips: ["snapshots", "tool-outputs", "sub-executions"],
};

const NEW = "conversations_v2";
const OLD = "conversations";
const hasNew = (store: OpenStore): boolean =>
  hasTable(store, NEW, ["key", "conversation_id", "value", "created_at", "updated_at"]);
const hasOld = (store: OpenStore): boolean => hasTable(store, OLD, ["key", "value"]);
/** Whether a store is a saved file, whose name the user chose. A database has another extension. */
const isSaved = ({ path }: OpenStore): boolean => /(?:\.json|(?:^|[\\/])[^\\/.]+)$/.test(path);

/** Whether an object, or its first members, is the state of a conversation. */
export const isConversation = (value: JsonObject | undefined): boolean =>
  asText(value?.conversation_id) !== undefined &&
  value?.next_message !== undefined &&
  (value.history === undefined || Array.isArray(value.history));

function* databaseSessions(store: OpenStore): Generator<SnapshotSession> {
  const seen = new Set<string>();
  for (const row of rowsOf(store)) {
    const name = asText(row.id);
    if (name === undefined || seen.has(name)) continue;
    seen.add(name);
    const table = String(row.source);
    const key = String(row.key);
    yield {
      name,
      kind: "session",
      stamp: JSON.stringify([table, key, row.size, row.updated_at, row.latest]),
      modified_at: timeOf(row.updated_at) ?? timeOf(row.latest) ?? 0,
      records: () => rowRecords(store, { name, table, key }),
    };
  }
}

/** The conversations of both tables, those of the newer one first. */
function* rowsOf(store: OpenStore): Generator<Row> {
  if (hasNew(store))
    yield* store.rows(
      `SELECT '${NEW}' AS source, key, conversation_id AS id, octet_length(value) AS size, updated_at FROM ${NEW}
       ORDER BY updated_at DESC`,
    );
  if (hasOld(store))
    yield* store.rows(
      `SELECT '${OLD}' AS source, key, octet_length(value) AS size,
         CASE WHEN json_valid(value) THEN json_extract(value, '$.conversation_id') ELSE key END AS id,
         CASE WHEN json_valid(value)
           THEN json_extract(value, '$.history[#-1].request_metadata.stream_end_timestamp_ms') END AS latest
       FROM ${OLD}`,
    );
}

interface Place {
  name: string;
  table: string;
  key: string;
}

function* rowRecords(store: OpenStore, { name, table, key }: Place): Generator<SnapshotRecord> {
  const isNew = table === NEW;
  const [row] = [
    ...store.rows(
      `SELECT value FROM ${table} WHERE key = ?${isNew ? " AND conversation_id = ?" : ""}`,
      ...(isNew ? [key, name] : [key]),
    ),
  ];
  const text = asText(row?.value) ?? "";
  const value = parseObject(text);
  const place: SnapshotRecord["place"] = { kind: "row", file: store.path, table, key: isNew ? name : key };
  yield { key: "head", place, text: JSON.stringify(headOf(name, key, value)) };
  if (value === undefined) {
    yield { key: "damaged", place, text };
    return;
  }
  for (const item of itemsOf(value)) yield { key: item.key, place, text: JSON.stringify(item.value) };
}

function* savedSession(store: OpenStore): Generator<SnapshotSession> {
  const document = readDocument(store, store.path);
  const name = asText(document?.value.conversation_id);
  if (document === undefined || name === undefined) return;
  yield {
    name,
    kind: "session",
    modified_at: store.modifiedAt(store.path) ?? 0,
    *records() {
      const { value } = document;
      const head = JSON.stringify(headOf(name, undefined, value));
      yield { ...document.record("head", [], head), text: head };
      for (const { key, path, value: part } of itemsOf(value))
        yield { ...document.record(key, path, part), text: JSON.stringify(part) };
    },
  };
}

/** The facts of a conversation. `folder`: its key in the database. */
function headOf(name: string, folder: string | undefined, value: JsonObject | undefined): JsonObject {
  const user = asObject(asObject(asArray(value?.history)[0])?.user);
  const environment = asObject(asObject(user?.env_context)?.env_state);
  const info = asObject(value?.model_info);
  return {
    conversation_id: name,
    cwd: folder ?? environment?.current_working_directory,
    model: info?.model_id ?? value?.model ?? undefined,
  };
}

interface Item {
  key: string;
  path: (string | number)[];
  value: JsonObject;
}

/** The parts of a conversation in their order. What is before the summary is not stored any more. */
function* itemsOf(value: JsonObject): Generator<Item> {
  const keys = new Set<string>();
  const item = (name: string, path: Item["path"], part: JsonObject): Item => {
    const key = keys.has(name) ? `${name}#${keys.size}` : name;
    keys.add(key);
    return { key, path, value: part };
  };
  // A text, later also the facts of its request.
  const [summary, metadata] = Array.isArray(value.latest_summary)
    ? value.latest_summary
    : [value.latest_summary];
  if (asText(summary) !== undefined) {
    const id = asText(asObject(metadata)?.request_id) ?? String(asText(summary)?.length);
    yield item(`summary:${id}`, ["latest_summary"], { summary, request_metadata: metadata ?? null });
  }
  for (const [index, each] of asArray(value.history).entries()) {
    const path = ["history", index];
    // Older versions store a pair.
    const entry = asObject(each);
    const [user, assistant] = Array.isArray(each) ? each : [entry?.user, entry?.assistant];
    if (user === undefined && assistant === undefined) {
      yield item(`entry:${index}`, path, entry ?? { entry: each });
      continue;
    }
    const request_metadata = entry?.request_metadata ?? null;
    const request = asText(asObject(request_metadata)?.request_id) ?? index;
    yield item(`user:${nameOf(user) ?? request}`, path, { user });
    yield item(`answer:${answerName(assistant) ?? request}`, path, { assistant, request_metadata });
  }
  const next = asObject(value.next_message);
  if (next !== undefined) yield item(`user:${nameOf(next) ?? "next"}`, ["next_message"], { user: next });
}

/** A name that does not depend on the position, because Kiro removes the oldest entries. */
function nameOf(value: unknown): string | undefined {
  const user = asObject(value);
  const [content] = Object.values(asObject(user?.content) ?? {});
  const [result] = asArray(asObject(content)?.tool_use_results);
  return asText(asObject(result)?.tool_use_id) ?? asText(user?.timestamp) ?? numbered(user?.timestamp);
}

const numbered = (value: unknown): string | undefined => asNumber(value)?.toString();

function answerName(value: unknown): string | undefined {
  const [answer] = Object.values(asObject(value) ?? {});
  return asText(asObject(answer)?.message_id);
}
