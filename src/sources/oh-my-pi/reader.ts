import { asText, type JsonObject } from "../../model/narrow.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { stemOf } from "../conversation/paths.ts";
import { idOf, initialPiState, type PiLike, readPiRecord } from "../pi/reader.ts";
import { readOwnEntry } from "./entries.ts";
import { readOwnMessage } from "./messages.ts";
import { idIn, noteTasks, runOf } from "./runs.ts";
import type { OhMyPiState } from "./state.ts";

const program: PiLike<OhMyPiState> = {
  agent: "oh-my-pi",
  branches: true,
  // It belongs to the entry that caused it, which may no longer be the last one.
  besides: new Set(["model_usage"]),
  headerFacts,
  readOwn(state, conversation, record, options) {
    const at = state.conversation.at;
    const own = {
      ...options,
      onCall(call: { id: string; name: string; input: unknown }) {
        if (call.name === "task") noteTasks(state, call, at);
        else options.onCall(call);
      },
    };
    return record.value.type === "message"
      ? readOwnMessage(state, conversation, record, own)
      : readOwnEntry(state, conversation, record.value, own);
  },
};

/**
 * Reads oh-my-pi's sessions, which have pi's format with further entries. oh-my-pi updates the title at the start of the file in
 * place, and writes the whole file again when it shortens old results.
 */
export const ohMyPiReader = conversationReader<OhMyPiState>({
  initialState({ path }) {
    const state: OhMyPiState = initialPiState({ path: idIn(stemOf(path)) });
    const run = runOf(path);
    if (run === undefined) return state;
    const { key, name, isDirect } = run;
    const group = idOf(run.top);
    state.conversation.session_id = uuidFrom(group, `agent:${key}`);
    state.run = { group, key, name, isDirect, at: 0 };
    return state;
  },
  sessionId: ({ conversation, named }) => (named ? conversation.session_id : undefined),
  read,
  linkFacts({ conversation: { session_id }, runs, run }) {
    if (run === undefined) return { sessions: [{ session_id, group: session_id, calls: runs }] };
    const { group, key: agent_key, isDirect, at, prompt } = run;
    return {
      sessions: [
        {
          session_id,
          group,
          calls: runs,
          run: {
            agent_key,
            at,
            ...(isDirect && { parent_session_id: group }),
            ...(prompt !== undefined && { prompt }),
          },
        },
      ],
    };
  },
});

function read(state: OhMyPiState, record: SessionRecord): RecordResult {
  const { value } = record;
  switch (value.type) {
    case "title":
      return readTitle(state, record);
    case "session":
      return readPiRecord(program, state, { ...record, value: headerOf(state, value) });
    default:
      return readPiRecord(program, state, record);
  }
}

/** Reads the title before the header. Frames need the session's id, so the header emits it. */
function readTitle(state: OhMyPiState, record: SessionRecord): RecordResult {
  const title = asText(record.value.title)?.trim();
  const conversation = new Conversation(state.conversation, record);
  if (title !== undefined && title !== "") {
    if (state.named) conversation.update({ title });
    else state.title = title;
  }
  return conversation.result({ kind: "folded", into: "the session's title" });
}

/** The header in pi's form. For a sub-agent, the session above it is not one that it continues. */
function headerOf({ run }: OhMyPiState, { parentSession, ...header }: JsonObject): JsonObject {
  const parent = asText(parentSession);
  return parent === undefined || run !== undefined
    ? header
    : { ...header, parentSession: idIn(stemOf(parent)) };
}

function headerFacts(state: OhMyPiState, header: JsonObject) {
  const whole = asText(header.title);
  const { title: cut = whole, run } = state;
  // The header has the title of the time when the file was last written as a whole.
  const title = cut !== undefined && whole?.startsWith(cut) === true ? whole : cut;
  delete state.title;
  if (run !== undefined) run.at = timeOf(header.timestamp) ?? 0;
  return {
    title,
    ...(run !== undefined && {
      ...(run.isDirect && { parent: { session_id: run.group } }),
      run: { name: run.name },
    }),
  };
}
