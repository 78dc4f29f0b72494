import { isUuid } from "../../model/is-uuid.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { Disposition, RecordResult, SessionRecord } from "../contract.ts";
import { promptParts, textIn, timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { own } from "../conversation/own.ts";
import { namesOf } from "../conversation/paths.ts";
import { promptKey, startedRuns } from "../conversation/runs.ts";
import { readLoopEvent } from "./loop.ts";
import { emitPrompt, type KimiState, REFUSED, usageOf } from "./state.ts";
import { readUserMessage } from "./user.ts";

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

/** Records for the agent's internal use. */
const BOOKKEEPING = new Set([
  "llm.tools_snapshot",
  "mcp.tools_discovered",
  "tools.register_user_tool",
  "tools.set_active_tools",
  "tools.unregister_user_tool",
  "context.update_token_count",
  "profile.bind",
  "turn.started",
  "turn.step.completed",
  "turn.step.started",
]);

/** Records that change the agent's modes, and their texts. */
const MODES: Readonly<Record<string, (value: JsonObject) => CodedText>> = {
  "plan_mode.enter": () => sourceTitle("plan_mode_entered"),
  "plan_mode.exit": () => sourceTitle("plan_mode_left"),
  "plan_mode.cancel": () => sourceTitle("plan_mode_cancelled"),
  "swarm_mode.enter": () => sourceTitle("swarm_mode_entered"),
  "swarm_mode.exit": () => sourceTitle("swarm_mode_left"),
  "permission.set_mode": ({ mode }) => sourceTitle("permission_mode", { mode: asText(mode) }),
  "goal.create": ({ objective }) => sourceTitle("goal", { goal: asText(objective) }),
  "goal.update": ({ status }) => sourceTitle("goal_updated", { status: asText(status) }),
  "goal.clear": () => sourceTitle("goal_cleared"),
  "context.clear": () => sourceTitle("context_cleared"),
  "full_compaction.cancel": () => sourceTitle("compaction_cancelled"),
  "micro_compaction.apply": () => sourceTitle("old_results_removed"),
  "skill.activate": ({ name, skillName }) =>
    sourceTitle("skill_activated", { skill: asText(skillName) ?? asText(name) }),
  forked: () => sourceTitle("forked"),
  "turn.step.retrying": ({ reason }) => sourceTitle("retrying", { reason: asText(reason) }),
};

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
    case "metadata":
      return { kind: "folded", into: "the session" };
    case "config.update":
      return readConfig(state, conversation, value);
    case "turn.prompt":
    case "turn.steer":
      return readPrompt(state, conversation, value, type === "turn.steer");
    case "turn.cancel":
      conversation.interrupt("Cancelled");
      return undefined;
    case "turn.ended":
      return readEnd(conversation, value);
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
    case "full_compaction.begin":
    case "full_compaction.complete":
      return { kind: "folded", into: "the compaction" };
    case "context.apply_compaction":
      conversation.marker("compaction", compactionTitle(value), asString(value.summary), {
        ...(value.compactedCount !== undefined && { compacted_messages: value.compactedCount }),
        ...(value.contextSummary !== undefined && { context_summary: value.contextSummary }),
      });
      return undefined;
    case "context.undo":
      return readUndo(state, conversation, value);
    case "tools.update_store":
      return { kind: "folded", into: "the to-do list" };
  }
  const title = own(MODES, type)?.(value);
  if (title !== undefined) {
    conversation.marker(type === "turn.step.retrying" ? "retry" : "note", title);
    return undefined;
  }
  if (BOOKKEEPING.has(type)) return { kind: "hidden", rule: `bookkeeping: ${type}` };
  conversation.unknown(value, sourceTitle("record_of_type", { type: type === "" ? undefined : type }));
  return undefined;
}

function compactionTitle({ tokensBefore, tokensAfter }: JsonObject): CodedText {
  const [before, now] = [asNumber(tokensBefore), asNumber(tokensAfter)];
  return before === undefined || now === undefined
    ? sourceTitle("conversation_compacted")
    : sourceTitle("conversation_compacted_tokens", { before, now });
}

function readConfig(state: KimiState, conversation: Conversation, value: JsonObject): Disposition {
  const cwd = asText(value.cwd);
  const alias = asText(value.modelAlias);
  const model = alias?.split("/").at(-1);
  const name = asText(value.profileName);
  if (model !== undefined) state.model = model;
  conversation.update({
    cwd,
    model,
    ...(name !== undefined && state.parent !== undefined && { run: { name, depth: 1 } }),
  });
  return { kind: "folded", into: "the session" };
}

/** Reads `turn.prompt` and `turn.steer`, which a context record repeats. */
function readPrompt(
  state: KimiState,
  conversation: Conversation,
  value: JsonObject,
  queued: boolean,
): Disposition {
  const parts = promptParts(value.input);
  if (parts.length === 0) return { kind: "hidden", rule: "empty message" };
  const kind = asText(asObject(value.origin)?.kind) ?? "user";
  state.asked = promptKey(textIn(value.input));
  emitPrompt(state, conversation, parts, kind, queued);
  return { kind: "folded", into: "the turn" };
}

function readEnd(conversation: Conversation, value: JsonObject): Disposition {
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
    if (conversation.hasOpenStep) conversation.nameModel(model);
  }
  const attempt = asText(value.attempt);
  if (attempt !== undefined && !/^1(?:\/|$)/.test(attempt))
    conversation.marker("retry", sourceTitle("retrying_attempt", { attempt }));
  return { kind: "folded", into: value.kind === "compaction" ? "the compaction" : "its step" };
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
      : sourceTitle("decided", { decision, action: action ?? "a call" }),
    asText(result.feedback),
    result,
  );
  return undefined;
}

function readUndo(state: KimiState, conversation: Conversation, value: JsonObject): Disposition | undefined {
  const count = Math.max(0, Math.min(asNumber(value.count) ?? 1, state.turns.length));
  const undone = count === 0 ? [] : state.turns.splice(-count);
  for (const turn of undone) conversation.retractTurn(turn, "undone by the user");
  conversation.marker("rewind", sourceTitle("undone", { turns: undone.length }));
  return undefined;
}
