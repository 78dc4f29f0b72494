import type { ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** What is kept of a klaude-code session between records: plain data, bounded. */
export interface KlaudeState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** The newest items of the history, with the place of the first of them: a rewind counts items, a retraction looks back. */
  items: { from: number; made: { key: string; made: "turn" | "step" | "parts"; prompt?: string }[] };
  /** What calls that start sub-agents say of them, by call. */
  descriptions: Record<string, string>;
  /** What the file beside the events says of the run that this session is. */
  run?: { parent?: string; name?: string; prompt?: string; at: number };
}

/** More items than these are not remembered. */
export const MAX_ITEMS = 1_024;
