import type { Usage } from "../../model/messages/message.ts";
import type { Permission } from "../../model/parts/outcome.ts";
import type { ConversationState } from "../conversation/conversation.ts";
import type { EntryTree } from "../conversation/entry-tree.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** A sub-agent's run, of which the session only records token counts, texts and tool names. */
export interface RunState {
  conversation: ConversationState;
  at: number;
  /** Token counts of the open step. */
  open?: { input: number; output: number; cache_read?: number };
  /** Totals of all of its steps, by which its call is found. */
  rounds: number;
  input: number;
  output: number;
  /** The start of its last text. */
  said?: string;
  /** The call that started it was found. */
  linked?: true;
}

/** State of a Qwen Code session between records: plain data of bounded size. */
export interface QwenState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  tree: EntryTree;
  /** Runs by the agent's name in the session: `general-purpose-71n8gw`. */
  agents: Record<string, RunState>;
  /** Ended calls without a result, from the telemetry, oldest first. */
  ended: { call: string; permission?: Permission; duration_ms?: number }[];
  /** Recent calls. `key`: of a call without a result, to find it in the telemetry. */
  asked: { id: string; key?: string | undefined }[];
  /** Set for a sub-agent's file, since 0.2x: its name, the session and call that started it, and the time. */
  run?: { key: string; parent: string; tool_call_id?: string; name?: string; at: number };
  /** Token counts of a sub-agent's open step, whose calls are in separate records. */
  open?: Usage;
  /** A step of the session had token counts, so steps without them were cut off. */
  has_figures: boolean;
}
