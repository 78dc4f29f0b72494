import { asNumber, asText } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordReader, RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { readMessage } from "./messages.ts";
import type { TaskState } from "./state.ts";
import { endUiStep, readUiMessage } from "./ui-messages.ts";

/**
 * Creates a reader for tasks of Roo Code, Kilo Code and the Cline extension. Records: `head`, `message:<time>` of the conversation
 * with the model, and `ui:<time>` of the messages shown to the person, which add what the conversation lacks.
 */
export function taskReader(agent: string): RecordReader<TaskState> {
  const idOf = (name: string): string => sessionIdOf(agent, name);
  return {
    initialState: ({ path }) => ({
      agent,
      conversation: initialConversation(idOf(path)),
      named: false,
      alone: false,
      has_cwd: false,
      last: { message: { rank: -1, key: "" }, ui: { rank: -1, key: "" } },
      requests: [],
      written: [],
      ...startedRuns(),
    }),
    sessionId: ({ named, conversation }) => (named ? conversation.session_id : undefined),
    read(state, record) {
      const result = record.key === "head" ? readHead(state, record, idOf) : readRecord(state, record);
      // A session keeps the id under which its first frames were emitted.
      if (result.frames.length > 0) state.named = true;
      return result;
    },
    end(state, stopped) {
      const conversation = new Conversation(state.conversation);
      if (state.alone) endUiStep(state, conversation);
      conversation.close(stopped);
      return conversation.take();
    },
    linkFacts({ conversation: { session_id, at }, parent, root, task, runs }) {
      const run = parent !== undefined && {
        agent_key: session_id,
        parent_session_id: parent,
        ...(task !== undefined && { prompt: task.prompt }),
        at: task?.at ?? at,
      };
      return {
        sessions: [{ session_id, group: root ?? parent ?? session_id, calls: runs, ...(run && { run }) }],
      };
    },
  };
}

function readHead(state: TaskState, record: SessionRecord, idOf: (name: string) => string): RecordResult {
  const { value } = record;
  const name = asText(value.name);
  if (!state.named && name !== undefined) state.conversation.session_id = idOf(name);
  state.named = true;
  state.alone = value.alone === true;
  const parent = asText(value.parentTaskId);
  const root = asText(value.rootTaskId);
  if (parent !== undefined) state.parent = idOf(parent);
  if (root !== undefined) state.root = idOf(root);
  const model = asText(value.model);
  if (model !== undefined) state.model = model;
  const cwd = asText(value.workspace);
  if (cwd !== undefined) state.has_cwd = true;
  const title = asText(value.title);
  const mode = asText(value.mode);
  const conversation = new Conversation(state.conversation, record);
  conversation.update({
    agent: state.agent,
    title,
    cwd,
    ...(state.parent !== undefined && {
      parent: { session_id: state.parent },
      run: { depth: 1, ...(mode !== undefined && { name: mode }) },
    }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

function readRecord(state: TaskState, record: SessionRecord): RecordResult {
  const { value, key } = record;
  const list = key.startsWith("message:") ? "message" : key.startsWith("ui:") ? "ui" : undefined;
  if (record.deleted === true || list === undefined) {
    const conversation = new Conversation(state.conversation, record);
    if (record.deleted === true) {
      conversation.retract(retractionReason("retracted_by_undo"));
      return conversation.result({ kind: "folded", into: "the undone messages" });
    }
    conversation.unknown(value, sourceTitle("record_named", { name: key }));
    return conversation.result();
  }
  const rank = asNumber(value.ts) ?? Number(/\d+/.exec(key)?.[0] ?? 0);
  const last = state.last[list];
  const revises = rank < last.rank || key === last.key;
  if (!revises) state.last[list] = { rank, key };
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.ts), revises });
  if (list === "message") readMessage(state, conversation, record);
  else return readUiMessage(state, conversation, record, revises);
  return conversation.result({ kind: "hidden", rule: "empty message" });
}
