import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordReader, RecordResult, SessionLinkFacts, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { namesOf } from "../conversation/paths.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import type { Event } from "./event.ts";
import {
  readAssistantMessage,
  readOwnCommand,
  readReasoning,
  readToolEnd,
  readToolStart,
  readUserMessage,
} from "./messages.ts";
import {
  factsOf,
  flushFigures,
  readAsset,
  readCompactionEnd,
  readCompactionStart,
  readError,
  readFigures,
  readHookEnd,
  readModelChange,
  readNote,
  readNotification,
  readPermissionAnswer,
  readPermissionRequest,
  readResult,
  readResume,
  readShutdown,
  readSkillAgain,
} from "./notices.ts";
import { type AgentState, agentKey, agentOf, type CopilotState, initialAgent, remember } from "./state.ts";
import { readWorkspace } from "./workspace.ts";

const ID = "copilot-cli";

/** The id of a session by Copilot's own id for it. */
export const copilotSessionId = (name: string): string => sessionIdOf(ID, name);

/**
 * GitHub Copilot CLI's `events.jsonl`, since 1.0. Lines are written as events happen. Sub-agents write theirs, with an
 * `agentId`, between those of their parent. Copilot's turn is a step in Verbatim.
 */
export const copilotReader: RecordReader<CopilotState> = {
  initialState({ path }) {
    const names = namesOf(path);
    const name = names.at(-1) === "events.jsonl" ? names.at(-2) : names.at(-1)?.replace(/\.jsonl$/, "");
    const session_id = copilotSessionId(name ?? path);
    return {
      session_id,
      named: false,
      main: initialAgent(session_id),
      agents: {},
      started: {},
      figures: {},
      has_figures: false,
      totals: {},
      asked: {},
      decided: {},
      own_commands: {},
    };
  },
  sessionId: ({ session_id, named }) => (named ? session_id : undefined),
  read,
  end(state, stopped) {
    return [state.main, ...Object.values(state.agents)].flatMap((agent) => {
      const conversation = new Conversation(agent.conversation);
      conversation.close(stopped);
      return conversation.take();
    });
  },
  readSide(state, text) {
    const conversation = new Conversation(state.main.conversation);
    conversation.update(readWorkspace(text));
    return conversation.take();
  },
  linkFacts: (state) => ({
    sessions: [state.main, ...Object.values(state.agents)].map((agent) => factsToLink(state, agent)),
  }),
};

function factsToLink({ session_id: group }: CopilotState, agent: AgentState): SessionLinkFacts {
  const { run } = agent;
  const { session_id } = agent.conversation;
  return {
    session_id,
    group,
    calls: agent.runs,
    ...(run !== undefined && {
      run: {
        agent_key: run.key,
        at: run.at,
        ...(run.tool_call_id !== undefined && { tool_call_id: run.tool_call_id }),
      },
    }),
  };
}

function read(state: CopilotState, record: SessionRecord): RecordResult {
  const { value } = record;
  const type = asString(value.type) ?? "unknown";
  const data = asObject(value.data) ?? {};
  const at = timeOf(value.timestamp);
  if (type === "session.start") nameSession(state, data);
  state.named = true;
  // The first record of a sub-agent names the call, and since 1.0.8x also the agent.
  const call = asText(data.toolCallId);
  const began = type.startsWith("subagent.") && call !== undefined;
  const key = agentKey(state, value, began ? { parentToolCallId: call } : data);
  const agent = agentOf(state, key, at ?? state.main.conversation.at);
  const conversation = new Conversation(agent.conversation, record, { at });
  const event: Event = { state, agent, conversation, record, data };
  if (agent.run !== undefined && conversation.isNew) beginRun(event);
  const result = readEvent(event, type, key);
  return result ?? conversation.result(hiddenAs(type, isTransient(value)));
}

function nameSession(state: CopilotState, data: JsonObject): void {
  const id = asText(data.sessionId);
  if (state.named || id === undefined) return;
  state.session_id = copilotSessionId(id);
  state.main.conversation.session_id = state.session_id;
}

