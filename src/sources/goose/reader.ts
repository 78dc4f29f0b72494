import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { imageOf, promptParts, resultContent, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { stemOf } from "../conversation/paths.ts";
import { inputOf, ofFailure, payloadOf } from "../conversation/tool-payload.ts";
import { timeOf as storedTimeOf } from "./stores.ts";

/** State of a session between records. */
export interface GooseState {
  conversation: ConversationState;
  named: boolean;
  /** The session that started this one. */
  parent?: string;
  /** Number of messages read. An earlier message is read again because it has changed. */
  count: number;
}

const idOf = (name: string): string => uuidFrom("goose", name);

/**
 * Reads a session's row or the first line of an older file, then messages: `{role, created, content[]}` with content types from
 * `crates/goose-provider-types/src/conversation/message.rs`. Results are in messages of role `user`. In newer versions the
 * metadata of an answer has its model and tokens. No record says how a turn ended.
 */
export const gooseReader = conversationReader<GooseState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    count: 0,
  }),
  read,
  linkFacts({ conversation: { session_id, at }, parent }) {
    const run = parent === undefined ? undefined : { agent_key: session_id, parent_session_id: parent, at };
    return { sessions: [{ session_id, group: parent ?? session_id, calls: [], ...(run && { run }) }] };
  },
});

function read(state: GooseState, record: SessionRecord): RecordResult {
  const { value } = record;
  if (record.key.startsWith("ledger:")) return readCompactionCall(state, record);
  const created = asNumber(value.created);
  const position = Number(/^message:(\d+)$/.exec(record.key)?.[1] ?? state.count);
  const conversation = new Conversation(state.conversation, record, {
    at: created === undefined ? storedTimeOf(value.created_at) : created * 1_000,
    revises: position < state.count && record.deleted !== true,
  });
  if (record.deleted === true) {
    state.count = Math.min(state.count, position);
    conversation.retract(retractionReason("removed_by", { agent: "goose" }));
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  if (asText(value.working_dir) !== undefined && value.role === undefined)
    return readHeader(state, conversation, value);
  state.named = true;
  state.count = Math.max(state.count, position + 1);
  conversation.update({ agent: "goose" });
  const metadata = asObject(value.metadata) ?? {};
  if (metadata.userVisible === false || metadata.turnContext === true) {
    conversation.context(sourceTitle("message_for_model_only"), promptParts(value.content));
    return conversation.result({ kind: "hidden", rule: "empty message" });
  }
  if (value.role === "assistant") readAnswer(conversation, record, metadata);
  else if (value.role === "user") readUser(conversation, value, metadata.steer === true);
  else conversation.unknown(value, sourceTitle("message_of_role", { role: asString(value.role) }));
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** Reads the model call of a compaction, which adds tokens and no message. */
function readCompactionCall(state: GooseState, record: SessionRecord): RecordResult {
  const { value } = record;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.created_timestamp) });
  const usage = usageOf({
    inputTokens: value.input_tokens,
    outputTokens: value.output_tokens,
    cacheReadTokens: value.cache_read_tokens,
    cacheWriteTokens: value.cache_write_tokens,
    cost: value.cost,
  });
  if (usage !== undefined && record.deleted !== true)
    conversation.sideCall({ model: asText(value.model), usage });
  return conversation.result({ kind: "folded", into: "the figures of the session" });
}

