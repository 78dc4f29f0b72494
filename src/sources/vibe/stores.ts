import { asArray, asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { readDocument } from "../documents/document.ts";
import { type OrderedRecord, withSaveTime } from "../documents/save-time.ts";
import { parseObject } from "../lines/parse-object.ts";

/**
 * Mistral Vibe's sessions, below `logs/session`: since 2.0 one folder each, `session_<date>_<time>_<id>`, with `meta.json` and
 * `messages.jsonl`; before, one document `session_<date>_<time>_<id>.json` with `metadata` and `messages`. The folder of a
 * sub-agent is in the folder `agents` of its parent's and begins with the sub-agent's name. Messages are appended, but the file is
 * rewritten after a rewind or a change of its last message, so it is read like a document. The store of the Vibe SDK, which newer
 * versions can use in its place, is not read.
 *
 * Source: `mistralai/mistral-vibe`, `vibe/core/session/session_logger.py`, `session_loader.py` and `session_migration.py`,
 * `vibe/core/types.py` (`LLMMessage`, `SessionMetadata`, `AgentStats`), `vibe/core/tools/builtins/task.py`, and
 * `vibe/core/interaction_logger.py` for the older document.
 */
export const vibeSnapshots: Snapshots = {
  storeOf: (path) => folderIn(path) ?? (DOCUMENT.test(path) ? path : undefined),
  recognizes: (store) => readSession(store) !== undefined,
  *sessions(store) {
    const session = readSession(store);
    if (session !== undefined) yield session;
  },
  // Locks of running sessions.
  skips: ["active"],
};

const NAME = "[^/]+_\\d{8}_\\d{6}_[^/]+";
const FILES = new RegExp(`^((?:.*/)?${NAME})/(?:messages\\.jsonl|meta\\.json)$`);
const DOCUMENT = new RegExp(`(?:^|/)${NAME}\\.json$`);
const META = "meta.json";

/** The folder of a session, from the path of one of its files. */
const folderIn = (path: string): string | undefined => FILES.exec(path)?.[1];

function readSession(store: OpenStore): SnapshotSession | undefined {
  const { path } = store;
  return DOCUMENT.test(path) ? readOlder(store) : readFolder(store, folderIn(path) ?? path);
}

/** Reads the folder of a session. Its messages are written before its facts, so the facts may still be missing. */
function readFolder(store: OpenStore, folder: string): SnapshotSession | undefined {
  const file = `${folder}/messages.jsonl`;
  const modified = store.modifiedAt(file);
  const meta = readDocument(store, `${folder}/${META}`)?.value ?? {};
  // Other agents have files of these names.
  if (modified === undefined || !isMetadata(meta)) return undefined;
  const parent = parentOf(store, folder);
  const saved = store.modifiedAt(`${folder}/${META}`) ?? 0;
  return {
    name: namesOf(folder).at(-1) ?? folder,
    kind: parent === undefined ? "session" : "run",
    stamp: `${modified} ${saved} ${parent?.id}`,
    modified_at: Math.max(modified, saved),
    *records() {
      yield headOf(`${folder}/${META}`, "", meta, parent);
      const system = asObject(meta.system_prompt);
      if (system !== undefined) yield record("system", `${folder}/${META}`, "/system_prompt", system);
      const messages = messagesIn(store.readText(file) ?? "", file);
      yield* withSaveTime(messages, savedOf(`${folder}/${META}`, "", meta));
      yield endOf(`${folder}/${META}`, "", meta);
    },
  };
}

function readOlder(store: OpenStore): SnapshotSession | undefined {
  const document = readDocument(store, store.path);
  const meta = asObject(document?.value.metadata);
  const messages = document?.value.messages;
  if (document === undefined || meta === undefined || !isMetadata(meta) || !Array.isArray(messages))
    return undefined;
  return {
    name: stemOf(store.path),
    kind: "session",
    modified_at: store.modifiedAt(store.path) ?? 0,
    *records() {
      yield headOf(store.path, "/metadata", meta);
      const keys = new Set<string>();
      const ordered = messages.map((message: unknown, index): OrderedRecord => {
        const value = asObject(message) ?? { raw: message };
        // The record is the item itself where it is an object, so that its numbers are kept as written.
        const item = document.record(keyOf(value, index, keys), ["messages", index], message);
        const record = asObject(message) === undefined ? { ...item, text: JSON.stringify(value) } : item;
        return { record, isPrompt: isPrompt(value) };
      });
      yield* withSaveTime(ordered, savedOf(store.path, "/metadata", meta));
      yield endOf(store.path, "/metadata", meta);
    },
  };
}

const isMetadata = (meta: JsonObject): boolean =>
  asText(meta.session_id) !== undefined &&
  asText(meta.start_time) !== undefined &&
  asObject(meta.environment) !== undefined;

/** The session that started this one, if its folder is in that one's folder `agents`. */
function parentOf(store: OpenStore, folder: string): { id?: string; name: string } | undefined {
  const [, above, name] = /^(.+)\/agents\/([^/]+)_\d{8}_\d{6}_[^/]+$/.exec(folder) ?? [];
  if (above === undefined || name === undefined) return undefined;
  const id = asText(parseObject(store.readText(`${above}/${META}`) ?? "")?.session_id);
  return { name, ...(id !== undefined && { id }) };
}

/** The facts of a session that are shown. Nothing else is kept, such as the whole configuration, which may contain secrets. */
function headOf(
  file: string,
  pointer: string,
  meta: JsonObject,
  parent?: { id?: string; name: string },
): SnapshotRecord {
  const config = asObject(meta.config) ?? asObject(meta.agent_config);
  return record("head", file, pointer, {
    id: meta.session_id,
    started: meta.start_time,
    title: meta.title ?? undefined,
    folder: asObject(meta.environment)?.working_directory ?? undefined,
    branch: meta.git_branch ?? undefined,
    // Newer versions have no active model unless the user chose one.
    model: asText(config?.active_model) ?? asText(config?.routed_default_model),
    continues: meta.parent_session_id ?? undefined,
    parent,
  });
}

/** The time of the last change. */
const savedOf = (file: string, pointer: string, meta: JsonObject): SnapshotRecord =>
  record("saved", file, pointer, { ended: timeOf(meta.end_time) === undefined ? undefined : meta.end_time });

/** The figures of a session, which change with each message, and the sub-agents that it started. */
function endOf(file: string, pointer: string, meta: JsonObject): SnapshotRecord {
  const stats = asObject(meta.stats);
  return record("end", file, pointer, {
    prompt_tokens: asNumber(stats?.session_prompt_tokens),
    completion_tokens: asNumber(stats?.session_completion_tokens),
    cached_tokens: asNumber(stats?.session_cached_tokens),
    cost: asNumber(stats?.session_cost),
    children: asArray(meta.child_sessions).length === 0 ? undefined : meta.child_sessions,
  });
}

const record = (key: string, file: string, pointer: string, value: object): SnapshotRecord => ({
  key,
  place: { kind: "document", file, pointer },
  text: JSON.stringify(value),
});

function messagesIn(text: string, file: string): OrderedRecord[] {
  const lines = text.split("\n");
  const keys = new Set<string>();
  return lines.flatMap((line, index): OrderedRecord[] => {
    if (line.trim() === "") return [];
    const value = parseObject(line);
    // The last line may still be incomplete.
    if (value === undefined && index === lines.length - 1) return [];
    const record: SnapshotRecord = {
      key: keyOf(value ?? {}, index, keys),
      place: { kind: "document", file, pointer: `/${index}` },
      text: value === undefined ? JSON.stringify({ unreadable: line }) : line,
    };
    return [{ record, isPrompt: value !== undefined && isPrompt(value) }];
  });
}

const isPrompt = (message: JsonObject): boolean => message.role === "user" && message.injected !== true;

/** Names a message by its own id, because its position changes when earlier ones are removed or inserted. */
function keyOf(message: JsonObject, index: number, keys: Set<string>): string {
  const id = asText(message.message_id);
  const call = message.role === "tool" ? asText(message.tool_call_id) : undefined;
  const named = id !== undefined ? `message:${id}` : call !== undefined ? `result:${call}` : `line:${index}`;
  const key = keys.has(named) ? `${named}#${index}` : named;
  keys.add(key);
  return key;
}
