import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { addItem, hasItem } from "../recent-items.ts";
import { blockOf, emitCall, imageOf } from "./blocks.ts";
import { resultOf } from "./results.ts";
import { databaseId, idOf, type KiroState } from "./state.ts";
import { isInterruptText, isOwnPrompt, REFUSED_CALLS, STOPPED_CALLS } from "./texts.ts";

/** Number of keys that are remembered to recognize changed records. */
const MAX_RECENT = 200;

/** Reads a record of a conversation in the database or in a saved file; `undefined`: the record is of another kind. */
export function readStored(state: KiroState, record: SessionRecord): RecordResult | undefined {
  const [, kind] = /^(head$|summary:|user:|answer:)/.exec(record.key) ?? [];
  if (kind === undefined) return undefined;
  if (kind === "head") return readHead(state, record);
  const { value } = record;
  const metadata = asObject(value.request_metadata);
  const revises = hasItem(state.recent, record.key);
  const conversation = new Conversation(state.conversation, record, {
    at:
      kind === "user:"
        ? timeOf(asObject(value.user)?.timestamp)
        : timeOf(metadata?.request_start_timestamp_ms),
    revises,
  });
  if (record.deleted === true) return remove(conversation, record, kind);
  if (!revises) addItem(state.recent, record.key, MAX_RECENT);
  conversation.update({ agent: "kiro" });
  if (kind === "summary:")
    conversation.marker("compaction", sourceTitle("conversation_compacted"), asText(value.summary));
  else if (kind === "user:") readUser(conversation, value);
  else {
    readAnswer(conversation, record, metadata);
    const ended = timeOf(metadata?.stream_end_timestamp_ms);
    if (ended !== undefined) state.conversation.at = Math.max(state.conversation.at, ended);
    conversation.endStep();
  }
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function readHead(state: KiroState, record: SessionRecord): RecordResult {
  const { value } = record;
  const id = asText(value.conversation_id);
  if (!state.named && id !== undefined) state.conversation.session_id = databaseId(id);
  state.named = true;
  // A saved file may be of an earlier time.
  if (record.place.kind === "row" && id !== undefined) state.log_id = idOf(id);
  const conversation = new Conversation(state.conversation, record);
  conversation.update({ agent: "kiro", cwd: asText(value.cwd), model: asText(value.model) });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** A compaction or `/clear` removed an entry, or another summary replaced one. */
function remove(conversation: Conversation, record: SessionRecord, kind: string): RecordResult {
  const into = { kind: "folded", into: "what it removed" } as const;
  // The summaries are the only trace of earlier compactions.
  if (kind === "summary:") return conversation.result(into);
  const reason = retractionReason("removed_by", { agent: "Kiro CLI" });
  conversation.retract(reason);
  if (kind === "user:") conversation.retractRecord(record.key, "turn", reason);
  return conversation.result(into);
}

/** The prompt of a user message: `Prompt`, or `CancelledToolUses` if the user typed something instead. */
function promptIn(user: JsonObject | undefined): string | undefined {
  const { data } = blockOf(user?.content);
  return asString(asObject(data)?.prompt);
}

function readUser(conversation: Conversation, value: JsonObject): void {
  const user = asObject(value.user);
  const { kind, data } = blockOf(user?.content);
  if (kind !== "prompt" && kind !== "tooluseresults" && kind !== "cancelledtooluses") {
    conversation.unknown(value, sourceTitle("content_of_type", { type: kind }));
    return;
  }
  const prompt = asText(promptIn(user));
  const isCancelled = kind === "cancelledtooluses";
  // Otherwise the user did not allow the calls, and maybe typed something instead.
  const stopped = prompt === STOPPED_CALLS ? "stopped" : "refused";
  for (const item of asArray(asObject(data)?.tool_use_results)) {
    const result = asObject(item);
    const isError = asString(result?.status)?.toLowerCase() === "error";
    const read = resultOf(asText(result?.tool_use_id), result?.content, isError);
    conversation.toolResult(
      isCancelled ? { ...read, status: "aborted", outcome: { kind: stopped, by: "person" } } : read,
    );
  }
  if (isCancelled && (prompt === STOPPED_CALLS || prompt === REFUSED_CALLS)) return;
  const images = asArray(user?.images).map(
    (image) => imageOf(image) ?? { type: "unknown" as const, raw: image },
  );
  const parts = [...(prompt === undefined ? [] : [{ type: "text" as const, text: prompt }]), ...images];
  const context = asText(user?.additional_context);
  if (parts.length > 0 && context !== undefined) conversation.beginTurn();
  if (context !== undefined)
    conversation.context(sourceTitle("context_from", { agent: "Kiro CLI" }), [
      { type: "text", text: context },
    ]);
  const origin = prompt !== undefined && isOwnPrompt(prompt) ? "notification" : undefined;
  if (parts.length > 0) conversation.prompt(parts, { origin });
}

function readAnswer(
  conversation: Conversation,
  { key, value }: SessionRecord,
  metadata: JsonObject | undefined,
): void {
  const { kind, data } = blockOf(value.assistant);
  const answer = asObject(data);
  if (answer === undefined || (kind !== "response" && kind !== "tooluse")) {
    conversation.unknown(value, sourceTitle("content_of_type", { type: kind }));
    return;
  }
  const text = asString(answer.content) ?? "";
  if (isInterruptText(text)) {
    conversation.interrupt(text);
    return;
  }
  conversation.step(key, { model: asText(metadata?.model_id) });
  const thought = asObject(answer.thinking);
  const inner = asObject(thought?.reasoning_text) ?? thought;
  if (thought !== undefined) {
    const signature = asText(inner?.signature);
    conversation.thinking(asString(inner?.text) ?? "", {
      ...(signature !== undefined && { signature }),
      ...(asText(inner?.text) === undefined && { hidden: "encrypted" }),
    });
  }
  conversation.text(text);
  for (const item of asArray(answer.tool_uses)) {
    const call = asObject(item);
    emitCall(conversation, asText(call?.id) ?? numberText(call?.id), call?.name, call?.args);
  }
}

const numberText = (value: unknown): string | undefined => asNumber(value)?.toString();
