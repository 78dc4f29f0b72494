import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { blocksIn, promptParts, resultContent, textIn } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { inputOf, ofFailure, payloadOf, withExit } from "../conversation/tool-payload.ts";
import { readAcpCall } from "./acp-call.ts";

/** State of a conversation between events. */
export interface OpenHandsState {
  conversation: ConversationState;
  named: boolean;
}

/**
 * Reads the events of a conversation: messages, actions (tool calls; parallel ones share `llm_response_id`), their
 * observations, and the program's activity. Source: `openhands/sdk/event` of the software agent SDK. No event says how a turn
 * ended.
 */
export const openHandsReader = conversationReader<OpenHandsState>({
  initialState: () => ({ conversation: initialConversation(uuidFrom("openhands", "")), named: false }),
  read,
});

/** Events about the program's internal state. */
const STATE_EVENTS = new Set([
  "ConversationStateUpdateEvent",
  "TokenEvent",
  "LLMCompletionLogEvent",
  "StreamingDeltaEvent",
]);

function read(state: OpenHandsState, record: SessionRecord): RecordResult {
  const { value } = record;
  const at = Date.parse(asText(value.timestamp) ?? "");
  const conversation = new Conversation(state.conversation, record, {
    at: Number.isNaN(at) ? undefined : at,
  });
  if (record.key === "state") return readState(state, conversation, value);
  conversation.update({ agent: "openhands" });
  const kind = asString(value.kind) ?? "unknown";
  if (STATE_EVENTS.has(kind)) return conversation.result({ kind: "hidden", rule: "state of the program" });
  if (kind === "ACPToolCallEvent") readAcpCall(state.conversation, conversation, value);
  else readEvent(conversation, record, kind);
  return conversation.result({ kind: "hidden", rule: "empty event" });
}

