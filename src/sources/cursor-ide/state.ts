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
  /** The ids of the bubbles that were read. One of them that is read again has changed. */
  read: string[];
  /** The steps of the latest of them. */
  steps: { id: string; key: string }[];
  /** The last step. */
  step?: IdeStep;
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

/** Maximum number of remembered bubbles, and of those with their steps. One from before them is not known to be read again. */
export const MAX_READ = 2_500;
export const MAX_STEPS = 128;
