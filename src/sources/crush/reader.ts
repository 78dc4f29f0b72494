import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitCall } from "../conversation/blocks.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { stemOf } from "../conversation/paths.ts";
import { linkFactsOf, noteCall, promptKey, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { first, inputOf } from "../conversation/tool-payload.ts";
import { addItem, hasItem } from "../recent-items.ts";
import { mediaOf, readUser } from "./prompt.ts";
import { emitResult, type FileOfCall, MAX_FILES } from "./results.ts";
import { timeOf } from "./stores.ts";

/** State of a session between records. */
interface CrushState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** Keys of recent records. One of them is read again because it has changed. */
  read: string[];
  parent?: string;
  /** The call that started this session. */
  call?: string;
  task?: string;
  /** The files of recent calls. */
  files: FileOfCall[];
}

const MAX_READ = 200;
/** Tools that start sub-agents. */
const STARTS = new Set(["agent", "agentic_fetch"]);
const PLACEHOLDER_TITLE = /^(?:New Session|Untitled Session|New Agent Session)$/;

const idOf = (name: string): string => sessionIdOf("crush", name);

/** Reads the records of `stores.ts`. */
export const crushReader = conversationReader<CrushState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    read: [],
    files: [],
    ...startedRuns(),
  }),
  read,
  linkFacts: linkFactsOf,
});

