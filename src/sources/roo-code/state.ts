import type { Usage } from "../../model/messages/message.ts";
import type { ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** State of a task between records. */
export interface TaskState extends StartedRuns {
  agent: string;
  conversation: ConversationState;
  named: boolean;
  /** Only the messages shown to the person exist. */
  alone: boolean;
  has_cwd: boolean;
  /** The model of steps whose messages do not name it. */
  model?: string;
  parent?: string;
  /** The root task, of which all others are runs. */
  root?: string;
  task?: { prompt: string; at: number };
  /** Time or index of the last message of each list. An earlier message is read again. */
  last: { message: Last; ui: Last };
  /** Recent model requests by key, and the steps of their answers. */
  requests: { key: string; step?: string; usage?: Usage; failure?: string }[];
  /** Step key of a thought that precedes its answer. */
  thought?: string;
  /** Calls that were written as text and have no result yet. Results follow in the same order. */
  written: { id: string; name: string }[];
}

interface Last {
  rank: number;
  key: string;
}

/** Number of remembered requests, to find the step of later token counts. */
const MAX_REQUESTS = 64;

/** Remembers a model request. A repeated one has more facts. */
export function noteRequest(state: TaskState, request: TaskState["requests"][number]): void {
  const known = state.requests.find(({ key }) => key === request.key);
  if (known === undefined) state.requests = [...state.requests, request].slice(-MAX_REQUESTS);
  else Object.assign(known, request);
}
