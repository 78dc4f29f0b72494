import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { RawJson } from "../../model/raw-json.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitBlocks } from "../conversation/blocks.ts";
import { blocksIn, promptParts, resultContent, textIn, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { noteCall, promptKey, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { inside, unwrap } from "../conversation/wrappers.ts";
import { parseObject } from "../lines/parse-object.ts";

/** State of a Cline session between records. */
export interface ClineState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** Number of messages read. A message with a lower index is read again and revises its parts. */
  count: number;
  /** The parent session of this sub-agent. */
  parent?: string;
  /** A sub-agent's task. */
  task?: { prompt: string; at: number };
}

const idOf = (name: string): string => sessionIdOf("cline", name);

/**
 * Reads Cline CLI 3's `<id>.messages.json`, which is rewritten at each message. Records: `head`, `system`, `message:<id>` and,
 * from `<id>.json`, `session`.
 */
export const clineReader = conversationReader<ClineState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(path)),
    named: false,
    count: 0,
    ...startedRuns(),
  }),
  read,
  linkFacts({ conversation: { session_id, at }, parent, task, runs }) {
    const run = parent && {
      agent_key: session_id,
      parent_session_id: parent,
      ...(task !== undefined && { prompt: task.prompt }),
      at: task?.at ?? at,
    };
    return { sessions: [{ session_id, group: parent ?? session_id, calls: runs, ...(run && { run }) }] };
  },
});

function read(state: ClineState, record: SessionRecord): RecordResult {
  const { value, key } = record;
  if (key === "head") return readHead(state, record);
  const isMessage = key.startsWith("message:");
  const index = numberOf(record.place);
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(value.ts ?? value.updated_at),
    revises: isMessage && index < state.count && record.deleted !== true,
  });
  if (key.startsWith("compaction:")) {
    // Only the last compaction is stored.
    if (record.deleted === true) return conversation.result({ kind: "folded", into: "the compaction" });
    conversation.marker("compaction", sourceTitle("conversation_compacted"), textIn(value.summary));
    return conversation.result();
  }
  if (record.deleted === true) {
    if (isMessage) state.count = Math.min(state.count, index);
    conversation.retract(retractionReason("removed_by", { agent: "Cline" }));
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  if (key === "session") return readSession(conversation, value);
  if (key === "system") {
    conversation.context(sourceTitle("system_prompt"), promptParts(value.system_prompt));
    return conversation.result({ kind: "hidden", rule: "empty message" });
  }
  if (isMessage) {
    state.count = Math.max(state.count, index + 1);
    return readMessage(state, conversation, record);
  }
  conversation.unknown(value, sourceTitle("record_named", { name: key }));
  return conversation.result();
}

/** The index of a message in its document. */
function numberOf(place: SessionRecord["place"]): number {
  return place.kind === "document" ? Number(/\/(\d+)$/.exec(place.pointer)?.[1] ?? 0) : 0;
}

