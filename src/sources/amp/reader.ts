import { isUuid } from "../../model/is-uuid.ts";
import type { StopReason, ToolStatus, Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { RawJson } from "../../model/raw-json.ts";
import { repositoryName } from "../../model/repository.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitBlocks } from "../conversation/blocks.ts";
import { blocksIn, promptParts, textIn, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { own } from "../conversation/own.ts";
import { noteCall, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { firstLine } from "../lines/first-line.ts";
import { outputOf } from "./output.ts";

/** State of a thread between records. */
export interface AmpState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** The session and call that started this one. */
  parent?: { session_id: string; tool_call_id: string };
  /** Index of the last message. A message with a lower index is read again. */
  last: number;
  /** The last message is an incomplete answer. */
  is_streaming: boolean;
}

/** The session id of a thread name `T-<uuid>`. */
function idOf(name: string): string {
  const id = name.replace(/^T-/, "");
  return isUuid(id) ? id.toLowerCase() : uuidFrom("amp", name);
}

/**
 * Reads Amp threads. Records: `head`, `relationship:<index>`, `message:<id>`, and `message:<id>/<index>` for each result, which
 * Amp stores in messages of role `user`.
 */
export const ampReader = conversationReader<AmpState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(path)),
    named: false,
    last: -1,
    is_streaming: false,
    ...startedRuns(),
  }),
  read,
  linkFacts({ conversation: { session_id, at }, parent, runs }) {
    const run = parent && {
      agent_key: session_id,
      tool_call_id: parent.tool_call_id,
      parent_session_id: parent.session_id,
      at,
    };
    return {
      sessions: [{ session_id, group: parent?.session_id ?? session_id, calls: runs, ...(run && { run }) }],
    };
  },
});