function readHeader(state: GooseState, conversation: Conversation, value: JsonObject): RecordResult {
  const id = asText(value.id);
  if (!state.named && id !== undefined) state.conversation.session_id = idOf(id);
  state.named = true;
  const cwd = asText(value.working_dir);
  const title = asText(value.name) ?? asText(value.description);
  const provider = asText(value.provider_name);
  const model = asText(inputOf(value.model_config_json)?.model_name);
  const parent = asText(value.parent_session_id);
  if (parent !== undefined) state.parent = idOf(parent);
  conversation.update({
    agent: "goose",
    cwd,
    title,
    provider,
    model,
    ...(state.parent !== undefined && { parent: { session_id: state.parent }, run: { depth: 1 } }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Reads results of the previous step, a prompt, or both. `queued`: the prompt was added to the running turn. */
function readUser(conversation: Conversation, value: JsonObject, queued: boolean): void {
  const others: unknown[] = [];
  for (const block of asArray(value.content)) {
    const own = asObject(block);
    if (own?.type === "toolResponse") readResult(conversation, own);
    else if (own?.type === "actionRequired") readRequest(conversation, own);
    else others.push(own?.type === "document" ? { inlineData: own } : block);
  }
  const parts = promptParts(others);
  if (parts.length === 0) return;
  conversation.prompt(parts, { queued });
}

function readResult(conversation: Conversation, block: JsonObject): void {
  const result = asObject(block.toolResult);
  const value = result?.value;
  const failure = asText(result?.error);
  const isError = failure !== undefined || result?.status === "error" || asObject(value)?.isError === true;
  const content = asObject(value)?.content ?? value;
  const { output_text, parts } = resultContent(content);
  const id = asText(block.id);
  conversation.toolResult({
    id,
    status: isError ? "error" : "success",
    output_text: failure ?? output_text,
    parts,
    payload: (asked) => (isError ? ofFailure(asked) : asked),
  });
}

function readAnswer(conversation: Conversation, record: SessionRecord, metadata: JsonObject): void {
  const { value } = record;
  const inference = asObject(metadata.inference);
  const model = asText(inference?.resolvedModel) ?? asText(inference?.requestedModel);
  // goose writes a streamed answer as several messages with the same id.
  conversation.step(asText(value.id) ?? record.key, { model });
  for (const each of asArray(value.content)) {
    const block = asObject(each);
    if (block === undefined) conversation.unknown(each, sourceTitle("content_not_object"));
    else readBlock(conversation, block);
  }
  const usage = usageOf(metadata.usage);
  const stop_reason = metadata.outputTokenLimitReached === true ? ("length" as const) : undefined;
  if (usage !== undefined || stop_reason !== undefined) conversation.endStep({ usage, stop_reason });
}

/** Converts usage. `inputTokens` includes tokens read from and written to the cache. */
function usageOf(value: unknown): Usage | undefined {
  const usage = asObject(value);
  const input = asNumber(usage?.inputTokens);
  const output = asNumber(usage?.outputTokens);
  if (input === undefined || output === undefined) return undefined;
  const cache_read = asNumber(usage?.cacheReadTokens);
  const cache_write = asNumber(usage?.cacheWriteTokens);
  const cost = asNumber(usage?.cost);
  return {
    input: Math.max(0, input - (cache_read ?? 0) - (cache_write ?? 0)),
    output,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
    ...(cost !== undefined && { cost }),
  };
}

function readBlock(conversation: Conversation, block: JsonObject): void {
  switch (block.type) {
    case "text":
      conversation.text(asString(block.text) ?? "");
      return;
    case "thinking":
      conversation.thinking(asString(block.thinking) ?? "");
      return;
    case "reasoning":
      conversation.thinking(asString(block.text) ?? "");
      return;
    case "error":
      conversation.error(asText(block.message) ?? sourceTitle("request_failed"), block);
      return;
    case "actionRequired":
      readRequest(conversation, block);
      return;
    case "redactedThinking":
      conversation.thinking("", { hidden: "redacted" });
      return;
    case "toolRequest":
    case "frontendToolRequest":
      readCall(conversation, block);
      return;
    case "systemNotification":
      conversation.marker("note", asText(block.msg) ?? sourceTitle("notification"));
      return;
    case "toolConfirmationRequest":
      conversation.marker(
        "note",
        sourceTitle("asked_for_approval", { tool: asText(block.toolName) }),
        undefined,
        block,
      );
      return;
    default: {
      const image = imageOf(block.type === "document" ? { inlineData: block } : block);
      if (image === undefined)
        conversation.unknown(block, sourceTitle("content_of_type", { type: asString(block.type) }));
      else conversation.media(image);
    }
  }
}

/** Reads a request to the user, or the answer to one. */
function readRequest(conversation: Conversation, block: JsonObject): void {
  const data = asObject(block.data) ?? {};
  switch (data.actionType) {
    case "toolConfirmation":
      conversation.marker(
        "note",
        sourceTitle("asked_for_approval", { tool: asText(data.toolName) }),
        asText(data.prompt),
        data,
      );
      return;
    case "toolConfirmationResponse":
      conversation.marker(
        "note",
        sourceTitle("approval", { decision: asText(data.permission) }),
        undefined,
        data,
      );
      return;
    case "elicitation":
      conversation.marker("note", sourceTitle("asked_user"), asText(data.message), data);
      return;
    case "elicitationResponse":
      conversation.marker("note", sourceTitle("user_answered"), JSON.stringify(data.userData), data);
      return;
    default:
      conversation.unknown(block, sourceTitle("content_of_type", { type: asString(data.actionType) }));
  }
}

/** Reads a call. `developer__shell` is the tool `shell` of the extension `developer`. */
function readCall(conversation: Conversation, block: JsonObject): void {
  const call = asObject(block.toolCall);
  const value = asObject(call?.value);
  const id = asText(block.id);
  const tool_name = asText(value?.name) ?? "unknown";
  const input = inputOf(value?.arguments);
  conversation.toolCall({
    id,
    tool_name,
    arguments_json: JSON.stringify(value?.arguments ?? {}),
    payload: payloadOf(tool_name.split("__").at(-1) ?? tool_name, input),
  });
  const failure = asText(call?.error);
  if (failure !== undefined) conversation.toolResult({ id, status: "error", output_text: failure });
}