/** Reads the document's head, which names the session. */
function readHead(state: ClineState, record: SessionRecord): RecordResult {
  const { value } = record;
  const origin = asObject(value.origin);
  const name = asText(value.sessionId) ?? asText(origin?.sessionId);
  if (!state.named && name !== undefined) state.conversation.session_id = idOf(name);
  state.named = true;
  const parent = asText(origin?.parentThreadId);
  if (parent !== undefined) state.parent = idOf(parent);
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.created_at) });
  const agent_version = asText(origin?.version);
  const agent = asText(value.agent);
  conversation.update({
    agent: "cline",
    agent_version,
    ...(state.parent !== undefined && {
      parent: { session_id: state.parent },
      run: { depth: 1, ...(agent !== undefined && agent !== "subagent" && { name: agent }) },
    }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Reads `<id>.json`: the session's status, written when it starts and ends. */
function readSession(conversation: Conversation, value: JsonObject): RecordResult {
  const title = asText(asObject(value.metadata)?.title);
  const cwd = asText(value.cwd);
  const model = asText(value.model);
  conversation.update({
    title,
    cwd,
    model,
  });
  const status = asText(value.status);
  if (value.ended_at !== undefined && value.ended_at !== null && status !== undefined) {
    const isFailed = /fail|error/i.test(status);
    conversation.endTurn(
      isFailed ? "failed" : /cancel|abort|interrupt/i.test(status) ? "interrupted" : "completed",
    );
  }
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Whether a message is the summary of the messages before it. */
export const isSummary = (message: JsonObject | undefined): boolean =>
  asObject(message?.metadata)?.kind === "compaction_summary";

function usageOf(value: unknown): Usage | undefined {
  const metrics = asObject(value);
  const input = asNumber(metrics?.inputTokens);
  const output = asNumber(metrics?.outputTokens);
  if (input === undefined && output === undefined) return undefined;
  const cost = asNumber(metrics?.cost) ?? asNumber(metrics?.totalCost);
  return {
    input: input ?? 0,
    output: output ?? 0,
    cache_read: asNumber(metrics?.cacheReadTokens) ?? 0,
    cache_write: asNumber(metrics?.cacheWriteTokens) ?? 0,
    ...(cost !== undefined && { cost }),
  };
}

function readMessage(state: ClineState, conversation: Conversation, record: SessionRecord): RecordResult {
  const message = record.value;
  if (isSummary(message)) {
    conversation.marker("compaction", sourceTitle("conversation_compacted"), textIn(message.content));
    return conversation.result();
  }
  if (message.role === "user") return readUser(state, conversation, message);
  if (message.role !== "assistant") {
    conversation.unknown(message, sourceTitle("message_of_role", { role: asString(message.role) }));
    return conversation.result();
  }
  const metadata = asObject(message.metadata);
  const blocks = blocksIn(message.content);
  if (metadata?.displayOnly === true) {
    const text = textIn(message.content);
    if (metadata.displayRole === "error") conversation.error(text);
    else conversation.marker("note", text.split("\n", 1)[0] ?? text, text);
    return conversation.result();
  }
  const model = asText(asObject(message.modelInfo)?.id);
  const response_id = asText(message.id);
  const raw = new RawJson(record);
  conversation.step(record.key, {
    model,
    response_id,
  });
  emitBlocks(conversation, blocks, {
    argumentsAt: (index) => raw.of(blocks[index]?.input ?? {}, ["content", index, "input"]),
    onCall: (call) => noteCall(state, call, state.conversation.at),
  });
  const usage = usageOf(message.metrics);
  conversation.endStep({ usage });
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

const INJECTED = ["mode_notice", "environment_details", "system-reminder"] as const;

function readUser(state: ClineState, conversation: Conversation, message: JsonObject): RecordResult {
  const blocks = blocksIn(message.content);
  const results = blocks.filter((block) => block.type === "tool_result");
  for (const block of results) emitResult(conversation, block);
  const injected: string[] = [];
  const parts = promptParts(
    blocks.filter((block) => block.type !== "tool_result"),
    (text) => {
      const { own, injected: around } = unwrap(text, INJECTED);
      injected.push(...around);
      return inside(own, "user_input");
    },
  );
  const queued = results.length > 0;
  if (injected.length > 0) {
    if (parts.length > 0 && !queued) conversation.beginTurn();
    conversation.context(
      sourceTitle("context_from", { agent: "Cline" }),
      injected.map((text) => ({ type: "text" as const, text })),
    );
  }
  if (parts.length > 0) {
    const isTask = state.parent !== undefined && state.task === undefined;
    if (isTask) state.task = { prompt: promptKey(textIn(message.content)), at: state.conversation.at };
    conversation.prompt(parts, { queued, ...(isTask && { origin: "agent" as const }) });
  }
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** One part of a result: tools accept several paths, commands or queries. */
interface Answer {
  query: string | undefined;
  text: string;
  failed: boolean;
}

/** Emits a result: text, `[{query, result, success, error?}]`, the JSON of one of these, or a sub-agent's answer. */
function emitResult(conversation: Conversation, block: JsonObject): void {
  const { content } = block;
  const id = asText(block.tool_use_id);
  const tool_name = asText(block.name);
  const report = typeof content === "string" ? parseObject(content) : undefined;
  const items = report === undefined ? asArray(content).map(asObject) : [report];
  const answers = items.flatMap((item) => (item === undefined ? [] : answerOf(item)));
  const isRead = answers.length > 0 && answers.length === items.length;
  const failed = isRead ? answers.some((answer) => answer.failed) : block.is_error === true;
  const { output_text, parts } = isRead
    ? { output_text: joined(answers), parts: [] }
    : resultContent(content);
  const exit = /^\[Command exited with code (-?\d+)\]/m.exec(output_text)?.[1];
  conversation.toolResult({
    id,
    tool_name,
    status: failed ? "error" : "success",
    output_text,
    parts,
    payload(call) {
      if (call?.type === "sub_agent") return withReport(call, report);
      if (call?.type === "shell")
        return withExit(call, { exit_code: exit !== undefined ? Number(exit) : failed ? undefined : 0 });
      return failed ? ofFailure(call) : call;
    },
  });
}

function answerOf(item: JsonObject): Answer[] {
  const query = asText(item.query);
  if (typeof item.success === "boolean" || query !== undefined) {
    const result =
      asString(item.result) ?? (item.result === undefined ? "" : JSON.stringify(item.result, undefined, 2));
    const error = asText(item.error);
    const hasError = error !== undefined && result.includes(error);
    const text = [result, ...(error === undefined || hasError ? [] : [error])]
      .filter((part) => part !== "")
      .join("\n");
    return [{ query, text, failed: item.success === false }];
  }
  const text = asString(item.text);
  return text !== undefined && item.finishReason !== undefined
    ? [{ query: undefined, text, failed: /error|fail/i.test(asString(item.finishReason) ?? "") }]
    : [];
}

/** Joins answers. If there are several, each one is labelled with its query. */
function joined(answers: readonly Answer[]): string {
  if (answers.length === 1) return answers[0]?.text ?? "";
  return answers.map(({ query, text }) => (query === undefined ? text : `── ${query}\n${text}`)).join("\n");
}

function withReport(
  payload: Extract<UiExtra, { type: "sub_agent" }>,
  report: JsonObject | undefined,
): UiExtra {
  const status = asText(report?.finishReason);
  const usage = usageOf(report?.usage);
  return {
    ...payload,
    ...(status !== undefined && { status }),
    ...(usage !== undefined && { tokens: usage.input + usage.output }),
  };
}