function read(state: AmpState, record: SessionRecord): RecordResult {
  const { value, key } = record;
  if (key === "head") return readHead(state, record);
  if (record.deleted === true) {
    const conversation = new Conversation(state.conversation, record);
    conversation.retract(retractionReason("removed_by", { agent: "Amp" }));
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  if (value.type === "tool_result") {
    const conversation = new Conversation(state.conversation, record);
    emitResult(conversation, value);
    return conversation.result();
  }
  if (key.startsWith("relationship:")) {
    const conversation = new Conversation(state.conversation, record);
    conversation.marker(
      "note",
      sourceTitle("related_thread", {
        type: asText(value.type),
        role: asText(value.role),
        thread: asText(value.threadID),
      }),
      asText(value.comment),
      value,
    );
    return conversation.result();
  }
  const number = asNumber(value.messageId) ?? indexOf(record);
  const revises = number < state.last || (number === state.last && !state.is_streaming);
  const at = timeOf(asObject(value.meta)?.sentAt) ?? timeOf(asObject(value.usage)?.timestamp);
  const conversation = new Conversation(state.conversation, record, { at, revises });
  if (!revises) {
    state.last = number;
    state.is_streaming = asObject(value.state)?.type === "streaming";
  }
  readMessage(state, conversation, record);
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** The index of a message in its document. */
const indexOf = ({ place }: SessionRecord): number =>
  place.kind === "document" ? Number(/^\/messages\/(\d+)$/.exec(place.pointer)?.[1] ?? 0) : 0;

function readHead(state: AmpState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.id);
  const call = asText(value.call);
  if (!state.named && name !== undefined) {
    state.conversation.session_id = call === undefined ? idOf(name) : uuidFrom("amp", `${name}/${call}`);
    if (call !== undefined) state.parent = { session_id: idOf(name), tool_call_id: call };
  }
  state.named = true;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.created) });
  const initial = asObject(asObject(value.env)?.initial);
  const tree = asObject(asArray(initial?.trees)[0]);
  const remote = asObject(tree?.repository);
  const branch = asText(remote?.ref)?.replace(/^refs\/heads\//, "");
  const repository = repositoryName(asText(remote?.url) ?? "");
  const cwd = pathOf(asText(tree?.uri));
  const agent_version = asText(asObject(initial?.platform)?.clientVersion);
  const title = asText(value.title);
  conversation.update({
    agent: "amp",
    agent_version,
    title,
    cwd,
    git_branch: branch,
    repository,
    ...(state.parent !== undefined && {
      parent: { session_id: state.parent.session_id },
      run: { depth: 1 },
    }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** The path in a `file:` URL. */
function pathOf(uri: string | undefined): string | undefined {
  const [, path] = /^file:\/\/(\/.*)$/.exec(uri ?? "") ?? [];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function readMessage(state: AmpState, conversation: Conversation, record: SessionRecord): void {
  const { value } = record;
  switch (value.role) {
    case "user":
      readUser(state, conversation, value);
      return;
    case "assistant":
      readAnswer(state, conversation, record);
      return;
    case "info":
      for (const block of blocksIn(value.content)) emitInfo(conversation, block);
      return;
    default:
      conversation.unknown(value, sourceTitle("message_of_role", { role: asString(value.role) }));
  }
}

function readUser(state: AmpState, conversation: Conversation, value: JsonObject): void {
  const blocks = blocksIn(value.content);
  const others = blocks.filter((block) => block.type === "summary");
  const parts = promptParts(blocks.filter((block) => block.type !== "summary").map(withMediaType));
  const files = [...asArray(value.discoveredGuidanceFiles), ...asArray(asObject(value.fileMentions)?.files)];
  for (const block of others) emitInfo(conversation, block);
  const queued = conversation.awaitsModel;
  if (files.length > 0) {
    if (parts.length > 0 && !queued) conversation.beginTurn();
    conversation.context(
      sourceTitle("files_for_model"),
      files.map((file) => ({ type: "text" as const, text: fileText(asObject(file) ?? {}) })),
    );
  }
  if (parts.length === 0) return;
  conversation.prompt(parts, { queued, ...(state.parent !== undefined && { origin: "agent" as const }) });
}

const fileText = (file: JsonObject): string =>
  [asText(file.uri), asText(file.content)].filter((part) => part !== undefined).join("\n");

/** Renames Amp's `mediaType` of an image to the Anthropic API's `media_type`. */
function withMediaType(block: JsonObject): JsonObject {
  const source = asObject(block.source);
  return source?.mediaType === undefined || source.media_type !== undefined
    ? block
    : { ...block, source: { ...source, media_type: source.mediaType } };
}

const REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_use",
  max_tokens: "length",
  refusal: "error",
};

function readAnswer(state: AmpState, conversation: Conversation, record: SessionRecord): void {
  const { value } = record;
  const ending = asObject(value.state);
  const model = asText(asObject(value.usage)?.model);
  const raw = new RawJson(record);
  const blocks = blocksIn(value.content);
  conversation.step(record.key, { model });
  emitBlocks(conversation, blocks, {
    argumentsAt: (index) => raw.of(blocks[index]?.input ?? {}, ["content", index, "input"]),
    onCall: (call) => noteCall(state, call, state.conversation.at),
  });
  if (ending?.type === "streaming") return;
  const reason = asText(ending?.stopReason);
  const stop_reason = own(REASONS, reason);
  const usage = usageOf(value.usage);
  conversation.endStep({
    usage,
    stop_reason,
    stop_reason_raw: reason,
  });
  if (ending?.type === "cancelled") conversation.interrupt("Cancelled");
  if (ending?.type === "error")
    conversation.error(asText(asObject(ending.error)?.message) ?? asText(ending.error) ?? "", ending.error);
}

/** Converts usage. `inputTokens` excludes cache reads and writes; `totalInputTokens` is the sum. */
function usageOf(value: unknown): Usage | undefined {
  const usage = asObject(value);
  const input = asNumber(usage?.inputTokens);
  const output = asNumber(usage?.outputTokens);
  if (input === undefined && output === undefined) return undefined;
  const cache_read = asNumber(usage?.cacheReadInputTokens);
  const cache_write = asNumber(usage?.cacheCreationInputTokens);
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
  };
}

/** Statuses and outcomes of ended tool runs. */
const STATUSES: Readonly<Record<string, { status: ToolStatus; outcome?: CallOutcome }>> = {
  done: { status: "success" },
  error: { status: "error" },
  cancelled: { status: "aborted", outcome: { kind: "stopped" } },
  "rejected-by-user": { status: "aborted", outcome: { kind: "refused", by: "person" } },
};

function emitResult(conversation: Conversation, block: JsonObject): void {
  const run = asObject(block.run) ?? {};
  const known = own(STATUSES, asText(run.status));
  const { status, outcome } = known ?? { status: run.error === undefined ? "success" : "error" };
  const reason = asText(run.reason);
  const { output_text, parts, exit_code, changed } = outputOf(run);
  const id = asText(block.toolUseID);
  conversation.toolResult({
    id,
    status,
    output_text,
    parts,
    outcome: outcome && { ...outcome, ...(reason !== undefined && { reason }) },
    payload: (call) => {
      const payload = status === "success" ? (changed ?? call) : ofFailure(call);
      return exit_code === undefined ? payload : withExit(payload, { exit_code });
    },
  });
}

/** Emits an info block: a command that the person ran, a summary, or a note. */
function emitInfo(conversation: Conversation, block: JsonObject): void {
  switch (block.type) {
    case "text":
      conversation.marker(
        "note",
        firstLine(asString(block.text) ?? "") || sourceTitle("note"),
        asString(block.text),
      );
      return;
    case "manual_bash_invocation": {
      const command = asText(asObject(block.args)?.cmd) ?? "a command";
      const run = asObject(block.toolRun) ?? {};
      const { output_text, exit_code } = outputOf(run);
      conversation.prompt([{ type: "text", text: `$ ${command}` }], { origin: "command" });
      conversation.marker("note", sourceTitle("shell_output", { exit: exit_code }), output_text);
      conversation.endTurn(run.status === "cancelled" ? "interrupted" : "completed");
      return;
    }
    case "summary": {
      const summary = asObject(block.summary);
      const text = asText(summary?.summary) ?? textIn(summary?.content);
      conversation.marker("compaction", sourceTitle("conversation_compacted"), text, summary);
      return;
    }
    default: {
      const type = asString(block.type);
      conversation.unknown(block, sourceTitle("block_of_type", { type: type && firstLine(type) }));
    }
  }
}
