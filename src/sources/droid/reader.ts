import type { Frame } from "../../model/frames/frame.ts";
import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionLinkFacts, SessionRecord } from "../contract.ts";
import { emitBlocks, emitResult } from "../conversation/blocks.ts";
import { blocksIn, promptParts, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { growthOf } from "../conversation/growth.ts";
import { stemOf } from "../conversation/paths.ts";
import { noteCall, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { unwrap } from "../conversation/wrappers.ts";
import { parseObject } from "../lines/parse-object.ts";
import { documentOf } from "./documents.ts";

/** State of a Droid session between records. */
export interface DroidState extends StartedRuns {
  conversation: ConversationState;
  /** The session and call that started this one. */
  parent?: { session_id: string; tool_call_id?: string };
  started: boolean;
  /** The tokens of the whole session, as last read from its settings. */
  total?: Usage;
}

const INJECTED = ["system-reminder", "system-notification"] as const;

const idOf = (name: string): string => sessionIdOf("droid", name);

/** Reads sessions of Factory's Droid, 0.22 to 0.229: `session_start`, then one message in Anthropic blocks per line. */
export const droidReader = conversationReader<DroidState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    ...startedRuns(),
    started: false,
  }),
  sessionId: ({ started, conversation }) => (started ? conversation.session_id : undefined),
  read,
  readSide,
  linkFacts: (state) => ({ sessions: [factsOf(state)] }),
});

/**
 * Reads `<id>.settings.json`: the model, and the session's tokens without those of its sub-agents. They belong to no step, so their
 * increase is added to the last turn. Source: `SessionSettingsSchema` of Droid's SDK.
 */
function readSide(state: DroidState, text: string, path: string): Frame[] {
  const settings = parseObject(text);
  const model = asText(settings?.model);
  const total = usageOf(asObject(settings?.tokenUsage));
  const usage = total && growthOf(state.total, total);
  const conversation = new Conversation(state.conversation, {
    key: `tokens:${JSON.stringify(total)}`,
    place: {
      file: path.replace(/\.jsonl$/, ".settings.json"),
      line: 1,
      byte: 0,
      length: new TextEncoder().encode(text).length,
    },
  });
  if (state.conversation.model === undefined) conversation.update({ model });
  if (usage !== undefined && total !== undefined) {
    state.total = total;
    conversation.sideCall({ model: model ?? state.conversation.model, usage });
  }
  return conversation.take();
}

function usageOf(value: JsonObject | undefined): Usage | undefined {
  const input = asNumber(value?.inputTokens);
  const output = asNumber(value?.outputTokens);
  if (input === undefined || output === undefined) return undefined;
  const cache_read = asNumber(value?.cacheReadTokens) ?? 0;
  const cache_write = asNumber(value?.cacheCreationTokens) ?? 0;
  if (input + output + cache_read + cache_write === 0) return undefined;
  return {
    input,
    output,
    ...(cache_read > 0 && { cache_read }),
    ...(cache_write > 0 && { cache_write }),
  };
}

function factsOf({ conversation, parent, runs }: DroidState): SessionLinkFacts {
  const { session_id, at } = conversation;
  return {
    session_id,
    group: parent?.session_id ?? session_id,
    calls: runs,
    ...(parent !== undefined && {
      run: {
        agent_key: session_id,
        parent_session_id: parent.session_id,
        ...(parent.tool_call_id !== undefined && { tool_call_id: parent.tool_call_id }),
        at,
      },
    }),
  };
}

function read(state: DroidState, record: SessionRecord): RecordResult {
  const { value } = record;
  if (value.type === "session_start" && !state.started) return start(state, record);
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
  if (!state.started) begin(state, conversation);
  switch (value.type) {
    case "message":
      return readMessage(state, conversation, record);
    case "compaction_state":
      conversation.marker(
        "compaction",
        sourceTitle("conversation_compacted"),
        asString(value.summaryText),
        figures(value),
      );
      return conversation.result();
    case "todo_state":
      return conversation.result({ kind: "folded", into: "the to-do list" });
    case "session_settings":
    case "session_end":
      return conversation.result({ kind: "hidden", rule: `bookkeeping: ${value.type}` });
    case "agent_turn_outcome":
      return readOutcome(conversation, value);
    default:
      conversation.unknown(value, sourceTitle("line_of_type", { type: asString(value.type) }));
      return conversation.result();
  }
}