function read(state: CrushState, record: SessionRecord): RecordResult {
  const { key, value } = record;
  if (key === "head") return readHead(state, record);
  if (record.deleted === true) return readDeleted(state, record);
  const part = asObject(value.part);
  if (part !== undefined && key.startsWith("finish:")) return readEnd(state, record, part);
  const revises = hasItem(state.read, key);
  if (!revises) addItem(state.read, key, MAX_READ);
  const message = asText(value.message);
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(value.created_at),
    revises,
  });
  if (part !== undefined && message !== undefined && key.startsWith("part:")) {
    conversation.update({ agent: "crush", provider: asText(value.provider) });
    conversation.step(message, { model: asText(value.model) });
    readPart(state, conversation, part);
  } else if (message !== undefined && Array.isArray(value.parts)) readMessage(state, conversation, value);
  else conversation.unknown(value, sourceTitle("record_named", { name: key }));
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function readHead(state: CrushState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.id);
  if (!state.named && name !== undefined) state.conversation.session_id = idOf(name);
  state.named = true;
  const parent = asText(value.parent_session_id);
  if (parent !== undefined) state.parent = idOf(parent);
  // The session of a sub-agent is named after the message and the call that started it.
  const [, call] = /^.+?\$\$(.+)$/.exec(name ?? "") ?? [];
  if (call !== undefined) state.call = call;
  const title = asText(value.title);
  const at = state.conversation.at === 0 ? timeOf(value.created_at) : undefined;
  const conversation = new Conversation(state.conversation, record, { at });
  conversation.update({
    agent: "crush",
    cwd: asText(value.folder),
    ...(title !== undefined && !PLACEHOLDER_TITLE.test(title) && { title }),
    ...(state.parent !== undefined && { parent: { session_id: state.parent }, run: { depth: 1 } }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

function readDeleted(state: CrushState, record: SessionRecord): RecordResult {
  const conversation = new Conversation(state.conversation, record, { revises: true });
  const open = conversation.hasOpenStep ? state.conversation.step?.key : undefined;
  if (open !== undefined && record.key.startsWith(`part:${open}:`))
    return conversation.result({ kind: "folded", into: "the answer of the request that was sent again" });
  conversation.retract(retractionReason("removed_by", { agent: "Crush" }));
  // If the key comes again, it is another record.
  state.read = state.read.filter((key) => key !== record.key);
  return conversation.result({ kind: "folded", into: "what it removed" });
}

/** Reads a message that is one record: a person's, one with results, or a summary. */
function readMessage(state: CrushState, conversation: Conversation, value: JsonObject): void {
  conversation.update({ agent: "crush" });
  const parts = asArray(value.parts).map((each) => asObject(each) ?? { raw: each });
  if (value.summary === true) {
    readSummary(conversation, parts);
    return;
  }
  switch (value.role) {
    case "user": {
      const text = readUser(conversation, parts, { isRun: state.parent !== undefined });
      if (state.parent !== undefined && text !== undefined) state.task ??= promptKey(text);
      return;
    }
    case "tool":
      for (const part of parts) {
        if (part.type === "tool_result") emitResult(conversation, asObject(part.data) ?? {}, state.files);
        else if (part.type !== "finish") unknownPart(conversation, part);
      }
      return;
    default:
      conversation.unknown(value, sourceTitle("message_of_role", { role: asString(value.role) }));
  }
}

/** Reads a summary that Crush continues with in place of the conversation. */
function readSummary(conversation: Conversation, parts: readonly JsonObject[]): void {
  const dataOf = (type: string) => asObject(parts.find((part) => part.type === type)?.data);
  const end = dataOf("finish");
  const text = asText(dataOf("text")?.text);
  if (text !== undefined || end === undefined)
    conversation.marker("compaction", sourceTitle("conversation_compacted"), text);
  if (end?.reason === "error") conversation.error(errorOf(end) ?? sourceTitle("request_failed"), end);
}

/** Reads a part of an answer. */
function readPart(state: CrushState, conversation: Conversation, part: JsonObject): void {
  const data = asObject(part.data) ?? {};
  switch (part.type) {
    case "text":
      conversation.text(asString(data.text) ?? "");
      return;
    case "reasoning":
      readThought(conversation, data);
      return;
    case "tool_call":
      readCall(state, conversation, data);
      return;
    case "tool_result":
      emitResult(conversation, data, state.files);
      return;
    case "binary":
    case "image_url": {
      const media = mediaOf(part);
      if (media === undefined) unknownPart(conversation, part);
      else conversation.media(media);
      return;
    }
    default:
      unknownPart(conversation, part);
  }
}

const unknownPart = (conversation: Conversation, part: JsonObject): void =>
  conversation.unknown(part, sourceTitle("part_of_type", { type: asString(part.type) }));

function readThought(conversation: Conversation, data: JsonObject): void {
  const text = asString(data.thinking) ?? "";
  const signature = asText(data.signature) ?? asText(data.thought_signature);
  const [start, end] = [timeOf(data.started_at), timeOf(data.finished_at)];
  const hidden = text === "" && (signature !== undefined || asObject(data.responses_data) !== undefined);
  conversation.thinking(text, {
    signature,
    ...(hidden && { hidden: "encrypted" as const }),
    ...(start !== undefined && end !== undefined && { duration_ms: end - start }),
  });
}

function readCall(state: CrushState, conversation: Conversation, data: JsonObject): void {
  const call = asText(data.id);
  const name = asText(data.name);
  const input = asText(data.input) ?? "{}";
  const id = emitCall(conversation, { id: call, name, input });
  const path = first(inputOf(input) ?? {}, "file_path");
  if (call !== undefined && path !== undefined && !hasItem(state.files, call))
    addItem(state.files, { id: call, path }, MAX_FILES);
  if (name !== undefined && STARTS.has(name))
    noteCall(state, { id, name: "agent", input }, state.conversation.at);
}

/** Reads the end of an answer: `{reason, time, message, details}`. */
function readEnd(state: CrushState, record: SessionRecord, part: JsonObject): RecordResult {
  const end = asObject(part.data) ?? {};
  const reason = asText(end.reason) ?? "";
  const conversation = new Conversation(state.conversation, record, { at: timeOf(end.time) });
  const stop_reason_raw = reason === "" ? undefined : reason;
  switch (reason) {
    case "tool_use":
      conversation.endStep({ stop_reason: "tool_use", stop_reason_raw });
      break;
    case "max_tokens":
      conversation.endStep({ stop_reason: "length", stop_reason_raw });
      conversation.endTurn("completed");
      break;
    case "canceled":
      conversation.interrupt(asText(end.message) ?? reason);
      break;
    case "error":
    case "content_filter":
      conversation.error(errorOf(end) ?? (reason === "error" ? sourceTitle("request_failed") : reason), end);
      break;
    default: {
      const calls = state.conversation.step?.calls ?? 0;
      conversation.endStep({ ...(calls === 0 && { stop_reason: "stop" }), stop_reason_raw });
      // Crush does not continue after a refused call.
      if (reason !== "unknown" || calls === 0)
        conversation.endTurn(conversation.wasStopped ? "interrupted" : "completed");
    }
  }
  return conversation.result({ kind: "folded", into: "the end of its step" });
}

/** The title and the text of an error. */
function errorOf(end: JsonObject): string | undefined {
  const texts = [asText(end.message), asText(end.details)].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join(": ");
}
