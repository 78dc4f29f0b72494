import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject } from "../../model/narrow.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { type ConversationState, initialConversation, type OpenPiece } from "../conversation/conversation.ts";
import { remember } from "../conversation/conversation-state.ts";
import { type StartedRuns, startedRuns } from "../conversation/runs.ts";

export const ID = "kimi-cli";

/** One agent of a file: its own, or a sub-agent of a version before 1.25, whose events are between its parent's. */
export interface AgentState extends StartedRuns {
  conversation: ConversationState;
  /** For a sub-agent: its key in the file, its parent, the call that started it, and the time. */
  run?: { key: string; parent: string; tool_call_id: string; at: number };
  /** The text or thought whose next piece may follow. */
  piece?: OpenPiece;
  /** The newest call, if its arguments are not complete yet: the key of its record, its id in frames, and the arguments. */
  call?: { key: string; id: string; name: string; json: string };
  /** The last prompt, while nothing but bookkeeping has followed it. */
  asked?: string;
  /** The turn has no step yet: what is said there is the program's, not the model's. */
  before_steps?: boolean;
  /** The begun step has no status, which is written once the model has answered. */
  unanswered?: boolean;
  /** Number of calls of the turn without a result. */
  waiting: number;
}

/** A call that starts a sub-agent, and what its arguments say about it. */
interface Start {
  call: string;
  key: string;
  name?: string;
  task?: string;
}

/** State of a Kimi CLI session between records: plain data of bounded size. */
export interface KimiCliState {
  main: AgentState;
  /** If this is the file of a sub-agent: the session of its parent, and its own id there. */
  parent?: { session_id: string; agent: string };
  /** The prompt of this sub-agent in its form for comparison. */
  prompt?: string;
  /** Sub-agents inside this file, newest last. */
  agents: AgentState[];
  /** Newest last. Ids of calls are repeated after the context was cleared. */
  starts: Start[];
  /** Open requests for approval, newest last. */
  requests: { id: string; call?: string; action?: string }[];
  /** Decisions about calls without a result yet. `scope` is `REFUSED` if a person refused. */
  decided: { call: string; scope: string }[];
  plan_mode?: boolean;
}

/** Value of `scope` for a refused call. */
export const REFUSED = "refused";

export const initialAgent = (session_id: string): AgentState => ({
  conversation: initialConversation(session_id),
  ...startedRuns(),
  waiting: 0,
});

/** Removes the newest matching item of a list and returns it. */
export function takeLast<Item>(items: Item[], matches: (item: Item) => boolean): Item | undefined {
  const index = items.findLastIndex(matches);
  return index === -1 ? undefined : items.splice(index, 1)[0];
}

/** The sub-agent that a call of `parent` started, created at its first event. */
export function startedBy(state: KimiCliState, parent: AgentState, call: string, at: number): AgentState {
  const start = state.starts.findLast((each) => each.call === call);
  const own = start?.key ?? `call:${call}`;
  const key = parent.run === undefined ? own : `${parent.run.key}/${own}`;
  const known = state.agents.find(({ run }) => run?.key === key);
  if (known !== undefined) return known;
  const agent = initialAgent(uuidFrom(state.main.conversation.session_id, key));
  agent.run = { key, parent: parent.conversation.session_id, tool_call_id: call, at };
  remember(state.agents, agent);
  return agent;
}

/** Converts token counts. `input_other` is the uncached input. */
export function usageOf(value: unknown): Usage | undefined {
  const usage = asObject(value);
  const input = asNumber(usage?.input_other) ?? asNumber(usage?.input);
  const output = asNumber(usage?.output);
  if (input === undefined && output === undefined) return undefined;
  return {
    input: input ?? 0,
    output: output ?? 0,
    cache_read: asNumber(usage?.input_cache_read) ?? 0,
    cache_write: asNumber(usage?.input_cache_creation) ?? 0,
  };
}
