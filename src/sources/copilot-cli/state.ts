import type { Usage } from "../../model/messages/message.ts";
import type { JsonObject } from "../../model/narrow.ts";
import type { CallOutcome, Permission } from "../../model/parts/outcome.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { type StartedRuns, startedRuns } from "../conversation/runs.ts";

/** One agent of a session: the main agent, or a sub-agent, whose records are between its parent's. */
export interface AgentState extends StartedRuns {
  conversation: ConversationState;
  /** For a sub-agent: its key in records, the call that started it, and the time. */
  run?: { key: string; tool_call_id?: string; at: number };
  /** The model call whose answer has several records, the last of which has not been read. */
  open_call?: string;
  /** Starts of thoughts from separate records, which belong to the next step. */
  thoughts: string[];
}

/** State of a Copilot CLI session between records: plain data of bounded size. */
export interface CopilotState {
  session_id: string;
  named: boolean;
  main: AgentState;
  /** Agents by key (`agentKey`). */
  agents: Record<string, AgentState>;
  /** Keys of sub-agents by the call that started them. */
  started: Record<string, string>;
  /** Token counts of model calls without an answer yet, by call. */
  figures: Record<string, { agent: string; usage: Usage; reason?: string; model?: string }>;
  /** Whether records have token counts of each model call, as since 1.0.8x. */
  has_figures: boolean;
  /** Totals by model from the session's last end record, if there are no other counts. */
  totals: Record<string, Usage>;
  /** Permission requests by id: the record, what is requested, and the waiting call. */
  asked: Record<string, { key: string; request: string; tool_call_id?: string }>;
  /** Decisions by call. */
  decided: Record<string, { outcome?: CallOutcome; permission?: Permission }>;
  /** Commands that the person ran, by call. */
  own_commands: Record<string, true>;
  /** The start record of the running compaction. */
  compaction?: string;
}

/** Maximum number of remembered values of each kind. The oldest are removed first. */
const MAX_REMEMBERED = 64;

export const initialAgent = (session_id: string): AgentState => ({
  conversation: initialConversation(session_id),
  ...startedRuns(),
  thoughts: [],
});

/** Stores a value by name, and removes the oldest values. */
export function remember<Value>(record: Record<string, Value>, name: string, value: Value): void {
  // Assigning it would set the object's prototype.
  if (name === "__proto__") return;
  record[name] = value;
  const names = Object.keys(record);
  for (const old of names.slice(0, Math.max(0, names.length - MAX_REMEMBERED)))
    if (old !== name) delete record[old];
}

/** Returns the value of a name and removes it. */
export function take<Value>(record: Record<string, Value>, name: string | undefined): Value | undefined {
  if (name === undefined || !Object.hasOwn(record, name)) return undefined;
  const value = record[name];
  delete record[name];
  return value;
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** The key of a record's sub-agent; "": the main agent. Old versions name the call that started it. */
export function agentKey(state: CopilotState, record: JsonObject, data: JsonObject): string {
  const id = text(record.agentId);
  if (id !== undefined) return `agent:${id}`;
  const call = text(data.parentToolCallId);
  if (call === undefined) return "";
  return Object.hasOwn(state.started, call) ? (state.started[call] ?? "") : `call:${call}`;
}

/** The agent with a key, created at its first record. */
export function agentOf(state: CopilotState, key: string, at: number): AgentState {
  if (key === "") return state.main;
  const known = Object.hasOwn(state.agents, key) ? state.agents[key] : undefined;
  if (known !== undefined) return known;
  const agent = initialAgent(uuidFrom(state.session_id, key));
  agent.run = { key, at };
  if (key.startsWith("call:")) agent.run.tool_call_id = key.slice("call:".length);
  remember(state.agents, key, agent);
  return agent;
}
