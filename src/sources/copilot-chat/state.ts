import { asNumber, asText, type JsonObject } from "../../model/narrow.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { SessionRecord } from "../contract.ts";
import { type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { type StartedRuns, startedRuns } from "../conversation/runs.ts";

export const ID = "copilot-chat";

/** The session's agent, or a sub-agent, whose records are between its parent's. */
export interface AgentState {
  conversation: ConversationState;
  /** For a sub-agent: the call that started it. */
  call?: string;
  /** The last request, and the last of its records by place in the response and after it. */
  last: { request: string; at: number; rank: number; tail: number };
  /** The model of the last request. */
  model?: string;
  mode?: string;
}

export interface ChatState extends StartedRuns {
  named: boolean;
  main: AgentState;
  /** The latest ones. */
  agents: AgentState[];
  /** Calls that started earlier ones, with times. */
  ended: { call: string; at: number }[];
  /** Ids of the latest requests. */
  requests: string[];
}

const MAX_AGENTS = 40;
const MAX_ENDED = 500;
const MAX_REQUESTS = 200;

const initialAgent = (session_id: string): AgentState => ({
  conversation: initialConversation(session_id),
  last: { request: "", at: 0, rank: -1, tail: -1 },
});

export const initialState = (session_id: string): ChatState => ({
  named: false,
  main: initialAgent(session_id),
  agents: [],
  ended: [],
  requests: [],
  ...startedRuns(),
});

/** A key: `request:<id>` or `run:<call>` for a prompt, with `#<part>` for what follows it. */
export interface KeyParts {
  isRun: boolean;
  id: string;
  part: string | undefined;
}

export function partsOfKey(key: string): KeyParts | undefined {
  const [, kind, id = "", part] = /^(request|run):([^#]*)(?:#(.*))?$/s.exec(key) ?? [];
  return kind === undefined ? undefined : { isRun: kind === "run", id, part };
}

/** The agent of a record. A sub-agent is added with its first record. */
export function agentOf(state: ChatState, { isRun, id }: KeyParts): AgentState {
  if (!isRun) return state.main;
  const known = state.agents.find(({ call }) => call === id);
  if (known !== undefined) return known;
  const { session_id, at } = state.main.conversation;
  const agent = { ...initialAgent(runId(session_id, id)), call: id };
  agent.conversation.at = at;
  state.agents.push(agent);
  if (state.agents.length <= MAX_AGENTS) return agent;
  const past = state.agents.shift();
  if (past?.call !== undefined && !state.ended.some(({ call }) => call === past.call))
    state.ended.push({ call: past.call, at: past.conversation.at });
  if (state.ended.length > MAX_ENDED) state.ended.shift();
  return agent;
}

/** The session of a sub-agent, by the call that started it. */
export const runId = (session_id: string, call: string): string => uuidFrom(session_id, `run:${call}`);

/** Whether a record was read before, in another revision. Notes that it is the last one otherwise. */
export function noteRecord(
  state: ChatState,
  agent: AgentState,
  parts: KeyParts,
  { value }: SessionRecord,
): boolean {
  const { last } = agent;
  const { id, part } = parts;
  if (part === undefined) {
    if (isKnownRequest(state, agent, id, value)) return true;
    agent.last = { request: id, at: asNumber(value.at) ?? last.at, rank: -1, tail: -1 };
    if (!parts.isRun) {
      state.requests.push(id);
      if (state.requests.length > MAX_REQUESTS) state.requests.shift();
    }
    return false;
  }
  if (last.request !== id) return true;
  const name = value.tail === undefined ? "rank" : "tail";
  const place = asNumber(value[name]) ?? 0;
  if (place <= last[name]) return true;
  last[name] = place;
  return false;
}

/**
 * Whether a record is a call of the step that is still open: what happens to the call is not a change of something past.
 */
export function isInOpenStep(
  { conversation }: AgentState,
  { id }: KeyParts,
  { value }: SessionRecord,
): boolean {
  const { step, turn } = conversation;
  return (
    value.kind === "tool" && turn?.open === true && step?.over === false && step.key === stepKey(id, value)
  );
}

/** Whether the last model call was of this request, and has ended. */
export function hasEndedStep({ conversation: { step } }: AgentState, id: string): boolean {
  return step?.over === true && step.cut !== true && step.key.startsWith(`${id}:`);
}

/** The key of a model call in its session. */
export const stepKey = (id: string, { step }: JsonObject): string => `${id}:${asNumber(step) ?? 0}`;

/** Requests older than the remembered ones are recognized by their time. */
function isKnownRequest(
  state: ChatState,
  { last, call }: AgentState,
  id: string,
  { at }: JsonObject,
): boolean {
  if (call !== undefined) return last.request === id;
  if (state.requests.includes(id)) return true;
  return state.requests.length >= MAX_REQUESTS && (asNumber(at) ?? Infinity) < last.at;
}

/** The id of a model without the provider's prefix, which most models have. `undefined`: VS Code chooses one. */
export function modelOf(value: unknown): string | undefined {
  const id = asText(value)?.replace(/^copilot\//, "");
  return id === "auto" ? undefined : id;
}
