import type { ConversationState } from "../conversation/conversation.ts";
import type { EntryTree } from "../conversation/entry-tree.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** State of a pi session between records. */
export interface PiState extends StartedRuns {
  conversation: ConversationState;
  /** The header has named the session. */
  named: boolean;
  tree: EntryTree;
  /** Entries older than this, in milliseconds, were copied from the forked session. */
  forked_at?: number;
  /** Notes that were written: copied entries start; the session's own start. */
  copies?: "copied" | "own";
  /** Key of the last failed step, until a prompt follows: the model's next output is another attempt. */
  failed?: string;
}
