import { isUuid } from "../../model/is-uuid.ts";
import { asObject, asString, asText } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitBlocks, emitResult } from "../conversation/blocks.ts";
import { blocksIn, promptParts, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { noteCall, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { inside, unwrap } from "../conversation/wrappers.ts";
import { isRecordLog } from "../record-log/log-line.ts";

/** State of a Cursor transcript between records. */
export interface TranscriptState extends StartedRuns {
  conversation: ConversationState;
  /** The parent session of this sub-agent. */
  parent?: string;
  /** The call that started it, if recorded. */
  call?: string;
  /** The id is known, from the path or a record. */
  named: boolean;
}

const idOf = (name: string): string => (isUuid(name) ? name.toLowerCase() : uuidFrom("cursor", name));

/** Tags that Cursor puts around a person's text. */
const INJECTED = [
  "user_info",
  "git_status",
  "project_layout",
  "rules",
  "agent_skills",
  "mcp_instructions",
  "open_and_recently_viewed_files",
  "attached_files",
  "additional_data",
  "system_reminder",
  "timestamp",
] as const;

/** Reads Cursor's exported transcripts, `agent-transcripts/…/<id>.jsonl`: messages without times, models and tokens. */
export const transcriptReader = conversationReader<TranscriptState>({
  initialState({ path }) {
    const names = namesOf(path);
    // `<parent>/subagents/<id>.jsonl` below `agent-transcripts`.
    const parent = names.at(-2) === "subagents" ? names.at(-3) : undefined;
    return {
      conversation: initialConversation(idOf(stemOf(path))),
      ...startedRuns(),
      named: !isRecordLog(path),
      ...(parent !== undefined && { parent: idOf(parent) }),
    };
  },
  read,
  linkFacts({ conversation: { session_id, at }, parent, call, runs }) {
    const run = parent && {
      agent_key: session_id,
      parent_session_id: parent,
      ...(call !== undefined && { tool_call_id: call }),
      at,
    };
    return { sessions: [{ session_id, group: parent ?? session_id, calls: runs, ...(run && { run }) }] };
  },
});

function read(state: TranscriptState, record: SessionRecord): RecordResult {
  const { value } = record;
  if (record.key === "head") return readHead(state, record);
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(value.timestamp) ?? timeOf(value.createdAt),
  });
  const { parent } = state;
  conversation.update({ agent: "cursor", ...(parent !== undefined && { parent: { session_id: parent } }) });
  const message = asObject(value.message);
  const content = message === undefined ? value.content : message.content;
  if (value.role === "assistant") {
    const blocks = blocksIn(content);
    if (blocks.length === 0) return conversation.result({ kind: "hidden", rule: "empty message" });
    const raw = new RawJson(record);
    const path = message === undefined ? ["content"] : ["message", "content"];
    conversation.step(record.key);
    emitBlocks(conversation, blocks, {
      argumentsAt: (index) => raw.of(blocks[index]?.input ?? {}, [...path, index, "input"]),
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
    for (const block of blocksIn(content)) emitResult(conversation, block);
    return conversation.result({ kind: "hidden", rule: "empty message" });
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
  if (!state.named && id !== undefined) state.conversation.session_id = idOf(id);
  state.named = true;
  const info = asObject(value.subagentInfo);
  const parent = asText(info?.parentAgentId);
  const call = asText(info?.toolCallId);
  if (parent !== undefined) state.parent = idOf(parent);
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
    ...(state.parent !== undefined && { parent: { session_id: state.parent } }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

function endTurn(conversation: Conversation, status: string, error: unknown): RecordResult {
  if (/abort|cancel|interrupt/i.test(status)) conversation.interrupt(status);
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
  const injected: string[] = [];
  const parts = promptParts(others, (text) => {
    const { own, injected: around } = unwrap(text, INJECTED);
    injected.push(...around);
    return inside(own, "user_query");
  });
  const queued = others.length < results;
  if (injected.length > 0 && parts.length > 0 && !queued) conversation.beginTurn();
  if (injected.length > 0)
    conversation.context(
      sourceTitle("context_from", { agent: "Cursor" }),
      injected.map((text) => ({ type: "text" as const, text })),
    );
  if (parts.length > 0)
    conversation.prompt(parts, {
      ...(isTask && { origin: "agent" as const }),
      queued,
    });
}
