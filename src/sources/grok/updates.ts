import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { imageOf, promptParts, timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { queryIn } from "../conversation/wrappers.ts";
import { type GrokState, INJECTED, idOf, keep } from "./state.ts";
import { beginStep, endPiece, noteTurn, type Update } from "./update.ts";
import { readCall, readCallUpdate } from "./update-calls.ts";
import { readNotice } from "./update-notices.ts";

/** 10^10 ticks are one US dollar. */
const TICKS = 1e10;

/**
 * The update in a line of `updates.jsonl`; `undefined`: it has none. Early versions wrote the parameters without a method around
 * them.
 */
export function updateIn(value: JsonObject): { update: JsonObject; meta: JsonObject } | undefined {
  const params = asObject(value.params) ?? value;
  const update = asObject(params.update);
  if (asText(update?.sessionUpdate) === undefined || update === undefined) return undefined;
  return { update, meta: asObject(params._meta) ?? {} };
}

/**
 * Reads `updates.jsonl`, to which Grok appends what it tells its interface: updates of the Agent Client Protocol, and its own. A
 * rewind and a compaction add a line and remove none. Grok derives `chat_history.jsonl`, the model's input, from it.
 *
 * Source: `crates/codegen/xai-grok-shell/src/session/storage/mod.rs` (lines, `chat_rebuild`, rewinds), `storage/jsonl/copy.rs`
 * (forks) and `extensions/notification.rs` (Grok's own updates) of grok-build, and lines of 1.0.5, 1.0.13 and 1.0.34 in public
 * decoders.
 */
export function readUpdate(
  state: GrokState,
  record: SessionRecord,
  { update: value, meta }: { update: JsonObject; meta: JsonObject },
): RecordResult {
  const conversation = new Conversation(state.conversation, record, {
    // The time of a copied line is that of the copy, except of Grok's own time in it.
    at: timeOf(meta.agentTimestampMs) ?? timeOf(record.value.timestamp),
    inherited: isCopied(state, meta),
  });
  if (!state.begun) {
    state.begun = true;
    conversation.update({ agent: "grok" });
  }
  const update: Update = { state, conversation, record, value, meta };
  if (value.sessionUpdate !== "user_message_chunk") state.updates.user = undefined;
  switch (value.sessionUpdate) {
    case "user_message_chunk":
      readPrompt(update);
      break;
    case "agent_message_chunk":
      readChunk(update, "text");
      break;
    case "agent_thought_chunk":
      readChunk(update, "thinking");
      break;
    case "tool_call":
      readCall(update);
      break;
    case "tool_call_update":
      readCallUpdate(update);
      break;
    case "turn_completed":
      readTurnEnd(update);
      break;
    case "rewind_marker":
      readRewind(update);
      break;
    default:
      return readNotice(update);
  }
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** Whether a fork copied the line: the id of its event begins with the id of the session that wrote it. */
function isCopied(state: GrokState, meta: JsonObject): boolean {
  const [, writer] = /^(.+)-\d+$/.exec(asText(meta.eventId) ?? "") ?? [];
  return writer !== undefined && idOf(writer) !== state.conversation.session_id;
}

function readPrompt({ state, conversation, value }: Update): void {
  const { updates } = state;
  endPiece(state, conversation);
  const facts = asObject(value._meta) ?? {};
  const content = asObject(value.content) ?? {};
  const shown = asObject(content._meta) ?? {};
  const typed = asText(facts.displayText) ?? asText(shown.displayText);
  // The prompt is a command that a person ran.
  const isCommand = facts.bash_mode === true || asText(shown.bash_command) !== undefined;
  // Grok's own prompt, such as the end of a background task, which its interface shows elsewhere.
  const isOwn = facts.hostTurn === true || facts.hideFromScrollback === true;
  const injected: string[] = [];
  const parts = promptParts(typed === undefined ? content : { type: "text", text: typed }, (text) => {
    if (isOwn) return text;
    const query = queryIn(text, INJECTED);
    injected.push(...query.injected);
    return query.own;
  });
  const index = asNumber(facts.promptIndex);
  const before = updates.user;
  const continues = before !== undefined && before.index === index;
  updates.user = index === undefined ? {} : { index };
  const queued = continues || facts.interjection === true;
  if (!queued && injected.length > 0) conversation.beginTurn();
  if (injected.length > 0)
    conversation.context(
      sourceTitle("context_from", { agent: "Grok" }),
      injected.map((text) => ({ type: "text" as const, text })),
    );
  if (parts.length === 0) {
    // The end of a background task wakes the model without a prompt.
    if (!queued && injected.length > 0) noteNewTurn(state, conversation, facts);
    return;
  }
  if (continues && content.type !== "text") {
    // A prompt with an image is several updates, without one for its end.
    conversation.context(sourceTitle("attachment"), parts);
    return;
  }
  const origin = isOwn ? "notification" : isCommand ? "command" : undefined;
  conversation.prompt(parts, { queued, origin });
  if (queued) return;
  if (isOwn) updates.woken = true;
  else updates.woken = undefined;
  noteNewTurn(state, conversation, facts, isCommand);
}

/** Remembers a turn that begins. `facts`: those of its prompt. */
function noteNewTurn(
  { updates }: GrokState,
  conversation: Conversation,
  facts: JsonObject,
  isCommand = false,
): void {
  const model = asText(facts.modelId);
  updates.prompt_id = undefined;
  // A command has no index of its own. A rewind to the prompt after it keeps it.
  const index = asNumber(facts.promptIndex) ?? (isCommand ? (updates.turns.at(-1)?.index ?? -1) : undefined);
  noteTurn(updates, conversation, index);
  if (model !== undefined) conversation.nameModel(model);
}

function readChunk(update: Update, kind: "text" | "thinking"): void {
  const { state, conversation, value } = update;
  const { updates } = state;
  const block = asObject(value.content) ?? {};
  const text = asString(block.text);
  if (text === "") {
    conversation.fold("nothing: blank text");
    return;
  }
  const isLate = isAfterStop(update);
  beginStep(update);
  if (updates.piece?.kind !== kind || text === undefined) endPiece(state, conversation);
  const media = imageOf(block);
  if (text !== undefined) updates.piece = conversation.piece(kind, text, updates.piece);
  else if (media === undefined) conversation.unknown(block, sourceTitle("unknown_content"));
  else conversation.media(media);
  if (!isLate) return;
  endPiece(state, conversation);
  conversation.endStep({ stop_reason: "aborted" });
  conversation.endTurn("interrupted");
}

/** Whether a piece of an answer was written after its turn had been stopped. It does not continue the turn. */
function isAfterStop({ state: { updates }, conversation, meta }: Update): boolean {
  const prompt_id = asText(meta.promptId);
  const isStopped = conversation.wasStopped && !conversation.hasRunningTurn;
  return isStopped && prompt_id !== undefined && prompt_id === updates.prompt_id;
}

/** Reads the end of a turn, with the tokens and the cost of all its model calls. */
function readTurnEnd({ state, conversation, value, meta }: Update): void {
  const { updates } = state;
  endPiece(state, conversation);
  const reason = asText(value.stop_reason) ?? "end_turn";
  const prompt_id = asText(value.prompt_id);
  if (prompt_id !== undefined) updates.prompt_id = prompt_id;
  updates.stream = undefined;
  const isStopped = reason === "cancelled";
  const usage = usageOf(asObject(value.usage));
  // The session that a fork was copied from counts the copied turns; its parent's turn includes those of a sub-agent.
  const isCounted = usage !== undefined && state.run === undefined && !isCopied(state, meta);
  conversation.fold("the end of its turn");
  const { step } = state.conversation;
  if (isCounted && state.has_summary === true) {
    if (step === undefined) conversation.sideCall({ usage });
    else if (step.over) conversation.amendStep({ usage });
    else conversation.endStep({ usage, ...(isStopped && { stop_reason: "aborted" as const }) });
  } else if (isCounted && step !== undefined) keep(updates.held, { message_id: step.message_id, usage });
  if (isStopped) {
    conversation.endStep({ stop_reason: "aborted" });
    conversation.interrupt("Cancelled");
  } else if (/error|rate_limit|fail/.test(reason)) {
    // The last retry may have reported it.
    if (!conversation.hasFailed)
      conversation.error(asText(value.agent_result) ?? sourceTitle("turn_failed", { reason }));
  } else {
    conversation.endStep({ stop_reason_raw: reason });
    conversation.endTurn("completed");
  }
}

/** Adds the tokens of ended turns, unless this is a sub-agent's session: its parent's turn includes them. */
export function countHeld({ run, updates }: GrokState, conversation: Conversation): void {
  const { held } = updates;
  updates.held = [];
  if (run !== undefined) return;
  for (const { message_id, usage } of held) conversation.amendEnded(message_id, usage);
}

/** Converts token counts, whose input includes cached tokens. Grok omits a cost that it does not know completely. */
function usageOf(value: JsonObject | undefined): Usage | undefined {
  const input = asNumber(value?.inputTokens);
  const output = asNumber(value?.outputTokens);
  if (value === undefined || input === undefined || output === undefined) return undefined;
  const cache_read = asNumber(value.cachedReadTokens) ?? 0;
  const cache_write = asNumber(value.cacheCreationTokens) ?? 0;
  const reasoning = asNumber(value.reasoningTokens);
  const ticks = asNumber(value.costUsdTicks);
  const isPartial = value.costIsPartial === true || value.usageIsIncomplete === true;
  return {
    input: Math.max(0, input - cache_read - cache_write),
    output,
    ...(cache_read > 0 && { cache_read }),
    ...(cache_write > 0 && { cache_write }),
    ...(reasoning !== undefined && { reasoning }),
    ...(ticks !== undefined && !isPartial && { cost: ticks / TICKS }),
  };
}

/** Withdraws the turns from that of the prompt with the target's index on. Their lines remain in the file. */
function readRewind({ state, conversation, value }: Update): void {
  const { updates } = state;
  endPiece(state, conversation);
  conversation.close(true);
  const target = asNumber(value.target_prompt_index) ?? asNumber(value.targetPromptIndex);
  conversation.marker("rewind", sourceTitle("rewound"), undefined, value);
  if (target === undefined) return;
  const from = updates.turns.findIndex(({ index }) => index >= target);
  if (from === -1) return;
  for (const { id } of updates.turns.splice(from))
    conversation.retractTurn(id, retractionReason("retracted_by_rewind"));
}
