import type { StopReason, Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitCall } from "../conversation/blocks.ts";
import { blocksIn, imageOf, promptParts, resultContent, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { own } from "../conversation/own.ts";
import { ofFailure } from "../conversation/tool-payload.ts";
import { firstLine } from "../lines/first-line.ts";

/** State of a sample between records. */
export interface InspectState {
  conversation: ConversationState;
  named: boolean;
}

const idOf = (name: string): string => uuidFrom("inspect", name);

/**
 * Reads samples of Inspect evaluation logs. Records: `head` (the evaluation, the sample's id, target and scores),
 * `retry:<index>` for each earlier attempt, `message:<id>` for each message where it was first sent or returned,
 * `failure:<index>` for a failed model call, `event:<index>` for other events, `tool:<id>` for a result without a message, `end`.
 */
export const inspectReader = conversationReader<InspectState>({
  initialState: ({ path }) => ({ conversation: initialConversation(idOf(path)), named: false }),
  read(state, record) {
    if (record.key === "head") return readHead(state, record);
    const { value } = record;
    const conversation = new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
    if (record.key === "end") return readEnd(conversation, value);
    const event = asObject(value.event);
    const retry = asObject(value.retry);
    const failure = asText(value.failure);
    if (event !== undefined) emitEvent(conversation, event);
    else if (failure !== undefined) conversation.error(failure);
    else if (retry !== undefined) {
      const message = asText(retry.message);
      const reason = message === undefined ? undefined : firstLine(message);
      conversation.marker("note", sourceTitle("sample_retried", { reason }), asText(retry.traceback));
    } else emitMessage(conversation, record.key, asObject(value.message) ?? {}, value);
    return conversation.result({ kind: "hidden", rule: "empty message" });
  },
});

function readHead(state: InspectState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.name);
  if (!state.named && name !== undefined) state.conversation.session_id = idOf(name);
  state.named = true;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.started_at) });
  const model = asText(value.model);
  const title = [asText(value.task), value.sample_id, value.epoch === 1 ? undefined : `epoch ${value.epoch}`]
    .filter((part) => part !== undefined && part !== null)
    .map(String)
    .join(" · ");
  const agent_version = asText(value.version);
  conversation.update({
    agent: "inspect",
    title,
    model,
    agent_version,
  });
  const target = asArray(value.target).length > 0 ? asArray(value.target).join("\n") : asText(value.target);
  if (target !== undefined)
    conversation.marker(
      "note",
      sourceTitle("target", { target: target.split("\n", 1)[0] ?? target }),
      target,
    );
  return conversation.result({ kind: "folded", into: "the session" });
}

const REASONS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  max_tokens: "length",
  model_length: "length",
  tool_calls: "tool_use",
  content_filter: "error",
};

/** Converts usage. `input_tokens` excludes cached tokens. */
function usageOf(value: unknown): Usage | undefined {
  const usage = asObject(value);
  const input = asNumber(usage?.input_tokens);
  const output = asNumber(usage?.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const cache_read = asNumber(usage?.input_tokens_cache_read);
  const cache_write = asNumber(usage?.input_tokens_cache_write);
  const reasoning = asNumber(usage?.reasoning_tokens);
  const cost = asNumber(usage?.total_cost);
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
    ...(reasoning !== undefined && { reasoning }),
    ...(cost !== undefined && { cost }),
  };
}

/** Emits a message. `facts`: facts from the model event that the message lacks. */
function emitMessage(conversation: Conversation, key: string, message: JsonObject, facts: JsonObject): void {
  const { content } = message;
  switch (message.role) {
    case "system":
      if (promptParts(content).length > 0)
        conversation.context(sourceTitle("system_prompt"), promptParts(content));
      return;
    case "user": {
      const parts = promptParts(content);
      // Text from the solver to a working model is not a person's.
      const options = message.source === "generate" ? { origin: "agent" as const } : {};
      // An operator may write to a model that is working.
      if (parts.length > 0) conversation.prompt(parts, { ...options, queued: message.source === "operator" });
      return;
    }
    case "assistant": {
      const model = asText(message.model) ?? asText(facts.model);
      conversation.step(key, model === undefined ? {} : { model });
      for (const block of blocksIn(content)) emitContent(conversation, block);
      for (const item of asArray(message.tool_calls)) {
        const call = asObject(item) ?? {};
        emitCall(conversation, {
          id: asText(call.id),
          name: asText(call.function),
          input: call.arguments ?? {},
        });
      }
      const raw = asText(facts.stop_reason);
      const stop_reason = own(REASONS, raw);
      const usage = usageOf(facts.usage);
      conversation.endStep({
        stop_reason,
        stop_reason_raw: raw,
        usage,
      });
      return;
    }
    case "tool": {
      const id = asText(message.tool_call_id);
      const tool_name = asText(message.function);
      const error = asObject(message.error);
      const error_message = asText(error?.message);
      const { output_text, parts } = resultContent(content);
      conversation.toolResult({
        id,
        tool_name,
        status: error === undefined ? "success" : "error",
        output_text:
          error_message !== undefined && !output_text.includes(error_message)
            ? `${output_text}\n${error_message}`.trim()
            : output_text,
        parts,
        payload: (call) => (error === undefined ? call : ofFailure(call)),
      });
      return;
    }
    default:
      conversation.unknown(message, sourceTitle("message_of_role", { role: asString(message.role) }));
  }
}

