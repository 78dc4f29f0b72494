import type { JsonObject } from "../../model/narrow.ts";
import type { SessionRecord } from "../contract.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { AgentState, CopilotState } from "./state.ts";

/** One record of `events.jsonl` and its agent. */
export interface Event {
  state: CopilotState;
  agent: AgentState;
  /** Writes the frames of that agent's session. */
  conversation: Conversation;
  record: SessionRecord;
  /** Its `data`. */
  data: JsonObject;
}
