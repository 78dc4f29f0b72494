import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { linkFactsOf, promptKey, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { addItem, hasItem } from "../recent-items.ts";
import { readContent } from "./answer.ts";
import { readOlder } from "./older.ts";
import { readPrompt } from "./prompt.ts";
import { readResult } from "./result.ts";
import { MAX_READ, type ZedState } from "./state.ts";

/** The id of a thread, which is a UUID. */
const idOf = (name: string): string => sessionIdOf("zed", name);

/**
 * Reads the records of `stores.ts`: facts, messages, results, and the tokens of the last request of each turn. Messages have no
 * times (see `withSaveTime`). No record says how a turn ended.
 */
export const zedReader = conversationReader<ZedState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(path)),
    named: false,
    read: [],
    started: 0,
    ...startedRuns(),
  }),
  read,
  linkFacts: linkFactsOf,
});

function read(state: ZedState, record: SessionRecord): RecordResult {
  const { key } = record;
  if (key === "head") return readHead(state, record);
  if (key === "saved" || key === "end") return readSave(state, record);
  const revises = record.deleted === true || hasItem(state.read, key);
  if (record.deleted !== true && key.startsWith("usage:")) return readUsage(state, record, revises);
  const conversation = new Conversation(state.conversation, record, { revises });
  if (record.deleted === true) {
    conversation.retract(retractionReason("removed_by", { agent: "Zed" }));
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  if (!revises) addItem(state.read, key, MAX_READ);
  readMessage(state, conversation, record);
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** Reads a value of the enum `Message`, or a record that `thread.ts` made. */
function readMessage(state: ZedState, conversation: Conversation, { key, value }: SessionRecord): void {
  const user = asObject(value.User);
  const agent = asObject(value.Agent);
  const result = asObject(value.result);
  const compaction = asObject(value.Compaction);
  if (user !== undefined) {
    const isRun = state.parent !== undefined;
    const task = readPrompt(conversation, asArray(user.content), isRun);
    if (isRun && task !== "") state.task ??= promptKey(task);
  } else if (agent !== undefined) {
    conversation.step(key);
    for (const item of asArray(agent.content)) readContent(state, conversation, item);
  } else if (result !== undefined) {
    readResult(state, conversation, result, idOf);
  } else if (compaction !== undefined) {
    // The summary of a provider's own compaction is not readable.
    const summary = asText(compaction.Summary);
    const data = summary === undefined ? compaction : undefined;
    conversation.marker("compaction", sourceTitle("conversation_compacted"), summary, data);
  } else if (value.message === "Resume") {
    conversation.marker("note", sourceTitle("session_resumed"));
  } else if (typeof value.unreadable === "string") {
    conversation.unknown(value.unreadable, sourceTitle("unreadable_record"));
  } else if (typeof value.role === "string") {
    readOlder(state, conversation, key, value);
  } else {
    conversation.unknown(value, sourceTitle("record_named", { name: key }));
  }
}

function readHead(state: ZedState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.id);
  if (!state.named && name !== undefined) state.conversation.session_id = idOf(name);
  state.named = true;
  const parent = asText(value.parent);
  if (parent !== undefined) state.parent = idOf(parent);
  const at = state.conversation.at === 0 ? timeOf(value.created_at) : undefined;
  if (at !== undefined) state.started = at;
  const conversation = new Conversation(state.conversation, record, { at });
  const model = asObject(value.model);
  conversation.update({
    agent: "zed",
    title: asText(value.title),
    cwd: asText(value.folder),
    git_branch: asText(value.branch),
    model: asText(model?.model),
    provider: asText(model?.provider),
    ...(state.parent !== undefined && {
      parent: { session_id: state.parent },
      run: { depth: asNumber(value.depth) ?? 1 },
    }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Reads the time of the last save. At the end of the records an answer without calls has ended its turn. */
function readSave(state: ZedState, record: SessionRecord): RecordResult {
  const { key, value } = record;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.updated_at) });
  if (key === "end") conversation.endStep();
  return conversation.result({ kind: "folded", into: key === "end" ? "its turn" : "the messages after it" });
}

/** Reads the tokens of the last request of a turn, which belong to its last answer. */
function readUsage(state: ZedState, record: SessionRecord, revises: boolean): RecordResult {
  const { value } = record;
  const usage = usageOf(asObject(value.usage) ?? {});
  const answer = asString(value.answer) ?? "";
  if (!revises) addItem(state.read, record.key, MAX_READ);
  const isLast = state.conversation.step?.key === answer;
  const conversation = new Conversation(state.conversation, record, { revises: !isLast });
  if (isLast) conversation.amendStep({ usage });
  else {
    conversation.step(answer);
    conversation.endStep({ usage });
  }
  return conversation.result({ kind: "folded", into: "the end of its step" });
}

function usageOf(tokens: JsonObject): Usage {
  const cache_read = asNumber(tokens.cache_read_input_tokens);
  const cache_write = asNumber(tokens.cache_creation_input_tokens);
  return {
    input: asNumber(tokens.input_tokens) ?? 0,
    output: asNumber(tokens.output_tokens) ?? 0,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
  };
}
