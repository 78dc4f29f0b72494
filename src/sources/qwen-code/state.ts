import type { Usage } from "../../model/messages/message.ts";
import type { Permission } from "../../model/parts/outcome.ts";
import type { ConversationState } from "../conversation/conversation.ts";
import type { EntryTree } from "../conversation/entry-tree.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** A sub-agent's run, of which the session records only figures, texts and the names of calls. */
export interface RunState {
  conversation: ConversationState;
  at: number;
  /** Figures of the step that is open. */
  open?: { input: number; output: number; cache_read?: number };
  /** Figures of all of its steps, by which its call is found. */
  rounds: number;
  input: number;
  output: number;
  /** The beginning of its last text. */
  said?: string;
  /** The call that started it was found. */
  linked?: true;
}

/** What is kept of a Qwen Code session between records: plain data, bounded. */
export interface QwenState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  tree: EntryTree;
  /** By the agent's name in the session: `general-purpose-71n8gw`. */
  agents: Record<string, RunState>;
  /** Calls that ended and whose results have not come, as the telemetry tells them: oldest first. */
  ended: { call: string; permission?: Permission; duration_ms?: number }[];
  /** What calls ask for, by their id, to find them in the telemetry. */
  asked: Record<string, string>;
  /** This file is a sub-agent's, from 0.2x on: its name, the session and the call that started it, when. */
  run?: { key: string; parent: string; tool_call_id?: string; name?: string; at: number };
  /** Figures of the step of a sub-agent that is open: its calls stand in records of their own. */
  open?: Usage;
  /** A step of the session told its tokens: those that do not were cut off. */
  has_figures: boolean;
}
