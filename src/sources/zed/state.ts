import type { ConversationState } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";

/** State of a thread between records: plain data of bounded size. */
export interface ZedState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** Keys of recent records. One of them is read again because it has changed. */
  read: string[];
  /** When the thread began. The time of a call is not recorded, but it is not before this. */
  started: number;
  /** The thread whose call started this one. */
  parent?: string;
  /** The first prompt of a run. */
  task?: string;
}

/** Maximum number of remembered keys. */
export const MAX_READ = 500;
