import type { Usage } from "../../model/messages/message.ts";
import type { ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** What is kept of a task between records. */
export interface TaskState extends StartedRuns {
  agent: string;
  conversation: ConversationState;
  named: boolean;
  /** Only what the person saw is there. */
  alone: boolean;
  has_cwd: boolean;
  /** The model of the steps, where their messages do not name it. */
  model?: string;
  parent?: string;
  /** The task at the top, whose runs all others are. */
  root?: string;
  task?: { prompt: string; at: number };
  /** By list, the time or number of the last message that was read: one before it is read again. */
  last: { message: Last; ui: Last };
  /** The last requests to the model, by their key, and the step that answered each. */
  requests: { key: string; step?: string; usage?: Usage; failure?: string }[];
  /** A thought that stands before its answer: the key of its step. */
  thought?: string;
  /** Calls that were written as text and have no result yet: results follow in their order. */
  written: { id: string; name: string }[];
}

interface Last {
  rank: number;
  key: string;
}

/** Requests that are remembered, to know a step whose tokens are told later. */
const MAX_REQUESTS = 64;

/** Remembers a request to the model; one that is told again has more to say. */
export function noteRequest(state: TaskState, request: TaskState["requests"][number]): void {
  const known = state.requests.find(({ key }) => key === request.key);
  if (known === undefined) state.requests = [...state.requests, request].slice(-MAX_REQUESTS);
  else Object.assign(known, request);
}