/** Emits the facts of a run before its content. */
function beginRun({ state, conversation }: Event): void {
  conversation.update({ agent: ID, parent: { session_id: state.session_id } });
}

/** Whether only the output of `copilot --output-format json` has a record: progress, and pieces of later records. */
const isTransient = (value: JsonObject): boolean => value.ephemeral === true;

/** Records for Copilot's internal use, and copies of other records. */
const BOOKKEEPING = new Set([
  "assistant.turn_start",
  "assistant.turn_end",
  "external_tool.completed",
  "external_tool.requested",
  "hook.start",
  "permission.assentDetected",
  "permission.carriedForward",
  "permission.contextualAuthorization",
  "permission.messageAuthorization",
  "permission.messageAuthorizationDegraded",
  "permission.messageAuthorizationRead",
  "session.auto_mode_resolved",
  "session.canvas.removed",
  "session.completion_receipt",
  "session.fusion_change_checkpoint",
  "session.fusion_commit_started",
  "session.fusion_handoff",
  "session.idle",
  "session.mode_notice_delivered",
  "session.schedule_rearmed",
  "session.usage_checkpoint",
  "session.usage_info",
  // The text is in the record of the skill.
  "skill.context_delivered_ref",
  "subagent.configured",
]);

function hiddenAs(type: string, isTransient: boolean): RecordResult["disposition"] {
  if (type === "hook.end") return { kind: "hidden", rule: "hook without output" };
  if (BOOKKEEPING.has(type)) return { kind: "hidden", rule: `bookkeeping: ${type}` };
  if (type.startsWith("model.")) return { kind: "hidden", rule: "copy of a model call" };
  if (isTransient) return { kind: "hidden", rule: `transient: ${type}` };
  return { kind: "folded", into: "the session" };
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with few lines for each type of event
function readEvent(event: Event, type: string, key: string): RecordResult | undefined {
  const { conversation, data, agent } = event;
  switch (type) {
    case "session.start":
      conversation.update({ agent: ID, ...factsOf(data) });
      agent.conversation.model = asText(data.selectedModel) ?? agent.conversation.model ?? "";
      if (agent.conversation.model === "") delete agent.conversation.model;
      return conversation.result({ kind: "folded", into: "the session's facts" });
    case "session.resume":
      readResume(event);
      return;
    case "session.context_changed":
      conversation.update(factsOf(data));
      return conversation.result({ kind: "folded", into: "the session's facts" });
    case "session.title_changed": {
      const title = asText(data.title);
      if (title !== undefined) conversation.update({ title });
      return conversation.result({ kind: "folded", into: "the session's title" });
    }
    case "session.shutdown":
      flushFigures(event, key);
      readShutdown(event);
      endRuns(event, "interrupted");
      return;
    case "result":
      readResult(event);
      return;
    case "session.error":
      readError(event);
      return;
    case "session.model_deselected":
      conversation.marker(
        "model_switch",
        sourceTitle("model_unavailable", { model: asText(data.previousModel) }),
        asText(data.reason),
      );
      return;
    case "skill.invoked_ref":
      readSkillAgain(event);
      return;
    case "session.model_change":
      readModelChange(event);
      return conversation.result({ kind: "folded", into: "the session's model" });
    case "session.truncation": {
      const removed = asNumber(data.tokensRemovedDuringTruncation);
      conversation.marker("compaction", sourceTitle("context_truncated", { removed }), undefined, data);
      return;
    }
    case "session.context_cleared":
      conversation.marker("compaction", sourceTitle("context_cleared"), asText(data.initialMessage), data);
      return;
    case "session.snapshot_rewind":
      conversation.marker("rewind", sourceTitle("rewound_to_event"), undefined, data);
      return;
    case "session.compaction_start":
      readCompactionStart(event);
      return { disposition: { kind: "folded", into: "the compaction" }, frames: conversation.take() };
    case "session.compaction_complete":
      readCompactionEnd(event);
      return;
    case "session.usage_record":
    case "assistant.usage":
      readFigures(event, key);
      return conversation.result({ kind: "folded", into: "the step's tokens" });
    case "session.binary_asset":
      readAsset(event);
      return;
    case "user.message":
      readUserMessage(event);
      return;
    case "assistant.turn_end":
      flushFigures(event, key);
      return;
    case "assistant.reasoning":
      readReasoning(event);
      return;
    case "assistant.message":
      readAssistantMessage(event);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    case "tool.user_requested":
      readOwnCommand(event);
      return;
    case "tool.execution_start":
      readToolStart(event);
      return;
    case "tool.execution_complete":
      readToolEnd(event);
      return;
    case "abort":
      flushFigures(event, key);
      conversation.interrupt(
        own(ABORTS, asString(data.reason)) ?? asText(data.reason)?.replaceAll("_", " ") ?? "Stopped",
      );
      endRuns(event, "interrupted");
      return;
    case "skill.invoked":
      conversation.context(sourceTitle("skill", { skill: asText(data.name) }), [
        { type: "text", text: asString(data.content) ?? "" },
      ]);
      return;
    case "skill.context_delivered":
      conversation.context(sourceTitle("skill", { skill: asText(data.source)?.replace(/^skill-/, "") }), [
        { type: "text", text: asString(data.content) ?? "" },
      ]);
      return;
    case "system.message":
      conversation.context(sourceTitle(data.role === "developer" ? "developer_message" : "system_prompt"), [
        { type: "text", text: asString(data.content) ?? "" },
      ]);
      return;
    case "system.notification":
      readNotification(event);
      return;
    case "permission.requested":
      readPermissionRequest(event);
      return {
        disposition: { kind: "folded", into: "the request to a person" },
        frames: conversation.take(),
      };
    case "permission.completed":
      readPermissionAnswer(event);
      return;
    case "hook.end":
      readHookEnd(event);
      return;
    case "subagent.started":
      readRunStart(event, key);
      return conversation.result({ kind: "folded", into: "the run's facts" });
    case "subagent.completed":
      conversation.endTurn(data.cancelled === true ? "interrupted" : "completed");
      return conversation.result({ kind: "folded", into: "the run's end" });
    case "subagent.failed":
      conversation.error(asText(data.error) ?? sourceTitle("sub_agent_failed"), data);
      return;
    default: {
      if (readNote(event, type)) return;
      if (BOOKKEEPING.has(type)) return;
      if (type.startsWith("model.")) {
        if (/failure|error/.test(type))
          conversation.marker("retry", sourceTitle("model_call_failed"), undefined, data);
        return;
      }
      if (isTransient(event.record.value)) return;
      conversation.unknown(event.record.value, sourceTitle("event_of_type", { type }));
      return;
    }
  }
}

const ABORTS: Readonly<Record<string, string>> = {
  user_initiated: "Stopped by the user",
  user_abort: "Stopped by the user",
  remote_command: "Stopped from another device",
  autopilot_credit_limit: "Stopped at the credit limit",
};

function readRunStart({ state, agent, conversation, data }: Event, key: string): void {
  const call = asText(data.toolCallId);
  if (agent.run !== undefined && call !== undefined) {
    agent.run.tool_call_id = call;
    remember(state.started, call, key);
  }
  const name = asText(data.agentDisplayName) ?? asText(data.agentName);
  const task = asText(data.agentDescription);
  const model = asText(data.model);
  conversation.update({
    run: { ...(name !== undefined && { name }), ...(task !== undefined && { task }) },
    model,
  });
}

/** Sub-agents end with the agent that started them. */
function endRuns({ state, agent, conversation }: Event, status: "interrupted"): void {
  if (agent !== state.main) return;
  for (const run of Object.values(state.agents)) {
    run.conversation.at = Math.max(run.conversation.at, state.main.conversation.at);
    const ending = new Conversation(run.conversation);
    ending.endTurn(status);
    conversation.join(ending);
  }
}
