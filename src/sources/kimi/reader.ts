import type { Frame } from "../../model/frames/frame.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { Disposition, RecordResult, SessionRecord } from "../contract.ts";
import { promptParts, textIn, timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { own } from "../conversation/own.ts";
import { namesOf } from "../conversation/paths.ts";
import { promptKey, startedRuns } from "../conversation/runs.ts";
import { fingerprint } from "../fingerprint.ts";
import { parseObject } from "../lines/parse-object.ts";
import { emitPart, readLoopEvent } from "./loop.ts";
import { BOOKKEEPING, FOLDED, MODES } from "./records.ts";
import { emitPrompt, type KimiState, REFUSED, usageOf } from "./state.ts";
import { readUserMessage } from "./user.ts";

/** Maximum number of linked sub-agents. */
const MAX_RUNS = 500;

const idOf = (name: string): string => {
  const bare = name.replace(/^session_/, "");
  return isUuid(bare) ? bare.toLowerCase() : uuidFrom("kimi", name);
};

/**
 * Reads Kimi Code's `wire.jsonl`, an event log of one agent of a session: `<session>/agents/<agent>/wire.jsonl`. The agent that
 * a person talks to is `main`.
 */
export const kimiReader = conversationReader<KimiState>({
  initialState({ path }) {
    const names = namesOf(path);
    const isPlaced = names.at(-1) === "wire.jsonl" && names.at(-3) === "agents";
    const agent = isPlaced ? (names.at(-2) ?? "main") : "main";
    const main = idOf(isPlaced ? (names.at(-4) ?? path) : path);
    return {
      conversation: initialConversation(agent === "main" ? main : uuidFrom(main, `agent:${agent}`)),
      ...(agent !== "main" && { parent: { session_id: main, agent } }),
      ...startedRuns(),
      begun: false,
      turns: [],
      allowed: {},
    };
  },
  sessionId: (state) => state.conversation.session_id,
  read,
  readSide,
  end(state, stopped) {
    const conversation = new Conversation(state.conversation);
    conversation.close(stopped || state.cancelled === true);
    return conversation.take();
  },
  linkFacts({ conversation: { session_id, at }, parent, runs }) {
    const run =
      parent === undefined
        ? undefined
        : { agent_key: parent.agent, parent_session_id: parent.session_id, at };
    return {
      sessions: [{ session_id, group: parent?.session_id ?? session_id, calls: runs, ...(run && { run }) }],
    };
  },
});

function read(state: KimiState, record: SessionRecord): RecordResult {
  const { value } = record;
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(value.time) ?? timeOf(value.created_at) ?? timeOf(value.timestamp),
  });
  if (!state.begun) {
    state.begun = true;
    conversation.update({
      agent: "kimi",
      ...(state.parent !== undefined && { parent: { session_id: state.parent.session_id } }),
    });
  }
  const type = asString(value.type) ?? "";
  if (state.cancelled === true && type === "turn.prompt") {
    state.cancelled = undefined;
    conversation.interrupt("Cancelled");
  }
  if (type === "context.append_loop_event") state.placed = undefined;
  const otherwise = readRecord(state, conversation, record, type);
  return conversation.result(otherwise);
}

function readRecord(
  state: KimiState,
  conversation: Conversation,
  record: SessionRecord,
  type: string,
): Disposition | undefined {
  const { value } = record;
  switch (type) {
    case "config.update":
    case "environment.set_binding":
    case "profile.bind":
      return readConfig(state, conversation, value);
    case "turn.prompt":
    case "turn.steer":
      return readPrompt(state, conversation, value, type === "turn.steer");
    case "turn.cancel":
      return readCancel(state, conversation, value);
    case "turn.ended":
      return readEnd(state, conversation, value);
    case "context.append_message":
      return readUserMessage(state, conversation, record);
    case "context.append_loop_event":
      return readLoopEvent(state, conversation, record);
    case "llm.request":
      return readRequest(state, conversation, value);
    case "usage.record":
      return readUsage(state, conversation, value);
    case "permission.record_approval_result":
      return readApproval(state, conversation, value);
    case "turn.step.retrying":
      noteRetry(state, conversation, value);
      return undefined;
    case "agent.message.appended":
    case "human.agent.message.appended":
      return readMirror(conversation, value);
    case "subagent.spawned":
      nameSpawned(state, value);
      return { kind: "folded", into: "the call that started it" };
    case "context.apply_compaction":
      conversation.marker("compaction", compactionTitle(value), summaryIn(value), {
        ...(value.compactedCount !== undefined && { compacted_messages: value.compactedCount }),
        ...(value.contextSummary !== undefined && { context_summary: value.contextSummary }),
      });
      return undefined;
    case "context.undo":
      return readUndo(state, conversation, value);
  }
  const into = own(FOLDED, type);
  if (into !== undefined) return { kind: "folded", into };
  const title = own(MODES, type)?.(value);
  if (title !== undefined) {
    conversation.marker("note", title);
    return undefined;
  }
  if (BOOKKEEPING.has(type)) return { kind: "hidden", rule: `bookkeeping: ${type}` };
  conversation.unknown(value, sourceTitle("record_of_type", { type: type === "" ? undefined : type }));
  return undefined;
}

