import type { JsonObject } from "../../model/narrow.ts";
import type { SessionRecord } from "../contract.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { AgentState, KimiCliState } from "./state.ts";

/** One message of the wire with the session and the agent it belongs to. A sub-agent's is inside a record of its parent. */
export interface Event {
  state: KimiCliState;
  agent: AgentState;
  conversation: Conversation;
  record: SessionRecord;
  type: string;
  payload: JsonObject;
  /** The message as it was written, with its type. */
  raw: JsonObject;
}
