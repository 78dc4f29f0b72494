import { asNumber, asString } from "../../model/narrow.ts";
import type { ConversationState } from "../conversation/conversation.ts";
import type { EntryTree } from "../conversation/entry-tree.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** What is kept of a pi session between records. */
export interface PiState extends StartedRuns {
  conversation: ConversationState;
  /** The header named the session. */
  named: boolean;
  tree: EntryTree;
  /** Entries older than this, in milliseconds, were copied from the session that this one was forked from. */
  forked_at?: number;
  /** A note told of the copied entries; then, that the session's own begin. */
  copies?: "copied" | "own";
  /** Key of the step that failed last, until a prompt comes: what the model says next is another attempt. */
  failed?: string;
}

/** A number of tokens in words, for titles. */
export const tokensInWords = (value: unknown): string | undefined => {
  const tokens = asNumber(value);
  return tokens === undefined ? undefined : `${tokens.toLocaleString("en-US")} tokens`;
};

/** The name of an entry's or a message's kind, for titles. */
export const kindOf = (value: unknown): string => asString(value) ?? "unknown";