function start(state: DroidState, record: SessionRecord): RecordResult {
  const { value } = record;
  const id = asText(value.id);
  if (id !== undefined) state.conversation.session_id = idOf(id);
  const caller = asText(value.callingSessionId);
  const call = asText(value.callingToolUseId);
  if (caller !== undefined)
    state.parent = { session_id: idOf(caller), ...(call !== undefined && { tool_call_id: call }) };
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
  begin(state, conversation);
  const title = asText(value.sessionTitle) ?? asText(value.title);
  const cwd = asText(value.cwd);
  const fork = asText(value.parent);
  conversation.update({
    title,
    cwd,
    // In old sessions this is the program's version, in new ones the file format's.
    ...(typeof value.version === "string" && { agent_version: value.version }),
    ...(fork !== undefined && { forked_from: { session_id: idOf(fork) } }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

function begin(state: DroidState, conversation: Conversation): void {
  state.started = true;
  conversation.update({ agent: "droid", ...(state.parent !== undefined && { parent: state.parent }) });
}

function figures(value: JsonObject): JsonObject | undefined {
  const data: JsonObject = {};
  for (const name of ["summaryTokens", "removedCount", "summaryKind", "anchorMessage"])
    if (value[name] !== undefined && value[name] !== null) data[name] = value[name];
  return Object.keys(data).length === 0 ? undefined : data;
}

function readOutcome(conversation: Conversation, value: JsonObject): RecordResult {
  const reason = asText(value.reason) ?? "completed";
  if (/cancel|abort|interrupt/i.test(reason)) conversation.interrupt(reason);
  else if (/fail|error/i.test(reason)) conversation.error(sourceTitle("turn_failed", { reason }));
  else conversation.endTurn("completed");
  return conversation.result({ kind: "folded", into: "the end of its turn" });
}

function readMessage(state: DroidState, conversation: Conversation, record: SessionRecord): RecordResult {
  const message = asObject(record.value.message);
  if (message?.role === "assistant") return readAssistant(state, conversation, record, message);
  // In files the results of calls have the user's role; in the program they have one of their own.
  if (message?.role === "user" || message?.role === "tool") return readUser(state, conversation, message);
  // The program's own messages: for the model, for the person, or for both.
  if (message?.role === "system") {
    const visibility = message.visibility === "llm_only" ? "llm_only" : "user_only";
    return readUser(state, conversation, { ...message, visibility });
  }
  conversation.unknown(record.value, sourceTitle("message_of_role", { role: asString(message?.role) }));
  return conversation.result();
}

function readAssistant(
  state: DroidState,
  conversation: Conversation,
  record: SessionRecord,
  message: JsonObject,
): RecordResult {
  const blocks = blocksIn(message.content);
  if (blocks.length === 0) return conversation.result({ kind: "hidden", rule: "empty message" });
  const raw = new RawJson(record);
  const model = asText(message.modelId);
  const response_id = asText(message.openaiMessageId);
  conversation.step(record.key, {
    model,
    response_id,
  });
  emitBlocks(conversation, blocks, {
    onCall: (call) => noteCall(state, call, state.conversation.at),
    argumentsAt: (index) => raw.of(blocks[index]?.input ?? {}, ["message", "content", index, "input"]),
  });
  conversation.endStep();
  return conversation.result({ kind: "hidden", rule: "blank text" });
}

/** Reads a person's text, results of calls, or the program's text for the model under the user's role. */
function readUser(state: DroidState, conversation: Conversation, message: JsonObject): RecordResult {
  const hook = asText(message.hookEventName);
  if (hook !== undefined) {
    const title = sourceTitle("hook_status", { hook, status: asText(message.hookStatus) });
    conversation.marker("hook", title, undefined, {
      results: asArray(message.hookResults),
    });
    return conversation.result();
  }
  const blocks = blocksIn(message.content).map(documentOf);
  const results = blocks.filter((block) => block.type === "tool_result");
  for (const result of results) emitResult(conversation, result);
  const others = blocks.filter((block) => block.type !== "tool_result");
  const injected: string[] = [];
  const parts = promptParts(others, (text) => {
    const { own, injected: around } = unwrap(text, INJECTED);
    injected.push(...around);
    return own;
  });
  const { visibility } = message;
  const isPrompt = parts.length > 0 && visibility !== "llm_only" && visibility !== "user_only";
  if (injected.length > 0) {
    if (isPrompt && results.length === 0) conversation.beginTurn();
    const reminders = injected.map((text) => ({ type: "text" as const, text }));
    conversation.context(sourceTitle("reminder_from", { agent: "Droid" }), reminders);
  }
  if (visibility === "llm_only") {
    if (parts.length > 0) conversation.context(sourceTitle("context_from", { agent: "Droid" }), parts);
  } else if (visibility === "user_only") {
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    if (text !== "") conversation.marker("note", text.split("\n", 1)[0] ?? text, text);
  } else if (isPrompt) {
    const isDelegated = state.parent !== undefined && state.conversation.step === undefined;
    const source = asText(message.userMessageSource);
    const origin = isDelegated ? "agent" : source === "automation" ? "notification" : undefined;
    conversation.prompt(parts, {
      ...(origin !== undefined && { origin }),
      queued: results.length > 0,
    });
  }
  const empty = { kind: "hidden", rule: "empty message" } as const;
  return conversation.result(empty);
}
