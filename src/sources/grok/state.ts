import type { Usage } from "../../model/messages/message.ts";
import type { ConversationState, OpenPiece } from "../conversation/conversation.ts";
import type { StartedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";

/** State of a Grok session between records. */
export interface GrokState extends StartedRuns {
  conversation: ConversationState;
  begun: boolean;
  /** Present if this is a sub-agent's session. Only some versions name its parent. */
  run?: { parent?: string };
  /** `summary.json` was read, which says whether this is a sub-agent's session. */
  has_summary?: true;
  updates: UpdatesState;
}

/** What later records of `updates.jsonl` refer to. */
export interface UpdatesState {
  /** The text or thought whose next piece may follow. */
  piece?: OpenPiece | undefined;
  /** When the stream of the open step began. Each model call has its own. */
  stream?: number | undefined;
  /** Grok's id of the prompt that the last turn answers. */
  prompt_id?: string | undefined;
  /** The last update was a piece of a prompt: its index in the session, if recorded. */
  user?: { index?: number } | undefined;
  /** The last turn began with a prompt that Grok gave itself, and has no answer yet. */
  woken?: true | undefined;
  /** Recent turns that a rewind may withdraw, with the index of their prompt. */
  turns: { index: number; id: string }[];
  /** Recent calls whose arguments were not recorded with them, with the records that created them. */
  bare: { id: string; key: string; tool_name: string }[];
  /** Recent calls whose sub-agent is not known yet, with its description. */
  spawning: { id: string; description?: string }[];
  /** Tokens of ended turns, by the step that they are added to, until `summary.json` says whether they count here. */
  held: { message_id: string; usage: Usage }[];
}

export const initialUpdates = (): UpdatesState => ({ turns: [], bare: [], spawning: [], held: [] });

export const idOf = (name: string): string => sessionIdOf("grok", name);

/** The key of a sub-agent. With `@` it is compared across sessions: a sub-agent's session may not name its parent. */
export const agentKeyOf = (session_id: string): string => `${session_id}@grok`;

/** Maximum length of each list of `UpdatesState`. */
export const MAX_ITEMS = 500;

/** Appends to a list that keeps its last `MAX_ITEMS` items. */
export function keep<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length > MAX_ITEMS) list.shift();
}

/** The context that Grok puts around a prompt. */
export const INJECTED = [
  "user_info",
  "git_status",
  "system-reminder",
  "agent_skills",
  "mcp_servers",
  "fork-context",
  "resume-context",
] as const;