function emitContent(conversation: Conversation, block: JsonObject): void {
  switch (block.type) {
    case "text":
      conversation.text(asString(block.text) ?? "");
      return;
    case "reasoning": {
      const signature = asText(block.signature);
      const redacted = block.redacted === true;
      conversation.thinking(redacted ? (asString(block.summary) ?? "") : (asString(block.reasoning) ?? ""), {
        signature,
        ...(redacted && asText(block.summary) === undefined && { hidden: "encrypted" as const }),
      });
      return;
    }
    case "tool_use": {
      const id = asText(block.id);
      const name = asText(block.name) ?? "tool";
      conversation.toolCall({
        id,
        tool_name: name,
        arguments_json: asText(block.arguments) ?? JSON.stringify(block.arguments ?? {}),
        by_server: true,
      });
      if (block.result === undefined) return;
      conversation.toolResult({
        id,
        tool_name: name,
        status: asText(block.error) === undefined ? "success" : "error",
        output_text: asText(block.error) ?? asString(block.result) ?? JSON.stringify(block.result),
      });
      return;
    }
    default: {
      const media = imageOf(block);
      if (media === undefined)
        conversation.unknown(block, sourceTitle("content_of_type", { type: asString(block.type) }));
      else conversation.media(media);
    }
  }
}

function emitEvent(conversation: Conversation, event: JsonObject): void {
  switch (event.event) {
    case "error":
      conversation.error(asText(asObject(event.error)?.message) ?? sourceTitle("sample_failed"));
      return;
    case "sample_limit":
      conversation.marker(
        "note",
        sourceTitle("limit_reached", { limit: asText(event.type) }),
        asText(event.message),
      );
      return;
    case "info":
      conversation.marker("note", sourceTitle("info", { source: asText(event.source) }), textOf(event.data));
      return;
    case "approval":
    case "review": {
      const decision = asText(event.decision);
      const isOfResult = event.event === "review" || event.stage === "result";
      const title = isOfResult
        ? sourceTitle("approval_of_result", { decision })
        : sourceTitle("approval", { decision });
      const approver = event.approver ?? event.reviewer;
      conversation.marker("note", title, asText(event.explanation), { approver, call: event.call });
      return;
    }
    case "interrupt":
      emitInterrupt(conversation, event);
      return;
    case "score_edit": {
      const edit = asObject(event.edit) ?? {};
      const value = edit.value === "UNCHANGED" ? undefined : textOf(edit.value);
      const reason = asText(asObject(edit.provenance)?.reason) ?? asText(edit.explanation);
      conversation.marker(
        "note",
        sourceTitle("score_edited", { name: asText(event.score_name), value }),
        reason,
        edit,
      );
      return;
    }
    case "input":
      conversation.prompt([{ type: "text", text: asText(event.input) ?? "" }], { queued: true });
      return;
    case "score": {
      const score = asObject(event.score) ?? {};
      conversation.marker(
        "note",
        sourceTitle("score", { value: textOf(score.value) }),
        asText(score.explanation),
        score,
      );
      return;
    }
    case "compaction": {
      const before = asNumber(event.tokens_before);
      const now = asNumber(event.tokens_after);
      const title =
        before === undefined || now === undefined
          ? sourceTitle("conversation_compacted")
          : sourceTitle("conversation_compacted_tokens", { before, now });
      conversation.marker("compaction", title, undefined, event);
      return;
    }
    default:
      conversation.unknown(event, sourceTitle("event_of_type", { type: asString(event.event) }));
  }
}

/** Emits an interrupt of the turn by a person, a limit, or the evaluation that ends. */
function emitInterrupt(conversation: Conversation, event: JsonObject): void {
  if (event.source === "limit") {
    conversation.marker("note", sourceTitle("interrupted_by_limit"), undefined, event);
    return;
  }
  const during = event.interrupted === "tool_call" ? " during a tool call" : "";
  conversation.interrupt(
    event.source === "user_cancel" ? `interrupted by the user${during}` : `stopped${during}`,
  );
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Reads the end of the sample: its scores or error. */
function readEnd(conversation: Conversation, value: JsonObject): RecordResult {
  for (const [name, item] of Object.entries(asObject(value.scores) ?? {})) {
    const score = asObject(item) ?? {};
    conversation.marker(
      "note",
      sourceTitle("score", { name, value: textOf(score.value) }),
      asText(score.explanation),
      {
        answer: score.answer,
        metadata: score.metadata,
        ...(asArray(score.history).length > 0 && { history: score.history }),
      },
    );
  }
  const error = asObject(value.error);
  if (error !== undefined && value.error_told !== true)
    conversation.error(asText(error.message) ?? sourceTitle("sample_failed"));
  conversation.endTurn(error === undefined ? "completed" : "failed");
  return conversation.result({ kind: "folded", into: "the end of its turn" });
}
