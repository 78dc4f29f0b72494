import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitCall, emitResult } from "../conversation/blocks.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { stemOf } from "../conversation/paths.ts";

/** State of a stream between records. */
export interface DroidExecState {
  conversation: ConversationState;
  named: boolean;
  model?: string;
  /** A call of the open step has a result, so the model's next output belongs to another step. */
  answered: boolean;
  /** The id, length and start of the last thought, which may be printed twice. */
  thought?: string;
}

const idOf = (name: string): string => uuidFrom("droid-exec", name);

/**
 * Reads the events of `droid exec --output-format stream-json`: each text, thought, call and result is an event. The stream
 * contains no boundaries between model calls: a step ends when a call has its result and the model continues. Described by
 * programs that read it, for Droid 0.105.
 */
export const droidExecReader = conversationReader<DroidExecState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    answered: false,
  }),
  read,
});

function read(state: DroidExecState, record: SessionRecord): RecordResult {
  const { value } = record;
  if (!state.named) {
    state.named = true;
    const session = asText(value.session_id);
    if (session !== undefined) state.conversation.session_id = idOf(session);
  }
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
  conversation.update({ agent: "droid-exec" });
  switch (value.type) {
    case "system":
      return readSystem(state, conversation, value);
    case "message":
      return readMessage(state, conversation, record);
    case "reasoning": {
      const text = asString(value.text) ?? "";
      const thought = `${asText(value.id) ?? record.key}:${text.length}:${text.slice(0, 80)}`;
      if (state.thought === thought)
        return conversation.result({ kind: "folded", into: "the same thought before it" });
      state.thought = thought;
      openStep(state, conversation, record);
      conversation.thinking(text);
      return conversation.result();
    }
    case "tool_call":
      openStep(state, conversation, record);
      emitCall(conversation, {
        id: asText(value.id),
        name: asText(value.toolName) ?? asText(value.toolId),
        input: value.parameters,
        json: new RawJson(record).of(value.parameters ?? {}, ["parameters"]),
      });
      return conversation.result();
    case "tool_result":
      state.answered = true;
      emitResult(conversation, {
        tool_use_id: value.id,
        name: value.toolName ?? value.toolId,
        content: value.value,
        is_error: value.isError,
      });
      return conversation.result();
    case "completion":
      return readCompletion(state, conversation, record);
    case "error":
      conversation.error(asText(value.message) ?? sourceTitle("request_failed"), value);
      return conversation.result();
    default:
      conversation.unknown(value, sourceTitle("event_of_type", { type: asString(value.type) }));
      return conversation.result();
  }
}

function readSystem(state: DroidExecState, conversation: Conversation, value: JsonObject): RecordResult {
  const model = asText(value.model);
  const cwd = asText(value.cwd);
  if (model !== undefined) state.model = model;
  conversation.update({ model, cwd });
  return conversation.result({ kind: "folded", into: "the session" });
}

function readMessage(state: DroidExecState, conversation: Conversation, record: SessionRecord): RecordResult {
  const { role, text } = record.value;
  if (typeof text !== "string") {
    conversation.unknown(record.value, sourceTitle("message_of_role", { role: asString(role) }));
    return conversation.result();
  }
  if (role === "assistant") {
    openStep(state, conversation, record);
    conversation.text(text);
  } else {
    state.answered = false;
    conversation.prompt([{ type: "text", text }]);
  }
  return conversation.result({ kind: "hidden", rule: "blank text" });
}

/** Opens a step for output of the model, unless it belongs to the open one. */
function openStep(state: DroidExecState, conversation: Conversation, record: SessionRecord): void {
  if (conversation.hasOpenStep && !state.answered) return;
  state.answered = false;
  conversation.step(record.key, { model: state.model });
}

/** Reads the end of the run, with its tokens. Its text repeats the last message. */
function readCompletion(
  state: DroidExecState,
  conversation: Conversation,
  record: SessionRecord,
): RecordResult {
  const { value } = record;
  const usage = usageOf(asObject(value.usage));
  if (conversation.hasOpenStep) conversation.endStep(usage === undefined ? {} : { usage });
  else if (usage !== undefined) conversation.amendStep({ usage });
  if (value.isError === true) conversation.error(asText(value.finalText) ?? sourceTitle("turn_failed", {}));
  else conversation.endTurn("completed");
  state.answered = false;
  return conversation.result({ kind: "folded", into: "the end of the turn" });
}

function usageOf(value: JsonObject | undefined): Usage | undefined {
  const input = asNumber(value?.input_tokens);
  const output = asNumber(value?.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const cache_read = asNumber(value?.cache_read_input_tokens);
  const cache_write = asNumber(value?.cache_creation_input_tokens);
  return {
    input,
    output,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
  };
}
