import type { ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** State of a conversation between records. */
export interface IdeState extends StartedRuns {
  conversation: ConversationState;
  /** The head has named the session. */
  named: boolean;
  /** The folder is known. */
  has_cwd: boolean;
  /** The session that started this one, and the call. */
  parent?: string;
  call?: string;
  /** The first prompt of a run, in its form for comparison. */
  task?: string;
  /** The model that the user selected for the current turn. */
  model?: string;
  /** The bubbles that were read. One of them that is read again has changed. */
  read: ReadBubble[];
  /** The last step. */
  step?: IdeStep;
}

/** A bubble that was read. `step`: the key of its step. */
export interface ReadBubble {
  id: string;
  step?: string;
}

/** A step (one model call). Cursor does not record where one begins. */
export interface IdeStep {
  key: string;
  /** It has tool calls: what the model writes after them is a new step. */
  called?: boolean;
  /** Cursor's id of the model call, which tool calls may have. */
  model_call?: string;
  /** The tokens of its bubbles. */
  tokens: Tokens[];
}

/** Tokens that a bubble has. */
export interface Tokens {
  /** The bubble. */
  id: string;
  input: number;
  output: number;
}

/** Number of bubbles that are remembered. */
export const MAX_READ = 3_000;
