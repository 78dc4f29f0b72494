import { isUuid } from "../../model/is-uuid.ts";
import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordReader, RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { addEntry, branchAt, emptyTree, withdrawn } from "../conversation/entry-tree.ts";
import { stemOf } from "../conversation/paths.ts";
import { noteCall, startedRuns } from "../conversation/runs.ts";
import { readEntry } from "./entries.ts";
import { readMessage } from "./messages.ts";
import type { PiState } from "./state.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** The session's id from the header, or from a file name: `<time>_<id>.jsonl`. */
export function idOf(name: string): string {
  const id = name.match(UUID)?.at(-1) ?? name;
  return isUuid(id) ? id.toLowerCase() : uuidFrom("pi", id);
}

/** How a program with pi's format differs from pi. */
interface PiLike {
  agent: string;
  /** Entries name their parents. */
  branches: boolean;
}

/**
 * Reads the session files of pi and its forks: a header, then entries that name their parent, so one file may contain branches
 * of a conversation. File order is chronological. Abandoned branches are retracted. Files of format 1 have no ids and no
 * branches.
 */
export function piLikeReader(program: PiLike): RecordReader<PiState> {
  return conversationReader<PiState>({
    initialState: ({ path }) => ({
      conversation: initialConversation(idOf(stemOf(path))),
      named: false,
      ...startedRuns(),
      tree: emptyTree(),
    }),
    sessionId: ({ conversation, named }) => (named ? conversation.session_id : undefined),
    read: (state, record) => read(program, state, record),
    linkFacts: ({ conversation: { session_id }, runs }) => ({
      sessions: [{ session_id, group: session_id, calls: runs }],
    }),
  });
}

export const piReader = piLikeReader({ agent: "pi", branches: true });

function read({ agent, branches }: PiLike, state: PiState, record: SessionRecord): RecordResult {
  const { value } = record;
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(value.timestamp) ?? timeOf(asObject(value.message)?.timestamp),
  });
  if (value.type === "session") return readHeader(state, conversation, value, agent);
  state.named = true;
  const id = branches ? asText(value.id) : undefined;
  const isCopy = noteCopies(state, conversation);
  if (id !== undefined) followBranch(state, conversation, asText(value.parentId));
  const turn = state.conversation.turn?.id;
  const result =
    value.type === "message"
      ? readMessage(state, conversation, record, {
          isCopy,
          onCall: (call) => noteCall(state, call, state.conversation.at),
        })
      : readEntry(state, conversation, value, isCopy);
  if (id !== undefined) {
    const isStep = state.conversation.step?.key === record.key;
    const made = state.conversation.turn?.id !== turn && !isStep ? "turn" : isStep ? "step" : "parts";
    addEntry(state.tree, { id, key: record.key, made });
  }
  return result;
}

function readHeader(
  state: PiState,
  conversation: Conversation,
  value: JsonObject,
  agent: string,
): RecordResult {
  const id = asText(value.id);
  if (!state.named && id !== undefined) state.conversation.session_id = idOf(id);
  state.named = true;
  const cwd = asText(value.cwd);
  const model = asText(value.modelId);
  const provider = asText(value.provider);
  const parent = asText(value.parentSession) ?? asText(value.branchedFrom);
  if (model !== undefined) state.conversation.model = model;
  if (parent !== undefined && state.conversation.at > 0) state.forked_at = state.conversation.at;
  conversation.update({
    agent,
    cwd,
    model,
    provider,
    ...(parent !== undefined && { forked_from: { session_id: idOf(stemOf(parent)) } }),
  });
  return conversation.result({ kind: "folded", into: "the session's facts" });
}

/** Whether the entry was copied from another session. Marks where copied entries start and end. */
function noteCopies(state: PiState, conversation: Conversation): boolean {
  const isCopy = state.forked_at !== undefined && state.conversation.at < state.forked_at;
  if (isCopy && state.copies === undefined) {
    state.copies = "copied";
    conversation.marker("note", sourceTitle("copied_entries"));
  } else if (!isCopy && state.copies === "copied") {
    state.copies = "own";
    conversation.beginTurn();
    conversation.marker("note", sourceTitle("own_entries"));
  }
  return isCopy;
}

/** If the entry starts a branch, retracts the abandoned one and marks the branch. */
function followBranch(state: PiState, conversation: Conversation, parentId: string | undefined): void {
  const branch = branchAt(state.tree, parentId);
  if (branch === undefined) return;
  conversation.beginTurn({ force: true });
  const { turns, records } = withdrawn(branch);
  for (const { key, made } of records)
    conversation.retractRecord(key, made, retractionReason("branch_abandoned"));
  conversation.marker(
    "rewind",
    sourceTitle(branch.resumes ? "continued_from_branch" : "went_back", {
      turns: records.length === 0 ? undefined : turns,
    }),
    undefined,
    { entry: parentId ?? null },
  );
}
