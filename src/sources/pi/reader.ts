import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordReader, RecordReaderOptions, RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { addEntry, branchAt, emptyTree, leafOf, withdrawn } from "../conversation/entry-tree.ts";
import { stemOf } from "../conversation/paths.ts";
import type { SessionFacts } from "../conversation/record-frames.ts";
import { noteCall, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { readEntry } from "./entries.ts";
import { type MessageOptions, readMessage } from "./messages.ts";
import type { PiState } from "./state.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** The session's id from the header, or from a file name: `<time>_<id>.jsonl`. */
export function idOf(name: string): string {
  const id = name.match(UUID)?.at(-1) ?? name;
  return sessionIdOf("pi", id);
}

/** How a program with pi's format differs from pi. */
export interface PiLike<State extends PiState = PiState> {
  agent: string;
  /** Entries name their parents. */
  branches: boolean;
  /** Types of entries that may be written after an earlier entry without starting a branch. */
  besides?: ReadonlySet<string>;
  /** Facts of the session in addition to those of pi's header. */
  headerFacts?(state: State, header: JsonObject): SessionFacts;
  /** Reads an entry that pi does not write, or writes differently. `undefined`: it is pi's. */
  readOwn?(
    state: State,
    conversation: Conversation,
    record: SessionRecord,
    options: MessageOptions,
  ): RecordResult | undefined;
}

/**
 * Reads the session files of pi and its forks: a header, then entries that name their parent, so one file may contain branches
 * of a conversation. File order is chronological. Abandoned branches are retracted. Files of format 1 have no ids and no
 * branches.
 */
export function piLikeReader(program: PiLike): RecordReader<PiState> {
  return conversationReader<PiState>({
    initialState: initialPiState,
    sessionId: ({ conversation, named }) => (named ? conversation.session_id : undefined),
    read: (state, record) => readPiRecord(program, state, record),
    linkFacts: ({ conversation: { session_id }, runs }) => ({
      sessions: [{ session_id, group: session_id, calls: runs }],
    }),
  });
}

/** The state before the first record. */
export const initialPiState = ({ path }: Pick<RecordReaderOptions, "path">): PiState => ({
  conversation: initialConversation(idOf(stemOf(path))),
  named: false,
  ...startedRuns(),
  tree: emptyTree(),
});

export const piReader = piLikeReader({ agent: "pi", branches: true });

/** Reads a record of pi or of a fork. */
export function readPiRecord<State extends PiState>(
  program: PiLike<State>,
  state: State,
  record: SessionRecord,
): RecordResult {
  const { value } = record;
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(value.timestamp) ?? timeOf(asObject(value.message)?.timestamp),
  });
  if (value.type === "session") {
    const facts = program.headerFacts?.(state, value) ?? {};
    return readHeader(state, conversation, value, { agent: program.agent, ...facts });
  }
  state.named = true;
  const parent = asText(value.parentId);
  const isBeside = program.besides?.has(asText(value.type) ?? "") === true && parent !== leafOf(state.tree);
  const id = program.branches && !isBeside ? asText(value.id) : undefined;
  const isCopy = noteCopies(state, conversation, value);
  if (id !== undefined) followBranch(state, conversation, parent);
  const turn = state.conversation.turn?.id;
  const options: MessageOptions = {
    isCopy,
    onCall: (call) => noteCall(state, call, state.conversation.at),
  };
  const result =
    program.readOwn?.(state, conversation, record, options) ??
    (value.type === "message"
      ? readMessage(state, conversation, record, options)
      : readEntry(state, conversation, value, isCopy));
  // What follows in another turn is no further attempt.
  if (state.failed !== record.key && state.conversation.turn?.id !== turn) delete state.failed;
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
  facts: SessionFacts,
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
    ...facts,
    cwd,
    model,
    provider,
    ...(parent !== undefined && { forked_from: { session_id: idOf(stemOf(parent)) } }),
  });
  return conversation.result({ kind: "folded", into: "the session's facts" });
}

/** Whether the entry was copied from another session. Marks where copied entries start and end. */
function noteCopies(state: PiState, conversation: Conversation, value: JsonObject): boolean {
  const isCopy = state.forked_at !== undefined && state.conversation.at < state.forked_at;
  if (isCopy && state.copies === undefined) {
    state.copies = "copied";
    conversation.marker("note", sourceTitle("copied_entries"));
  } else if (!isCopy && state.copies === "copied") {
    state.copies = "own";
    // A fork may end before its own first prompt.
    if (asObject(value.message)?.role === "user") conversation.beginTurn();
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
