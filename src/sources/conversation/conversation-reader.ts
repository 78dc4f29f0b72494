import type { RecordReader } from "../contract.ts";
import { Conversation, type ConversationState } from "./conversation.ts";

/** State of a reader whose session is one conversation. `named`: a record has named the session. */
interface ReaderState {
  conversation: ConversationState;
  named?: boolean;
}

/**
 * Creates a reader of sessions that are one `Conversation`, with defaults: the session's id once a record has named it, the end
 * of the conversation at the end of the file, and no links to other sessions.
 */
export function conversationReader<State extends ReaderState>(
  own: Pick<RecordReader<State>, "initialState" | "read"> & Partial<RecordReader<State>>,
): RecordReader<State> {
  return {
    sessionId: ({ named, conversation }) => (named === true ? conversation.session_id : undefined),
    end(state, stopped) {
      const conversation = new Conversation(state.conversation);
      conversation.close(stopped);
      return conversation.take();
    },
    linkFacts: ({ conversation: { session_id } }) => ({
      sessions: [{ session_id, group: session_id, calls: [] }],
    }),
    ...own,
    read(state, record) {
      const result = own.read(state, record);
      // A session keeps the id with which its first frames were emitted.
      if (result.frames.length > 0) state.named = true;
      return result;
    },
  };
}
