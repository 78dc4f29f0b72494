import type { Frame } from "../../model/frames/frame.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { parseObject } from "../lines/parse-object.ts";
import { blockOf, emitCall, partsOf } from "./blocks.ts";
import { resultOf } from "./results.ts";
import { idOf, type KiroState } from "./state.ts";
import { isInterruptText, steeringIn } from "./texts.ts";

/**
 * Reads a line of a log of Kiro CLI's second engine: `{version: "v1", kind, data}`. `undefined`: the record is of another kind.
 * Source: `aws/amazon-q-developer-cli`, `crates/agent/src/agent/event_log.rs` and `agent_loop/types.rs`, the recorded sessions
 * in `crates/chat-cli-v2/src/agent/kas/fixtures`, and records of Kiro CLI 2.24 and 2.27 in the tests of `lenajeremy/agentman`.
 */
export function readLogged(state: KiroState, record: SessionRecord): RecordResult | undefined {
  const { value } = record;
  const data = asObject(value.data);
  const kind = asText(value.kind);
  if (asText(value.version) === undefined || kind === undefined) return undefined;
  state.named = true;
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(asObject(data?.meta)?.timestamp),
  });
  conversation.update({ agent: "kiro" });
  const { prompt } = state;
  delete state.prompt;
  switch (kind) {
    case "Prompt":
      readPrompt(state, conversation, record, data ?? {});
      break;
    case "AssistantMessage":
      readAnswer(conversation, record, data ?? {});
      break;
    case "ToolResults":
      readResults(conversation, data ?? {});
      break;
    case "Compaction":
      conversation.marker("compaction", sourceTitle("conversation_compacted"), asText(data?.summary), {
        strategy: data?.strategy,
      });
      break;
    case "Clear":
      conversation.marker("note", sourceTitle("context_cleared"));
      break;
    case "ResetTo":
      conversation.marker("rewind", sourceTitle("rewound"), undefined, data);
      break;
    case "CancelledPrompt":
      if (prompt !== undefined)
        conversation.retractRecord(prompt.key, "turn", retractionReason("retracted_by_user"));
      return conversation.result({ kind: "folded", into: "the prompt that it withdraws" });
    default:
      conversation.unknown(value, sourceTitle("record_of_type", { type: kind }));
  }
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function readPrompt(
  state: KiroState,
  conversation: Conversation,
  { key }: SessionRecord,
  data: JsonObject,
): void {
  const context = asText(asObject(data.meta)?.additionalContext);
  if (context !== undefined) {
    conversation.beginTurn();
    conversation.context(sourceTitle("context_from", { agent: "Kiro CLI" }), [
      { type: "text", text: context },
    ]);
  }
  const parts = partsOf(data.content);
  if (parts.length === 0) return;
  conversation.prompt(parts);
  state.prompt = { key };
}

function readAnswer(conversation: Conversation, { key, value }: SessionRecord, data: JsonObject): void {
  const [first, ...others] = asArray(data.content).map(blockOf);
  if (others.length === 0 && typeof first?.data === "string" && isInterruptText(first.data)) {
    conversation.interrupt(first.data);
    return;
  }
  conversation.step(asText(data.message_id) ?? key);
  for (const item of asArray(data.content)) {
    const { kind, data: block } = blockOf(item);
    const inner = asObject(block);
    switch (kind) {
      case "text":
        conversation.text(asString(block) ?? "");
        break;
      case "thinking": {
        const signature = asText(inner?.signature);
        conversation.thinking(asString(inner?.text) ?? "", {
          ...(signature !== undefined && { signature }),
          ...(asText(inner?.text) === undefined && { hidden: "encrypted" }),
        });
        break;
      }
      case "toolUse":
        emitCall(conversation, asText(inner?.toolUseId), inner?.name, inner?.input);
        break;
      default:
        conversation.unknown(asObject(item) ?? value, sourceTitle("block_of_type", { type: kind }));
    }
  }
  // Each answer is one line, which is written when the model has ended it.
  conversation.endStep();
}

/**
 * Reads results, and messages of the user that Kiro gives to the model with them. `results` has the results again, with what each
 * tool was and whether its call was cancelled.
 */
function readResults(conversation: Conversation, data: JsonObject): void {
  const results = asObject(data.results) ?? {};
  for (const item of asArray(data.content)) {
    const { kind, data: block } = blockOf(item);
    const result = asObject(block);
    if (kind === "text" && typeof block === "string") {
      readSteering(conversation, block);
      continue;
    }
    if (kind !== "toolResult" || result === undefined) {
      conversation.unknown(asObject(item) ?? { item }, sourceTitle("block_of_type", { type: kind }));
      continue;
    }
    const id = asText(result.toolUseId);
    const own = id !== undefined && Object.hasOwn(results, id) ? asObject(results[id])?.result : undefined;
    const isCancelled = own === "Cancelled" || "Cancelled" in (asObject(own) ?? {});
    const read = resultOf(id, result.content, asString(result.status)?.toLowerCase() === "error");
    conversation.toolResult(
      isCancelled ? { ...read, status: "aborted", outcome: { kind: "stopped", by: "person" } } : read,
    );
  }
}

function readSteering(conversation: Conversation, text: string): void {
  const messages = steeringIn(text);
  if (messages === undefined)
    conversation.context(sourceTitle("context_from", { agent: "Kiro CLI" }), [{ type: "text", text }]);
  for (const message of messages ?? [])
    conversation.prompt([{ type: "text", text: message }], { queued: true });
}

/**
 * Reads the file beside a log: `<id>.json` of the second engine, `session.json` of the third one. Their tokens are not read: Kiro
 * bills in credits, and writes 0.
 */
export function readSide(state: KiroState, text: string): Frame[] {
  const value = parseObject(text);
  if (value === undefined) return [];
  const inner = asObject(value.session_state);
  const info = asObject(asObject(inner?.rts_model_state)?.model_info);
  const parent = asText(value.parent_session_id) ?? asText(value.parentSessionId);
  if (parent !== undefined) state.parent = idOf(parent);
  const conversation = new Conversation(state.conversation);
  conversation.update({
    agent: "kiro",
    title: asText(value.title),
    cwd: [value.cwd, ...asArray(value.workspacePaths), ...asArray(value.rootPaths)].map(asText).find(Boolean),
    model: asText(info?.model_id) ?? asText(value.modelId),
    ...(state.parent !== undefined && { parent: { session_id: state.parent }, run: { depth: 1 } }),
  });
  return conversation.take();
}
