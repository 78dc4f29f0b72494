import type { ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** State of a klaude-code session between records: plain data of bounded size. */
export interface KlaudeState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** The newest history items, and the index of the first one. A rewind counts items; a retraction searches them. */
  items: { from: number; made: { key: string; made: "turn" | "step" | "parts"; prompt?: string }[] };
  /** Descriptions in calls that start sub-agents, by call. */
  descriptions: Record<string, string>;
  /** Facts from `meta.json` about the run that this session is. */
  run?: { parent?: string; name?: string; prompt?: string; at: number };
}

/** Maximum number of remembered items. */
export const MAX_ITEMS = 1_024;
