import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { type Document, readDocument } from "../documents/document.ts";

/** Statuses of tool runs that have not ended. */
const PENDING = new Set(["queued", "in-progress", "blocked-on-user"]);

/** A message and its position in the document. */
interface Place {
  index: number;
  message: JsonObject;
}

/** The thread's session, and one session for each sub-agent in it. */
export function* ampSessions(store: OpenStore): Generator<SnapshotSession> {
  const document = readDocument(store, store.path);
  if (document === undefined) return;
  const name = asString(document.value.id) ?? store.path;
  const own: Place[] = [];
  const runs = new Map<string, Place[]>();
  for (const [index, item] of asArray(document.value.messages).entries()) {
    const message = asObject(item) ?? { raw: item };
    const call = asText(message.parentToolUseId);
    if (call === undefined) own.push({ index, message });
    else runs.set(call, [...(runs.get(call) ?? []), { index, message }]);
  }
  const modified_at = store.modifiedAt(store.path) ?? 0;
  yield { name, kind: "session", modified_at, records: () => recordsOf(document, own) };
  for (const [call, messages] of runs)
    yield {
      name: `${name}/${call}`,
      kind: "run",
      modified_at,
      records: () => recordsOf(document, messages, call),
    };
}

function* recordsOf(
  document: Document,
  messages: readonly Place[],
  call?: string,
): Generator<SnapshotRecord> {
  const { id, created, title, agentMode, env } = document.value;
  const head = { id, created, agentMode, env, ...(call === undefined ? { title } : { call }) };
  yield { ...document.record("head", [], head), text: JSON.stringify(head) };
  if (call === undefined)
    for (const [index, item] of asArray(document.value.relationships).entries())
      yield document.record(`relationship:${index}`, ["relationships", index], item);
  const keys = new Set<string>();
  for (const { index, message } of messages) {
    const named = `message:${asNumber(message.messageId) ?? asText(message.messageId) ?? index}`;
    const key = keys.has(named) ? `${named}#${index}` : named;
    keys.add(key);
    yield* recordsOfMessage(document, key, index, message);
  }
}

/** The records of a message: the message, and each of its results once the tool has ended. */
function* recordsOfMessage(
  document: Document,
  key: string,
  index: number,
  message: JsonObject,
): Generator<SnapshotRecord> {
  const blocks = asArray(message.content);
  if (message.role !== "user" || !blocks.some(isResult)) {
    yield document.record(key, ["messages", index], message);
    return;
  }
  for (const [place, block] of blocks.entries()) {
    if (!isResult(block)) continue;
    if (PENDING.has(asString(asObject(asObject(block)?.run)?.status) ?? "")) continue;
    yield document.record(`${key}/${place}`, ["messages", index, "content", place], block);
  }
  const content = blocks.filter((block) => !isResult(block));
  if (content.length === 0) return;
  const rest = { ...message, content };
  yield { ...document.record(key, ["messages", index], rest), text: JSON.stringify(rest) };
}

const isResult = (block: unknown): boolean => asObject(block)?.type === "tool_result";
