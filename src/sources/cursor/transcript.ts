import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitBlocks, emitResult } from "../conversation/blocks.ts";
import { blocksIn, promptParts, textIn, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { noteCall, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { idOf as editorIdOf } from "../cursor-ide/ids.ts";
import { isRecordLog } from "../record-log/log-line.ts";
import { promptOf, timeIn } from "./prompt.ts";
import { emitResults, ownFacts } from "./results.ts";

/** State of a Cursor transcript between records. */
export interface TranscriptState extends StartedRuns {
  conversation: ConversationState;
  /** Cursor's own id of the conversation. */
  name: string;
  /** Cursor's own id of the conversation that started this sub-agent. */
  parent?: string;
  /** The call that started it, if recorded. */
  call?: string;
  /** Whether this is a chat of the command line version, not a transcript. */
  is_chat: boolean;
  /** The id is known, from the path or a record. */
  named: boolean;
}

const idOf = (name: string): string => sessionIdOf("cursor", name);

/** Reads Cursor's exported transcripts, `agent-transcripts/…/<id>.jsonl`: messages without models and tokens. */
export const transcriptReader = conversationReader<TranscriptState>({
  initialState({ path }) {
    const names = namesOf(path);
    // `<parent>/subagents/<id>.jsonl` below `agent-transcripts`.
    const parent = names.at(-2) === "subagents" ? names.at(-3) : undefined;
    return {
      conversation: initialConversation(idOf(stemOf(path))),
      ...startedRuns(),
      name: stemOf(path),
      is_chat: isRecordLog(path),
      named: !isRecordLog(path),
      ...(parent !== undefined && { parent }),
    };
  },
  read,
  linkFacts({ conversation: { session_id, at }, name, is_chat, parent, call, runs }) {
    // The editor's store and chats have thoughts and all results, which transcripts lack. A chat has the session id of its
    // transcript, which does not know which of the two exists, so the chat's alias is the id that the editor's session would have.
    const links = is_chat ? { alias: editorIdOf(name) } : { replaced_by: { session_id: editorIdOf(name) } };
    const above = parent === undefined ? undefined : is_chat ? editorIdOf(parent) : idOf(parent);
    const run = above !== undefined && {
      agent_key: session_id,
      parent_session_id: above,
      ...(call !== undefined && { tool_call_id: call }),
      at,
    };
    const group = above ?? links.alias ?? session_id;
    return { sessions: [{ session_id, group, calls: runs, ...links, ...(run && { run }) }] };
  },
});

function read(state: TranscriptState, record: SessionRecord): RecordResult {
  const { value } = record;
  if (record.key === "head") return readHead(state, record);
  const message = asObject(value.message);
  const content = message === undefined ? value.content : message.content;
  const conversation = new Conversation(state.conversation, record, {
    at:
      timeOf(value.timestamp) ??
      timeOf(value.createdAt) ??
      (value.role === "user" ? timeIn(content) : undefined),
  });
  const { parent } = state;
  conversation.update({
    agent: "cursor",
    ...(parent !== undefined && { parent: { session_id: idOf(parent) } }),
  });
  if (value.role === "assistant") {
    const blocks = blocksIn(content).flatMap((block, index) =>
      withoutPlaceholder(block).map((part) => ({ part, index })),
    );
    if (blocks.length === 0) return conversation.result({ kind: "hidden", rule: "empty message" });
    const raw = new RawJson(record);
    const path = message === undefined ? ["content"] : ["message", "content"];
    conversation.step(record.key);
    const parts = blocks.map(({ part }) => part);
    emitBlocks(conversation, parts, {
      argumentsAt(at) {
        const { part, index } = blocks[at] ?? {};
        return index === undefined ? undefined : raw.of(part?.input ?? {}, [...path, index, "input"]);
      },
      onCall: (call) => noteCall(state, call, state.conversation.at),
    });
    conversation.endStep();
    return conversation.result({ kind: "hidden", rule: "blank text" });
  }
  if (value.role === "system") {
    const parts = promptParts(content);
    if (parts.length > 0) conversation.context(sourceTitle("system_prompt"), parts);
    return conversation.result({ kind: "hidden", rule: "empty message" });
  }
  if (value.role === "tool") {
    emitResults(conversation, value, content);
    return conversation.result({ kind: "hidden", rule: "empty message" });
  }
  if (value.role === "user" && ownFacts(value)?.isSummary === true) {
    conversation.marker("compaction", sourceTitle("conversation_compacted"), textIn(content));
    return conversation.result();
  }
  if (value.role === "user") {
    emitUser(conversation, content, parent !== undefined);
    return conversation.result({ kind: "hidden", rule: "empty message" });
  }
  if (value.type === "turn_ended")
    return endTurn(conversation, asText(value.status) ?? "completed", value.error);
  conversation.unknown(
    value,
    sourceTitle("line_of_kind", { kind: asString(value.type) ?? asString(value.role) }),
  );
  return conversation.result();
}

/** Reads a chat's head: its id, name and model, and the chat that started it. */
function readHead(state: TranscriptState, record: SessionRecord): RecordResult {
  const { value } = record;
  const id = asText(value.agentId);
  if (!state.named && id !== undefined) {
    state.name = id;
    state.conversation.session_id = idOf(id);
  }
  state.named = true;
  const info = asObject(value.subagentInfo);
  const parent = asText(info?.parentAgentId);
  const call = asText(info?.toolCallId);
  if (parent !== undefined) state.parent = parent;
  if (call !== undefined) state.call = call;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.createdAt) });
  const title = asText(value.name);
  const model = asText(value.lastUsedModel);
  const cwd = asText(value.cwd);
  conversation.update({
    agent: "cursor",
    title,
    ...(model !== undefined && model !== "default" && { model }),
    cwd,
    ...(state.parent !== undefined && { parent: { session_id: idOf(state.parent) } }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** The last line of an answer's text in place of thinking that Cursor removed from the transcript. */
const PLACEHOLDER = "[REDACTED]";

/** Replaces the placeholder at the end of a text by a thought before it. */
function withoutPlaceholder(block: JsonObject): JsonObject[] {
  const text = (block.type === "text" ? (asString(block.text) ?? "") : "").trimEnd();
  if (!text.endsWith(PLACEHOLDER)) return [block];
  const before = text.slice(0, -PLACEHOLDER.length);
  const rest = before.trimEnd();
  if (rest !== "" && !before.slice(rest.length).includes("\n")) return [block];
  return [{ type: "redacted_thinking" }, ...(rest === "" ? [] : [{ ...block, text: rest }])];
}

function endTurn(conversation: Conversation, status: string, error: unknown): RecordResult {
  if (/abort|cancel|interrupt/i.test(status)) conversation.interrupt(asText(error) ?? status);
  else if (/error|fail/i.test(status))
    conversation.error(asText(error) ?? sourceTitle("turn_ended_with", { status }));
  else conversation.endTurn("completed");
  return conversation.result({ kind: "folded", into: "the end of its turn" });
}

/** Reads a message of role `user`: the person's text in `<user_query>`, Cursor's additions, results of calls. */
function emitUser(conversation: Conversation, content: unknown, isTask: boolean): void {
  const blocks = blocksIn(content);
  for (const block of blocks) if (block.type === "tool_result") emitResult(conversation, block);
  const results = blocks.length;
  const others = blocks.filter((block) => block.type !== "tool_result");
  const { parts, injected, isFollowUp } = promptOf(others);
  const queued = others.length < results;
  if (injected.length > 0 && parts.length > 0 && !queued) conversation.beginTurn();
  if (injected.length > 0)
    conversation.context(
      sourceTitle("context_from", { agent: "Cursor" }),
      injected.map((text) => ({ type: "text" as const, text })),
    );
  if (parts.length > 0)
    conversation.prompt(parts, {
      ...(isTask ? { origin: "agent" as const } : isFollowUp && { origin: "notification" as const }),
      queued,
    });
}
