import type { ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** A history item that a later item may withdraw. */
export interface HistoryItem {
  key: string;
  made: "turn" | "step" | "parts";
  /** The text of a user message, in its form for comparison. */
  prompt?: string;
  /** The checkpoint that the item marks. */
  checkpoint?: number;
}

/** State of a klaude-code session between records: plain data of bounded size. */
export interface KlaudeState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** The newest history items that were not withdrawn. A rewind and a retraction search them. */
  items: HistoryItem[];
  /** Descriptions in calls that start sub-agents, by call. */
  descriptions: Record<string, string>;
  /** Facts from `meta.json` about the run that this session is. */
  run?: { parent?: string; name?: string; prompt?: string; at: number };
}

/** Maximum number of remembered items. */
export const MAX_ITEMS = 1_024;
