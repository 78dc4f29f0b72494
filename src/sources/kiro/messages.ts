import type { Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { emitCall } from "./blocks.ts";
import { resultOf } from "./results.ts";
import type { KiroState } from "./state.ts";

/** Payloads that describe the running session, and add nothing to what it says. */
const BOOKKEEPING = new Set(["turn_start", "usage_summary", "session_metadata", "session_event"]);

/**
 * Reads a line of `messages.jsonl`, the log of Kiro CLI's third engine, which is that of the Kiro IDE: `{id, timestamp, payload}`.
 * `undefined`: the record is of another kind. Source: `aws/amazon-q-developer-cli`, `crates/chat-cli-v2/src/agent/kas/schema.rs`
 * and `v2_to_kas.rs`, which name five kinds of payloads; the others are from independent decoders (`casr`, aws-bench) and a
 * session of the Kiro IDE (`superbasedapp/observer`, `testdata/kirocli/ide`).
 */
export function readMessage(state: KiroState, record: SessionRecord): RecordResult | undefined {
  const { value } = record;
  const payload = asObject(value.payload);
  const type = asText(payload?.type);
  if (payload === undefined || type === undefined) return undefined;
  state.named = true;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
  conversation.update({ agent: "kiro" });
  if (BOOKKEEPING.has(type))
    return conversation.result({ kind: "hidden", rule: "bookkeeping of the engine" });
  const { prompt } = state;
  delete state.prompt;
  switch (type) {
    case "session_start":
      if (payload.forcedRole === true || state.conversation.turn !== undefined) {
        // Kiro writes it after the first turn.
        conversation.context(sourceTitle("system_prompt"), [{ type: "text", text: textOf(payload.content) }]);
        break;
      }
      readUser(state, conversation, record, { payload, before: prompt?.text });
      break;
    case "user":
      readUser(state, conversation, record, { payload, before: prompt?.text });
      break;
    case "assistant":
      readAnswer(conversation, payload);
      break;
    case "tool_call":
      readCall(conversation, payload);
      break;
    case "tool_result":
      conversation.endStep();
      conversation.toolResult(
        resultOf(asText(payload.toolCallId), payload.content, payload.success === false),
      );
      break;
    case "steering_inclusion": {
      const documents = documentsOf(payload.documents);
      if (documents.length > 0) conversation.context(documentsTitle, documents);
      break;
    }
    case "pending_interaction":
      readQuestion(conversation, payload);
      break;
    case "interaction_resolved":
      return conversation.result({ kind: "folded", into: "what the answer allowed" });
    case "tombstone":
      readTombstone(conversation, payload);
      break;
    case "turn_end":
      conversation.endTurn(statusOf(payload));
      return conversation.result({ kind: "folded", into: "the end of the turn" });
    default:
      conversation.unknown(value, sourceTitle("record_of_type", { type }));
  }
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** How a turn ended, in the words of the protocol that the engine speaks (ACP), or in others. */
function statusOf(payload: JsonObject): TurnStatus {
  const reason = asText(payload.stopReason) ?? asText(payload.status) ?? "";
  if (/^(?:cancel|abort|interrupt)/i.test(reason)) return "interrupted";
  return /^(?:error|fail)/i.test(reason) ? "failed" : "completed";
}

/** The first prompt is in `session_start`, and in some files again in a `user`. */
function readUser(
  state: KiroState,
  conversation: Conversation,
  { key }: SessionRecord,
  { payload, before }: { payload: JsonObject; before: string | undefined },
): void {
  const text = textOf(payload.content);
  const images = asArray(payload.images).map((item) => {
    const image = asObject(item);
    const data = asText(image?.data);
    if (data === undefined) return { type: "unknown" as const, raw: item };
    const mime = asText(image?.mime_type) ?? asText(image?.mimeType) ?? "image/png";
    return { type: "image_url" as const, url: `data:${mime};base64,${data}` };
  });
  if (before !== undefined && before === text && images.length === 0) {
    conversation.fold("the prompt before it");
    return;
  }
  const parts = [...(asText(text) === undefined ? [] : [{ type: "text" as const, text }]), ...images];
  const documents = documentsOf(payload.documents);
  if (documents.length > 0) {
    if (parts.length > 0 && payload.source !== "steer") conversation.beginTurn();
    conversation.context(documentsTitle, documents);
  }
  if (parts.length === 0) return;
  const isHook = payload.source === "hook";
  conversation.prompt(parts, {
    queued: payload.source === "steer",
    ...(isHook && { origin: "notification" }),
  });
  if (payload.type === "session_start" && text.length < 10_000) state.prompt = { key, text };
}

function readAnswer(conversation: Conversation, payload: JsonObject): void {
  const text = asString(payload.content) ?? "";
  switch (payload.operationType) {
    case "Reasoning": {
      const signature = asText(payload.reasoningSignature);
      // What is in place of a thought that only the provider can read.
      const isHidden = signature !== undefined && /^(?:\.\.\.|…)?$/.test(text);
      conversation.thinking(isHidden ? "" : text, { signature, ...(isHidden && { hidden: "encrypted" }) });
      return;
    }
    case "Summary":
      conversation.marker("compaction", sourceTitle("conversation_compacted"), text);
      return;
    case "Print":
      conversation.marker("note", sourceTitle("notification"), text);
      return;
    default:
      conversation.text(text);
  }
}

/** A text, or the texts of blocks. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return asArray(content)
    .flatMap((item) => asText(asObject(item)?.text) ?? [])
    .join("\n");
}

const documentsTitle = sourceTitle("context_from", { agent: "Kiro" });

/** The names and texts of documents that the user or a rule added. */
function documentsOf(documents: unknown): Part[] {
  return asArray(documents).flatMap((item): Part[] => {
    const document = asObject(item);
    const name = asText(item) ?? asText(document?.displayName) ?? asText(document?.id);
    const text = [name, asText(document?.content)].filter(Boolean).join("\n");
    return text === "" ? [] : [{ type: "text", text }];
  });
}

/** Reads a question to the user. One whether a call may run says nothing that the call does not say. */
function readQuestion(conversation: Conversation, payload: JsonObject): void {
  if (payload.interactionType === "tool_approval") {
    conversation.fold("its call");
    return;
  }
  const options = asArray(payload.options).flatMap((option) => asText(asObject(option)?.name) ?? []);
  const text = [asString(payload.question) ?? "", ...options.map((option) => `- ${option}`)].join("\n");
  conversation.marker("note", sourceTitle("notification"), text);
}

/** Reads a call, or a later status of it. */
function readCall(conversation: Conversation, payload: JsonObject): void {
  const id = asText(payload.toolCallId);
  if (id !== undefined && conversation.awaits(id)) conversation.fold("its call");
  else emitCall(conversation, id, payload.toolName, payload.args);
  if (payload.status === "denied") {
    conversation.endStep();
    conversation.toolResult({
      id,
      status: "aborted",
      output_text: "",
      outcome: { kind: "refused", by: "person" },
    });
  }
}

/** Reads the removal of messages. Those before a summary stay valid for the reader, only the model does not see them. */
function readTombstone(conversation: Conversation, payload: JsonObject): void {
  if (payload.kind === "summarization") {
    conversation.fold("the summary after it");
    return;
  }
  conversation.marker("rewind", sourceTitle("rewound"), undefined, payload);
}