function readState(state: OpenHandsState, conversation: Conversation, value: JsonObject): RecordResult {
  const name = asText(value.name);
  if (!state.named && name !== undefined) state.conversation.session_id = uuidFrom("openhands", name);
  state.named = true;
  const cwd = asText(value.cwd);
  const title = asText(value.title);
  const model = asText(value.model);
  conversation.update({
    agent: "openhands",
    cwd,
    title,
    model,
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

function readEvent(conversation: Conversation, { value, key }: SessionRecord, kind: string): void {
  const step = asText(value.llm_response_id) ?? key;
  switch (kind) {
    case "SystemPromptEvent":
      conversation.context(
        sourceTitle("system_prompt"),
        promptParts(
          [value.system_prompt, value.dynamic_context].filter((part) => asObject(part) !== undefined),
        ),
      );
      return;
    case "MessageEvent":
      readMessage(conversation, value, step);
      return;
    case "ActionEvent":
      conversation.step(step);
      readThoughts(conversation, value);
      conversation.text(textIn(value.thought));
      readAction(conversation, value);
      return;
    case "ObservationEvent":
      readObservation(conversation, value);
      return;
    case "AgentErrorEvent":
      readFailure(conversation, value);
      return;
    case "UserRejectObservation":
      readRejection(conversation, value);
      return;
    case "PauseEvent":
      conversation.marker("interrupt", sourceTitle("paused_by_user"));
      return;
    case "InterruptEvent":
      conversation.interrupt(asText(value.reason) ?? "interrupted by the user");
      return;
    case "HookExecutionEvent":
      readHook(conversation, value);
      return;
    case "Condensation":
    case "CondensationSummaryEvent":
      conversation.marker("compaction", sourceTitle("condensed"), asText(value.summary), value);
      return;
    case "CondensationRequest":
      conversation.marker("note", sourceTitle("condensation_requested"));
      return;
    case "ConversationErrorEvent":
      conversation.error(asText(value.detail) ?? asText(value.code) ?? sourceTitle("error"), value);
      return;
    default:
      conversation.unknown(value, sourceTitle("event_of_kind", { kind }));
  }
}

function readMessage(conversation: Conversation, value: JsonObject, step: string): void {
  const message = asObject(value.llm_message);
  const added = promptParts(value.extended_content);
  if (value.source === "user") {
    if (added.length > 0) {
      conversation.beginTurn();
      conversation.context(sourceTitle("context_from", { agent: "OpenHands" }), added);
    }
    conversation.prompt(promptParts(withImages(message?.content)));
    return;
  }
  if (value.source !== "agent") {
    conversation.context(
      sourceTitle("message_of_the", { source: asText(value.source) }),
      promptParts(withImages(message?.content)),
    );
    return;
  }
  conversation.step(step);
  if (message !== undefined) readThoughts(conversation, message);
  conversation.text(textIn(message?.content));
}

/** The blocks of a content, where one of images has several URLs. */
function withImages(content: unknown): JsonObject[] {
  return blocksIn(content).flatMap((block) =>
    Array.isArray(block.image_urls)
      ? block.image_urls.map((url) => ({ type: "image_url", image_url: url }))
      : [block],
  );
}

/** Emits thoughts. Thoughts that are signed, or an item of the Responses API, are written twice: as such and as text. */
function readThoughts(conversation: Conversation, value: JsonObject): void {
  const blocks = asArray(value.thinking_blocks).map((each) => asObject(each) ?? {});
  for (const block of blocks) {
    if (block.type === "redacted_thinking") conversation.thinking("", { hidden: "redacted" });
    else {
      const signature = asText(block.signature);
      conversation.thinking(asString(block.thinking) ?? "", signature === undefined ? {} : { signature });
    }
  }
  if (blocks.length > 0) return;
  const item = asObject(value.responses_reasoning_item);
  const written = asArray(item?.content).length > 0 ? item?.content : item?.summary;
  const texts = asArray(written).flatMap((text) => asText(text) ?? []);
  const text = asText(value.reasoning_content) ?? texts.join("\n\n");
  const signature = asText(item?.encrypted_content);
  conversation.thinking(text, {
    signature,
    ...(text === "" && signature !== undefined && { hidden: "encrypted" as const }),
  });
}

/** Emits an action. `tool_call` is flat, or nested as in OpenAI's chat API. */
function readAction(conversation: Conversation, value: JsonObject): void {
  const call = asObject(value.tool_call);
  const written = call?.arguments ?? asObject(call?.function)?.arguments;
  const { kind: _, ...action } = asObject(value.action) ?? {};
  const input = inputOf(written) ?? action;
  const id = asText(value.tool_call_id);
  const tool_name = asText(value.tool_name) ?? "unknown";
  conversation.toolCall({
    id,
    tool_name,
    arguments_json: typeof written === "string" ? written : JSON.stringify(written ?? action),
    payload: payloadOf(NAMES.get(tool_name) ?? tool_name, input),
  });
}

/** Common tool names by OpenHands' names, to choose their cards. */
const NAMES = new Map([
  ["terminal", "bash"],
  ["execute_bash", "bash"],
]);

function readObservation(conversation: Conversation, value: JsonObject): void {
  const observation = asObject(value.observation);
  const metadata = asObject(observation?.metadata);
  const isError = observation?.is_error === true || asText(observation?.error) !== undefined;
  const content = observation?.content ?? observation?.output ?? observation?.error;
  const added = blocksIn(value.extended_content);
  const { output_text, parts } = resultContent(
    typeof content === "string" ? [content, ...added] : [...withImages(content), ...added],
  );
  const id = asText(value.tool_call_id);
  const exit_code = asNumber(observation?.exit_code) ?? asNumber(metadata?.exit_code);
  conversation.toolResult({
    id,
    tool_name: asText(value.tool_name) ?? "unknown",
    status: isError ? "error" : "success",
    output_text,
    parts,
    payload: (asked) => withExit(isError ? ofFailure(asked) : asked, { exit_code }),
  });
}

function readFailure(conversation: Conversation, value: JsonObject): void {
  const id = asText(value.tool_call_id);
  const text = asText(value.error);
  if (id === undefined || !conversation.awaits(id)) conversation.error(text ?? sourceTitle("error"), value);
  else conversation.toolResult({ id, status: "error", output_text: text ?? "Error", payload: ofFailure });
}

function readHook(conversation: Conversation, value: JsonObject): void {
  const name = [asText(value.hook_event_type), asText(value.tool_name)].filter((part) => part !== undefined);
  const status = value.blocked === true ? "blocked" : value.success === false ? "failed" : undefined;
  const texts = [value.reason, value.additional_context, value.error, value.stderr, value.stdout];
  conversation.marker(
    "hook",
    sourceTitle("hook_status", { hook: name.join(" "), status }),
    texts.map(asText).find((text) => text !== undefined),
    value,
  );
}

function readRejection(conversation: Conversation, value: JsonObject): void {
  const id = asText(value.tool_call_id);
  conversation.toolResult({
    id,
    tool_name: asText(value.tool_name) ?? "unknown",
    status: "aborted",
    output_text: asText(value.rejection_reason) ?? "",
    outcome: { kind: "refused", by: value.rejection_source === "hook" ? "hook" : "person" },
    payload: ofFailure,
  });
}
