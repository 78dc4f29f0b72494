import type { Usage } from "../../model/messages/message.ts";
import type { JsonObject } from "../../model/narrow.ts";
import type { CallOutcome, Permission } from "../../model/parts/outcome.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { type ConversationState, freshConversation } from "../conversation/conversation.ts";
import { type StartedRuns, startedRuns } from "../conversation/runs.ts";

/** One agent of a session: the one that the person talks to, or a sub-agent, whose records stand between its parent's. */
export interface AgentState extends StartedRuns {
  conversation: ConversationState;
  /** A sub-agent: the name that records give it, the call that started it, and when. */
  run?: { key: string; tool_call_id?: string; at: number };
  /** The model call whose answer is told in several records, of which the last has not come. */
  open_call?: string;
  /** Beginnings of the thoughts that records of their own told, of the step to come. */
  thoughts: string[];
}

/** What is kept of a Copilot CLI session between records: plain data, bounded. */
export interface CopilotState {
  session_id: string;
  named: boolean;
  main: AgentState;
  /** By their keys (`agentKey`). */
  agents: Record<string, AgentState>;
  /** Keys of the sub-agents that calls started, by call. */
  started: Record<string, string>;
  /** Figures of model calls whose answers have not come, by call. */
  figures: Record<string, { agent: string; usage: Usage; reason?: string; model?: string }>;
  /** Whether records told the figures of each model call: from 1.0.8x on. */
  has_figures: boolean;
  /** Totals that the session's last end told, by model, where nothing else tells figures. */
  totals: Record<string, Usage>;
  /** What a person was asked, by request: the record that asked, and the call that waits. */
  asked: Record<string, { key: string; title: string; tool_call_id?: string }>;
  /** What became of that, by call. */
  decided: Record<string, { outcome?: CallOutcome; permission?: Permission }>;
  /** Commands that the person ran, by call. */
  own_commands: Record<string, true>;
  /** The record that told of the compaction that runs. */
  compaction?: string;
}

/** More than these are not remembered of each kind; the oldest go first. */
const MOST = 64;

export const freshAgent = (session_id: string): AgentState => ({
  conversation: freshConversation(session_id),
  ...startedRuns(),
  thoughts: [],
});

/** Remembers a value by a name, and forgets the oldest ones. */
export function remember<Value>(record: Record<string, Value>, name: string, value: Value): void {
  // Set as a member, it would be the object's prototype.
  if (name === "__proto__") return;
  record[name] = value;
  const names = Object.keys(record);
  for (const old of names.slice(0, Math.max(0, names.length - MOST))) if (old !== name) delete record[old];
}

/** The value of a name, which is then forgotten. */
export function take<Value>(record: Record<string, Value>, name: string | undefined): Value | undefined {
  if (name === undefined || !Object.hasOwn(record, name)) return undefined;
  const value = record[name];
  delete record[name];
  return value;
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** The sub-agent that a record belongs to; "": the main agent. Old versions name the call that started it. */
export function agentKey(state: CopilotState, record: JsonObject, data: JsonObject): string {
  const id = text(record.agentId);
  if (id !== undefined) return `agent:${id}`;
  const call = text(data.parentToolCallId);
  if (call === undefined) return "";
  return Object.hasOwn(state.started, call) ? (state.started[call] ?? "") : `call:${call}`;
}

/** The agent of a key, which begins with its first record. */
export function agentOf(state: CopilotState, key: string, at: number): AgentState {
  if (key === "") return state.main;
  const known = Object.hasOwn(state.agents, key) ? state.agents[key] : undefined;
  if (known !== undefined) return known;
  const agent = freshAgent(uuidFrom(state.session_id, key));
  agent.run = { key, at };
  if (key.startsWith("call:")) agent.run.tool_call_id = key.slice("call:".length);
  remember(state.agents, key, agent);
  return agent;
}
