import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { LinkFacts, RecordResult, SessionRecord } from "../contract.ts";
import { Conversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { linkFactsOf } from "../conversation/runs.ts";
import { readStored } from "./database.ts";
import { readLogged, readSide } from "./log.ts";
import { readMessage } from "./messages.ts";
import { initialState, type KiroState } from "./state.ts";

/** Reads sessions of Amazon Q Developer CLI and of the three engines of Kiro CLI. The shape of a record names its engine. */
export const kiroReader = conversationReader<KiroState>({
  initialState,
  read,
  readSide,
  linkFacts,
});

/** The log of the second engine begins with a copy of the conversation. The first one may continue its own all the same. */
function linkFacts(state: KiroState): LinkFacts {
  const { sessions } = linkFactsOf(state);
  const { log_id } = state;
  if (log_id === undefined) return { sessions };
  return {
    sessions: sessions.map((facts) => ({ ...facts, replaced_by: { session_id: log_id, if_newer: true } })),
  };
}

function read(state: KiroState, record: SessionRecord): RecordResult {
  return (
    readStored(state, record) ??
    readLogged(state, record) ??
    readMessage(state, record) ??
    other(state, record)
  );
}

function other(state: KiroState, record: SessionRecord): RecordResult {
  const conversation = new Conversation(state.conversation, record);
  if (record.deleted === true) {
    conversation.retract(retractionReason("removed_by", { agent: "Kiro CLI" }));
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  conversation.unknown(record.value, sourceTitle("record_of_type", {}));
  return conversation.result();
}
