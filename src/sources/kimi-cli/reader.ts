import type { Frame } from "../../model/frames/frame.ts";
import type { Part } from "../../model/messages/part.ts";
import { asObject, asString, asText, isBlank } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type {
  Disposition,
  RecordReader,
  RecordResult,
  SessionLinkFacts,
  SessionRecord,
} from "../contract.ts";
import { promptParts, textIn, timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { namesOf } from "../conversation/paths.ts";
import { nameRun, promptKey } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { unwrap } from "../conversation/wrappers.ts";
import { parseObject } from "../lines/parse-object.ts";
import type { Event } from "./event.ts";
import {
  factsIn,
  readDecision,
  readHook,
  readNotification,
  readPlanMode,
  readRequest,
  readRetry,
  readSideAnswer,
} from "./notices.ts";
import { endPiece, readCall, readCallPiece, readContent } from "./output.ts";
import { endRuns, readResult } from "./results.ts";
import { type AgentState, ID, initialAgent, type KimiCliState, startedBy, usageOf } from "./state.ts";

const idOf = (name: string): string => sessionIdOf(ID, name);

/**
 * Reads kimi-cli's `wire.jsonl`, the messages between the agent and its interface: `<session>/wire.jsonl`, and since 1.25
 * `<session>/subagents/<agent>/wire.jsonl`. The events of a sub-agent are also in its parent's file, inside `SubagentEvent`: since
 * 1.25 as copies of its own file, before that only there.
 */
export const kimiCliReader: RecordReader<KimiCliState> = {
  initialState({ path }) {
    const names = namesOf(path);
    const isPlaced = names.at(-1) === "wire.jsonl";
    const isRun = isPlaced && names.at(-3) === "subagents";
    const agent = isRun ? (names.at(-2) ?? "") : "";
    const main = idOf((isRun ? names.at(-4) : isPlaced ? names.at(-2) : names.at(-1)) ?? path);
    return {
      main: initialAgent(isRun ? uuidFrom(main, `agent:${agent}`) : main),
      ...(isRun && { parent: { session_id: main, agent } }),
      agents: [],
      starts: [],
      requests: [],
      decided: [],
    };
  },
  sessionId: ({ main }) => main.conversation.session_id,
  read,
  end(state, stopped) {
    return [state.main, ...state.agents].flatMap((agent) => {
      const conversation = new Conversation(agent.conversation);
      endPiece(agent, conversation);
      const { step } = agent.conversation;
      // A text without the status that follows an answer is not one.
      if (agent.unanswered === true && step !== undefined) step.last = "other";
      conversation.close(stopped);
      return conversation.take();
    });
  },
  readSide,
  linkFacts: (state) => ({
    sessions: [state.main, ...state.agents].map((agent) => factsToLink(state, agent)),
  }),
};

function factsToLink({ main, parent, prompt }: KimiCliState, agent: AgentState): SessionLinkFacts {
  const { conversation, run, runs } = agent;
  const { session_id } = conversation;
  const facts = { session_id, group: parent?.session_id ?? main.conversation.session_id, calls: runs };
  if (run !== undefined) {
    const { key, parent: parent_session_id, tool_call_id, at } = run;
    return { ...facts, run: { agent_key: key, parent_session_id, tool_call_id, at } };
  }
  if (parent === undefined) return facts;
  const { agent: agent_key, session_id: parent_session_id } = parent;
  const { at } = conversation;
  return { ...facts, run: { agent_key, parent_session_id, at, ...(prompt !== undefined && { prompt }) } };
}

/** Reads `state.json` or `meta.json`. */
function readSide({ main }: KimiCliState, text: string): Frame[] {
  const conversation = new Conversation(main.conversation);
  conversation.update(factsIn(parseObject(text) ?? {}));
  return conversation.take();
}

function read(state: KimiCliState, record: SessionRecord): RecordResult {
  const { value } = record;
  const { main, parent } = state;
  const conversation = new Conversation(main.conversation, record, { at: timeOf(value.timestamp) });
  if (conversation.isNew)
    conversation.update({
      agent: ID,
      ...(parent !== undefined && { parent: { session_id: parent.session_id } }),
    });
  const raw = asObject(value.message);
  const type = asString(raw?.type);
  if (raw === undefined || type === undefined) {
    if (value.type === "metadata" && asText(value.protocol_version) !== undefined)
      return conversation.result({ kind: "folded", into: "the session" });
    conversation.unknown(value, sourceTitle("record_of_type", { type: asText(value.type) }));
    return conversation.result();
  }
  const payload = asObject(raw.payload) ?? {};
  return readEvent({ state, agent: main, conversation, record, type, payload, raw });
}

/** Messages after which a text or thought does not continue. `ContentPart` and the end of a step determine it themselves. */
const ENDING: ReadonlySet<string> = new Set([
  "CompactionBegin",
  "CompactionEnd",
  "SteerInput",
  "StepBegin",
  "StepInterrupted",
  "StepRetry",
  "ToolCall",
  "TurnBegin",
  "TurnEnd",
]);

/** Messages that may come between a prompt and its repetition by the program that runs it. */
const BETWEEN: ReadonlySet<string> = new Set([
  "HookResolved",
  "HookTriggered",
  "MCPLoadingBegin",
  "MCPLoadingEnd",
  "StatusUpdate",
  "TurnBegin",
]);

function readEvent(event: Event): RecordResult {
  const { agent, conversation, type } = event;
  if (ENDING.has(type)) endPiece(agent, conversation);
  if (!BETWEEN.has(type)) delete agent.asked;
  if (type === "SubagentEvent") return readNested(event);
  return conversation.result(readMessage(event));
}

/** Reads an event of a sub-agent. With the sub-agent's id it is a copy of the sub-agent's own file. */
function readNested(event: Event): RecordResult {
  const { state, agent, conversation, record, payload } = event;
  const call = asText(payload.parent_tool_call_id) ?? asText(payload.task_tool_call_id);
  const key = asText(payload.agent_id);
  const raw = asObject(payload.event);
  const type = asString(raw?.type);
  if (call !== undefined && key !== undefined && type !== undefined) {
    nameRun(agent, call, key);
    return conversation.result({ kind: "hidden", rule: "copy of the sub-agent's own file" });
  }
  if (call === undefined || raw === undefined || type === undefined) {
    conversation.unknown(event.raw, sourceTitle("event_of_type", { type: "SubagentEvent" }));
    return conversation.result();
  }
  const { at } = agent.conversation;
  const run = startedBy(state, agent, call, at);
  const nested = new Conversation(run.conversation, record, { at });
  if (nested.isNew) {
    const { name, task } = state.starts.findLast((start) => start.call === call) ?? {};
    nested.update({
      agent: ID,
      parent: { session_id: agent.conversation.session_id },
      run: { ...(name !== undefined && { name }), ...(task !== undefined && { task }), depth: 1 },
    });
  }
  const read = readEvent({
    ...event,
    agent: run,
    conversation: nested,
    type,
    payload: asObject(raw.payload) ?? {},
    raw,
  });
  // The first frames of the parent come before its first sub-agent's.
  return { ...read, frames: [...conversation.take(), ...read.frames] };
}

/** Messages that others repeat or complete, and what contains what they say. */
const FOLDED: Readonly<Record<string, string>> = {
  CompactionBegin: "the compaction",
  HookTriggered: "the end of the hooks",
  QuestionRequest: "its call",
  ToolCallRequest: "its call",
};

const BOOKKEEPING: ReadonlySet<string> = new Set(["HookRequest", "MCPLoadingBegin", "MCPLoadingEnd"]);

function readMessage(event: Event): Disposition | undefined {
  const { agent, conversation, record, payload, type, raw } = event;
  switch (type) {
    case "TurnBegin":
    case "SteerInput":
      return readPrompt(event, type === "SteerInput");
    case "TurnEnd":
      return readTurnEnd(event);
    case "StepBegin":
      delete agent.call;
      agent.waiting = 0;
      agent.before_steps = false;
      agent.unanswered = true;
      conversation.step(record.key);
      return { kind: "folded", into: "its step" };
    case "StepInterrupted":
      agent.unanswered = false;
      agent.waiting = 0;
      conversation.error(sourceTitle("step_interrupted"));
      endRuns(event);
      return undefined;
    case "ContentPart":
      return readContent(event);
    case "ToolCall":
      return readCall(event);
    case "ToolCallPart":
      return readCallPiece(event);
    case "ToolResult":
      return readResult(event);
    case "StatusUpdate":
      return readStatus(event);
    case "StepRetry":
      // The calls of a failed attempt have no results.
      delete agent.call;
      agent.waiting = 0;
      return readRetry(event);
    case "CompactionEnd":
      conversation.marker("compaction", sourceTitle("conversation_compacted"));
      return undefined;
    case "ApprovalRequest":
      return readRequest(event);
    case "ApprovalResponse":
    case "ApprovalRequestResolved":
      return readDecision(event);
    case "HookResolved":
      return readHook(event);
    case "Notification":
      return readNotification(event);
    case "PlanDisplay":
      conversation.marker(
        "note",
        sourceTitle("plan_shown", { path: asText(payload.file_path) }),
        asText(payload.content),
      );
      return undefined;
    case "BtwBegin":
      conversation.marker("note", sourceTitle("side_question", { question: asText(payload.question) }));
      return undefined;
    case "BtwEnd":
      return readSideAnswer(event);
  }
  const into = Object.hasOwn(FOLDED, type) ? FOLDED[type] : undefined;
  if (into !== undefined) return { kind: "folded", into };
  if (BOOKKEEPING.has(type)) return { kind: "hidden", rule: `bookkeeping: ${type}` };
  conversation.unknown(raw, sourceTitle("event_of_type", { type }));
  return undefined;
}

/** Elements that kimi-cli puts before the task of a sub-agent. */
const INJECTED = ["git-context"] as const;

/** Reads `TurnBegin` and `SteerInput`. A prompt that a loop runs is written twice. */
function readPrompt(event: Event, queued: boolean): Disposition | undefined {
  const { state, agent, conversation, payload } = event;
  const text = textIn(payload.user_input);
  const key = `${text.length}:${promptKey(text)}`;
  if (!queued) {
    if (agent.asked === key) return { kind: "folded", into: "the prompt before it" };
    if (isStopped(agent) && conversation.hasRunningTurn) stop(event);
    Object.assign(agent, { asked: key, before_steps: true, unanswered: false, waiting: 0 });
    delete agent.call;
  }
  const injected: Part[] = [];
  const parts = promptParts(payload.user_input).flatMap((part): Part[] => {
    if (part.type !== "text") return [part];
    const { own, injected: added } = unwrap(part.text, INJECTED);
    injected.push(...added.map((each) => ({ type: "text" as const, text: each })));
    return isBlank(own) ? [] : [{ ...part, text: own }];
  });
  if (injected.length > 0) {
    if (!queued) conversation.beginTurn();
    conversation.context(sourceTitle("context_from", { agent: "Kimi" }), injected);
  }
  if (parts.length > 0) conversation.prompt(parts, { queued });
  if (state.parent !== undefined && agent === state.main)
    state.prompt ??= promptKey(parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"));
  return { kind: "hidden", rule: "empty message" };
}

/**
 * Whether the turn cannot have ended by itself: its step has no status, or one of its calls no result. A call before an answer is
 * of a failed attempt, of which older versions write nothing else.
 */
const isStopped = ({ unanswered, waiting, conversation }: AgentState): boolean =>
  unanswered === true || (waiting > 0 && conversation.step?.last !== "text");

function stop(event: Event): void {
  event.conversation.interrupt("Stopped");
  endRuns(event);
}

/** Reads `TurnEnd`, which exists since wire protocol 1.2. Later versions also write it after a stopped turn. */
function readTurnEnd(event: Event): Disposition {
  const { agent, conversation } = event;
  const stopped = isStopped(agent);
  delete agent.call;
  Object.assign(agent, { before_steps: false, unanswered: false, waiting: 0 });
  if (stopped) stop(event);
  else conversation.endTurn(conversation.wasStopped ? "interrupted" : "completed");
  return { kind: "folded", into: "the end of its turn" };
}

/** Reads `StatusUpdate`. The one with the figures of a model call ends its step; others tell about modes and MCP servers. */
function readStatus(event: Event): Disposition {
  const { agent, conversation, payload } = event;
  const usage = usageOf(payload.token_usage);
  const status = asObject(payload.status) ?? payload;
  const isAnswer =
    usage !== undefined ||
    asText(payload.message_id) !== undefined ||
    typeof status.context_usage === "number";
  const isFirst = agent.unanswered === true;
  if (asObject(payload.mcp_status) === undefined) agent.unanswered = false;
  let into = "the session";
  if (isAnswer && conversation.hasOpenStep) {
    endPiece(agent, conversation);
    conversation.endStep({ usage });
    into = "the end of its step";
  } else if (isFirst && usage !== undefined) {
    // The end of the file was reported in between.
    conversation.amendStep({ usage });
  } else if (usage !== undefined) {
    conversation.sideCall({ usage });
    into = "the figures of the session";
  }
  readPlanMode(event, payload.plan_mode);
  return { kind: "folded", into };
}
