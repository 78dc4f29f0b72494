import { uuidFrom } from "../../model/uuid.ts";
import { type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";

/** State of a session between records. */
export interface KiroState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** The session of the log to which the conversation may have been copied. Only of those in a database. */
  log_id?: string;
  /** The session that started this one. */
  parent?: string;
  /** Keys of the last records of a database. One of them that is read again has changed. */
  recent: string[];
  /** The last prompt, while nothing follows it. `text`: only in files that may repeat it. */
  prompt?: { key: string; text?: string };
}

/** The session id of a log's id. */
export const idOf = (name: string): string => sessionIdOf("kiro", name);

/**
 * The session id of a conversation in the database. Kiro CLI copies a conversation to a log under the same name when it is
 * continued there.
 */
export const databaseId = (name: string): string => uuidFrom("kiro", `database:${name}`);

export function initialState({ path }: { path: string }): KiroState {
  const names = namesOf(path);
  const name = names.at(-1) === "messages.jsonl" ? (names.at(-2) ?? path) : stemOf(path);
  return { conversation: initialConversation(idOf(name)), named: false, recent: [], ...startedRuns() };
}