/** The summary of a compaction, a text or a message. */
function summaryIn({ summary }: JsonObject): string | undefined {
  return asString(summary) ?? (asObject(summary) && textIn(asObject(summary)?.content));
}

function compactionTitle({ tokensBefore, tokensAfter }: JsonObject): CodedText {
  const [before, now] = [asNumber(tokensBefore), asNumber(tokensAfter)];
  return before === undefined || now === undefined
    ? sourceTitle("conversation_compacted")
    : sourceTitle("conversation_compacted_tokens", { before, now });
}

/** Reads the settings, of which the system prompt is shown. Records repeat it when a session is resumed. */
function readConfig(state: KimiState, conversation: Conversation, value: JsonObject): Disposition {
  const cwd = asText(value.cwd) ?? asText(asObject(value.environmentDisclosure)?.cwd);
  const alias = asText(value.modelAlias);
  const model = alias?.split("/").at(-1);
  const name = asText(value.profileName);
  if (model !== undefined) {
    state.model = model;
    state.is_alias = true;
  }
  conversation.update({
    cwd,
    // A step's request or its first part names it later.
    ...(state.conversation.model === undefined && { model }),
    ...(name !== undefined && state.parent !== undefined && { run: { name, depth: 1 } }),
  });
  const prompt = asText(value.systemPrompt);
  const digest = prompt === undefined ? undefined : fingerprint(prompt);
  if (prompt !== undefined && state.system_prompt !== digest)
    conversation.context(sourceTitle("system_prompt"), [{ type: "text", text: prompt }]);
  if (digest !== undefined) state.system_prompt = digest;
  return { kind: "folded", into: "the session" };
}

/** Reads `turn.prompt` and `turn.steer`, which a context record repeats: after it or, for newer steers, before it. */
function readPrompt(
  state: KimiState,
  conversation: Conversation,
  value: JsonObject,
  queued: boolean,
): Disposition {
  const parts = promptParts(value.input);
  if (parts.length === 0) return { kind: "hidden", rule: "empty message" };
  const kind = asText(asObject(value.origin)?.kind) ?? "user";
  const key = promptKey(textIn(value.input));
  const { placed } = state;
  state.placed = undefined;
  if (queued && placed?.key === key && placed.id === asText(value.messageId))
    return { kind: "folded", into: "the prompt before it" };
  state.asked = key;
  emitPrompt(state, conversation, parts, kind, queued);
  return { kind: "folded", into: "the turn" };
}

/**
 * Reads a person's cancellation. Newer versions name its target, write what the step had produced, and then end the turn.
 */
function readCancel(
  state: KimiState,
  conversation: Conversation,
  { target }: JsonObject,
): Disposition | undefined {
  if (target === "queued") {
    conversation.marker("note", sourceTitle("prompt_withdrawn"));
    return undefined;
  }
  if (target === "active") {
    state.cancelled = true;
    return { kind: "folded", into: "the end of its turn" };
  }
  conversation.interrupt("Cancelled");
  return undefined;
}

function readEnd(state: KimiState, conversation: Conversation, value: JsonObject): Disposition {
  state.cancelled = undefined;
  const reason = asText(value.reason) ?? "completed";
  if (/cancel|abort|interrupt/i.test(reason)) conversation.interrupt(reason);
  else if (/fail|error/i.test(reason)) conversation.error(asText(asObject(value.error)?.message) ?? reason);
  else conversation.endTurn("completed");
  return { kind: "folded", into: "the end of its turn" };
}

/** Reads a request, one per attempt. The first names the step's model; the others are retries. */
function readRequest(state: KimiState, conversation: Conversation, value: JsonObject): Disposition {
  const model = asText(value.model);
  if (value.kind === "loop" && model !== undefined) {
    state.model = model;
    state.is_alias = undefined;
    if (conversation.hasOpenStep) conversation.nameModel(model);
  }
  const attempt = asText(value.attempt);
  const isShown = state.retried === true;
  state.retried = undefined;
  if (attempt !== undefined && !isShown && !/^1(?:\/|$)/.test(attempt))
    conversation.marker("retry", sourceTitle("retrying_attempt", { attempt }));
  return { kind: "folded", into: value.kind === "compaction" ? "the compaction" : "its step" };
}

function noteRetry(state: KimiState, conversation: Conversation, value: JsonObject): void {
  const error = asText(value.errorMessage) ?? asText(value.errorName);
  const [next, most] = [asNumber(value.nextAttempt), asNumber(value.maxAttempts)];
  const title =
    next === undefined
      ? sourceTitle("retrying", { reason: asText(value.reason) })
      : sourceTitle("retrying_attempt", { attempt: most === undefined ? `${next}` : `${next}/${most}` });
  conversation.marker("retry", title, error, value);
  state.retried = true;
}

/** Reads a usage record. Those of a turn repeat the step's end; those of the session belong to requests outside of steps. */
function readUsage(state: KimiState, conversation: Conversation, value: JsonObject): Disposition {
  const usage = usageOf(value.usage);
  if (value.usageScope !== "session" || usage === undefined)
    return { kind: "folded", into: "the end of its step" };
  conversation.sideCall({ usage, ...(state.model !== undefined && { model: state.model }) });
  return { kind: "folded", into: "the figures of the session" };
}

function readApproval(
  state: KimiState,
  conversation: Conversation,
  value: JsonObject,
): Disposition | undefined {
  const result = asObject(value.result) ?? {};
  const decision = asText(result.decision) ?? "decided";
  const id = asText(value.toolCallId);
  if (decision === "approved" && id !== undefined) {
    state.allowed[id] = asText(result.scope) ?? "once";
    return { kind: "folded", into: "its call" };
  }
  if (decision === "rejected" && id !== undefined) state.allowed[id] = REFUSED;
  const action = asText(value.action) ?? asText(value.toolName);
  conversation.marker(
    "note",
    decision === "rejected"
      ? sourceTitle("refused_action", { action })
      : sourceTitle("decided", { decision, action }),
    asText(result.feedback),
    result,
  );
  return undefined;
}

/** Retracts the last `count` prompts of the person, and all that followed. */
function readUndo(state: KimiState, conversation: Conversation, value: JsonObject): Disposition | undefined {
  const count = asNumber(value.count) ?? 1;
  let at = state.turns.length;
  for (let typed = 0; at > 0 && typed < count; ) {
    at -= 1;
    if (state.turns[at]?.typed === true) typed += 1;
  }
  const undone = state.turns.splice(at);
  for (const { id } of undone) conversation.retractTurn(id, retractionReason("undone_by_user"));
  conversation.marker("rewind", sourceTitle("undone", { turns: undone.length }));
  return undefined;
}

/**
 * Reads a message in the log of a newer version, which repeats other records, except what a stopped step had produced, and the
 * results of all but the first of several calls of tools that do not exist.
 */
function readMirror(conversation: Conversation, value: JsonObject): Disposition | undefined {
  const { message, meta } = asObject(value.message) ?? {};
  const { toolCallId, content } = asObject(message) ?? {};
  const id = asText(toolCallId);
  // Nearly all messages are copies, so their text is not read.
  const output_text = id !== undefined && conversation.awaits(id) ? textIn(content) : "";
  if (output_text.startsWith("unknown tool: ")) {
    conversation.toolResult({ id, status: "error", output_text });
    return undefined;
  }
  if (asObject(meta)?.source !== "salvaged") return { kind: "hidden", rule: "copy of other records" };
  for (const part of asArray(asObject(message)?.content)) emitPart(conversation, asObject(part) ?? {});
  return { kind: "hidden", rule: "empty message" };
}

/** Remembers the sub-agent that a call started. A call may start several. */
function nameSpawned(state: KimiState, value: JsonObject): void {
  const agent_key = asText(value.subagentId);
  const tool_call_id = asText(value.parentToolCallId);
  if (agent_key === undefined || tool_call_id === undefined) return;
  const { runs } = state;
  const started = runs.filter((run) => run.tool_call_id === tool_call_id);
  if (started.some((run) => run.agent_key === agent_key)) return;
  const unnamed = started.find((run) => run.agent_key === undefined);
  if (unnamed !== undefined) unnamed.agent_key = agent_key;
  else if (runs.length < MAX_RUNS) runs.push({ tool_call_id, agent_key, at: state.conversation.at });
}

/** Reads `state.json` of the session. Its title is the first prompt unless a person or a model wrote one. */
function readSide(state: KimiState, text: string): Frame[] {
  const { title, titleKind, isCustomTitle, cwd, workDir, forkedFrom } = parseObject(text) ?? {};
  const isOwn = titleKind === "custom" || titleKind === "generated" || isCustomTitle === true;
  const source = asText(forkedFrom);
  const conversation = new Conversation(state.conversation);
  conversation.update({
    title: isOwn ? asText(title) : undefined,
    cwd: asText(cwd) ?? asText(workDir),
    ...(source !== undefined && { forked_from: { session_id: idOf(source) } }),
  });
  return conversation.take();
}
