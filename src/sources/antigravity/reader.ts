import { isUuid } from "../../model/is-uuid.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { ofFailure } from "../conversation/tool-payload.ts";
import { elementIn, inside, unwrap } from "../conversation/wrappers.ts";
import { firstLine } from "../lines/first-line.ts";
import { answered, argumentsOf, isResultType, payloadFor, resultTypeOf } from "./tools.ts";

/** A call without a result. */
interface WaitingCall {
  id: string;
  tool: string;
  /** Number of the record that reported it as still running. Its end has the same number. */
  step?: number;
}

/** State of an Antigravity session between records. */
export interface AntigravityState {
  conversation: ConversationState;
  begun: boolean;
  model?: string;
  /** Waiting calls: those still running, then those of the last answer in order. */
  waiting: WaitingCall[];
  /** The last answer: its number, and a summary of its content. */
  answer?: { step: number | undefined; said: string };
  /** Recent results by record number. */
  results: { step: number; type: string; call: string }[];
}

/** Maximum number of remembered calls and results, and maximum length of their names. */
const MAX_KEPT = 64;
const MAX_NAME = 200;

/** The type of results of tools without a type of their own; in newer versions, of all results. */
const ANY_RESULT = "GENERIC";

/** Tags of content that is added to a person's text. */
const INJECTED = ["ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE"] as const;
const REQUEST = "USER_REQUEST";
/** Titles of context for the model, by record type. */
const CONTEXT: Readonly<Record<string, CodedText>> = {
  CONVERSATION_HISTORY: sourceTitle("earlier_conversations"),
  EPHEMERAL_MESSAGE: sourceTitle("note_to_model"),
  KNOWLEDGE_ARTIFACTS: sourceTitle("knowledge"),
};

/**
 * Reads Antigravity's `transcript.jsonl`: a record for each step, with a type in capitals. `PLANNER_RESPONSE` is a model call
 * with its tool calls, which have no ids. Each result follows as a record of its tool's own type. Type and field names come
 * from public programs that read such files and from their tests; no real file was available.
 */
export const antigravityReader = conversationReader<AntigravityState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(path)),
    begun: false,
    waiting: [],
    results: [],
  }),
  sessionId: ({ conversation }) => conversation.session_id,
  read,
});

/** The session id in `brain/<id>/.system_generated/logs/transcript.jsonl`: all files have the same name. */
function idOf(path: string): string {
  const names = namesOf(path);
  const name = (names.at(-3) === ".system_generated" ? names.at(-4) : undefined) ?? stemOf(path);
  return isUuid(name) ? name.toLowerCase() : uuidFrom("antigravity", path);
}

function read(state: AntigravityState, record: SessionRecord): RecordResult {
  const { value } = record;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.created_at) });
  if (!state.begun) {
    state.begun = true;
    conversation.update({ agent: "antigravity" });
  }
  const type = asString(value.type) ?? "";
  const content = textOf(value);
  switch (type) {
    case "USER_INPUT":
      return readPrompt(state, conversation, value);
    case "PLANNER_RESPONSE":
      return readAnswer(state, conversation, record);
    case "ERROR_MESSAGE":
      return readError(state, conversation, value);
    case "CHECKPOINT":
      conversation.marker("compaction", sourceTitle("conversation_summarized"), content);
      return conversation.result();
    case "SYSTEM_MESSAGE":
      return readMessage(conversation, messageIn(content));
    case "CONVERSATION_HISTORY":
    case "EPHEMERAL_MESSAGE":
    case "KNOWLEDGE_ARTIFACTS":
      if (content.trim() === "") return conversation.result({ kind: "hidden", rule: "empty notice" });
      conversation.context(CONTEXT[type] ?? type, [{ type: "text", text: content }]);
      return conversation.result();
    default:
      return readOther(state, conversation, record, type);
  }
}

/** The text of a record, usually a string. */
function textOf({ content }: JsonObject): string {
  return asString(content) ?? asString(asObject(content)?.text) ?? "";
}

function readPrompt(state: AntigravityState, conversation: Conversation, value: JsonObject): RecordResult {
  const { own, injected } = promptOf(textOf(value));
  const model = modelOf(injected.join("\n"));
  if (model !== undefined) state.model = model;
  const source = asText(value.source);
  const isPerson = source === undefined || source.startsWith("USER");
  const hasText = own.trim() !== "";
  if (injected.length > 0) {
    if (hasText) conversation.beginTurn();
    conversation.context(
      sourceTitle("context_from", { agent: "Antigravity" }),
      injected.map((text) => ({ type: "text" as const, text })),
    );
  }
  if (hasText)
    conversation.prompt([{ type: "text", text: own }], {
      queued: conversation.awaitsModel,
      ...(!isPerson && { origin: "agent" as const }),
    });
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** A person's text in `<USER_REQUEST>`, and the blocks after it. */
function promptOf(text: string): { own: string; injected: string[] } {
  const open = `<${REQUEST}>`;
  const close = `</${REQUEST}>`;
  const end = text.lastIndexOf(close);
  if (!text.trimStart().startsWith(open) || end === -1) return unwrap(text, INJECTED);
  const behind = text.slice(end + close.length).trim();
  const around = behind === "" ? [] : [behind];
  return { own: inside(text.slice(0, end + close.length), REQUEST).trim(), injected: around };
}

/** The model's name, which is at the end of its sentence. Other sentences may follow. */
function modelOf(injected: string): string | undefined {
  const [, name] = /`Model Selection` from [^\n]{1,200}? to ([^\n]{1,100}?)\.(?:\s|$)/.exec(injected) ?? [];
  return asText(name?.trim());
}

/** The text of a message, without the sentence that newer versions put before it. */
function messageIn(content: string): string {
  const message = elementIn(content, "SYSTEM_MESSAGE");
  const isAlone =
    message?.injected.every((text) => text.startsWith("The following is a <SYSTEM_MESSAGE>")) ?? false;
  return message !== undefined && isAlone ? message.own : content;
}

/** Reads a message from a task or another agent, which wakes an idle agent. */
function readMessage(conversation: Conversation, text: string): RecordResult {
  if (text.trim() === "") return conversation.result({ kind: "hidden", rule: "empty notice" });
  const parts = [{ type: "text" as const, text }];
  if (conversation.hasRunningTurn) conversation.context(sourceTitle("message_to_agent"), parts);
  else conversation.prompt(parts, { origin: "notification" });
  return conversation.result();
}

function readAnswer(
  state: AntigravityState,
  conversation: Conversation,
  record: SessionRecord,
): RecordResult {
  const { value } = record;
  const step = asNumber(value.step_index);
  const thinking = asString(value.thinking) ?? "";
  const text = textOf(value);
  const calls = asArray(value.tool_calls).map((call) => asObject(call) ?? {});
  if (thinking.trim() === "" && text.trim() === "" && calls.length === 0)
    return conversation.result({ kind: "hidden", rule: "empty message" });
  // A step may be written while it is running, and again at its end.
  const said = [thinking.length, text.length, calls.length, thinking.slice(-40), text.slice(-40)].join(" ");
  if (step !== undefined && state.answer?.step === step && state.answer.said === said) {
    conversation.fold("the same answer before it");
    return conversation.result();
  }
  state.answer = { step, said };
  conversation.step(record.key, state.model === undefined ? {} : { model: state.model });
  if (thinking.trim() !== "") conversation.thinking(thinking);
  conversation.text(text);
  // Calls of the previous answer have their results, or will get none.
  const runsOn = state.waiting.filter((call) => call.step !== undefined);
  const raw = new RawJson(record);
  const begun = calls.map((call, index) => emitCall(conversation, call, raw, index, record.key));
  state.waiting = [...runsOn, ...begun].slice(-MAX_KEPT);
  conversation.endStep(value.status === "ERROR" ? { stop_reason: "error" } : {});
  return conversation.result();
}

function emitCall(
  conversation: Conversation,
  call: JsonObject,
  raw: RawJson,
  index: number,
  key: string,
): WaitingCall {
  const tool_name = asText(call.name) ?? asText(call.tool_name) ?? "(unnamed tool)";
  const { input, isEncoded } = argumentsOf(call.args);
  const id = conversation.toolCall({
    // Calls have no ids, so ids are derived from their position.
    id: `${key}:${index}`,
    tool_name,
    arguments_json: isEncoded ? JSON.stringify(input) : writtenArguments(call, raw, index),
    payload: payloadFor(tool_name, input),
  });
  return { id, tool: tool_name.slice(0, MAX_NAME) };
}

function writtenArguments({ args }: JsonObject, raw: RawJson, index: number): string {
  if (args === undefined || args === null) return "{}";
  return typeof args === "string" ? args : raw.of(args, ["tool_calls", index, "args"]);
}

/** Reads a record of a tool's own type or of an unknown type. */
function readOther(
  state: AntigravityState,
  conversation: Conversation,
  record: SessionRecord,
  type: string,
): RecordResult {
  const { value } = record;
  if (asArray(value.tool_calls).length > 0) return readAnswer(state, conversation, record);
  const hasText = typeof value.content === "string" || asText(value.error) !== undefined;
  const step = asNumber(value.step_index);
  const call = hasText || value.status === "RUNNING" ? callFor(state, type, step) : undefined;
  if (call === undefined && !((isResultType(type) || type === ANY_RESULT) && hasText)) {
    conversation.unknown(
      value,
      sourceTitle("step_of_type", { type: type === "" ? undefined : firstLine(type) }),
    );
    return conversation.result();
  }
  if (value.status === "RUNNING") return readRunning(state, conversation, value, call, step);
  emitResult(state, conversation, value, call);
  if (call !== undefined && step !== undefined)
    state.results = [...state.results, { step, type: type.slice(0, MAX_NAME), call }].slice(-MAX_KEPT);
  return conversation.result();
}

/**
 * The call of a result record: the call whose running record or result had this number, otherwise the oldest one with this
 * result type. `GENERIC` answers tools without a result type, in newer versions every tool, and any next record answers the only
 * call of the previous answer.
 */
function callFor(state: AntigravityState, type: string, step: number | undefined): string | undefined {
  const { waiting } = state;
  if (step !== undefined) {
    const before = state.results.find((result) => result.step === step && result.type === type);
    if (before !== undefined) return before.call;
    const running = waiting.find((call) => call.step === step);
    if (running !== undefined) return running.id;
  }
  const open = waiting.filter((call) => call.step === undefined);
  const named = open.find(({ tool }) => resultTypeOf(tool) === type);
  if (named !== undefined) return named.id;
  if (type === ANY_RESULT) return (open.find(({ tool }) => !isResultType(resultTypeOf(tool))) ?? open[0])?.id;
  const isNext = step !== undefined && state.answer?.step !== undefined && step === state.answer.step + 1;
  return isNext && open.length === 1 && !isResultType(type) ? open[0]?.id : undefined;
}

/** Reads a record of a running tool: its call stays open. */
function readRunning(
  state: AntigravityState,
  conversation: Conversation,
  value: JsonObject,
  id: string | undefined,
  step: number | undefined,
): RecordResult {
  const call = state.waiting.find((each) => each.id === id);
  if (call !== undefined && step !== undefined) call.step = step;
  const text = textOf(value);
  const name = call?.tool ?? asString(value.type);
  if (text.trim() === "") conversation.fold("its call");
  else conversation.marker("note", sourceTitle("still_running", { tool: name && firstLine(name) }), text);
  return conversation.result();
}

function emitResult(
  state: AntigravityState,
  conversation: Conversation,
  value: JsonObject,
  id: string | undefined,
): void {
  const output_text = [...new Set([asText(value.error), textOf(value)])].filter(Boolean).join("\n\n");
  const word = asString(value.status) ?? "";
  const isStopped = /^CANCEL/i.test(word);
  const isFailed = word === "ERROR" || value.type === "ERROR_MESSAGE";
  const status = isStopped ? "aborted" : isFailed ? "error" : "success";
  state.waiting = state.waiting.filter((call) => call.id !== id);
  conversation.toolResult({
    ...(id === undefined ? { tool_name: asString(value.type)?.toLowerCase() ?? "" } : { id }),
    status,
    output_text,
    ...(isStopped && { outcome: { kind: "stopped" as const } }),
    payload: (call) => (status === "success" ? answered(call, output_text) : ofFailure(call)),
  });
}

/** Reads an error: the result of a call, or the failure of the turn unless the agent continues. */
function readError(state: AntigravityState, conversation: Conversation, value: JsonObject): RecordResult {
  const text = asText(value.error) ?? textOf(value);
  const open = state.waiting.filter((call) => call.step === undefined);
  if (open.length === 1 && /\btool call\b/i.test(text)) {
    emitResult(state, conversation, value, open[0]?.id);
    return conversation.result();
  }
  const code = asNumber(value.error_code);
  const content = textOf(value);
  const data = {
    ...(code !== undefined && { error_code: code }),
    ...(content !== "" && content !== text && { content }),
  };
  conversation.error(text, Object.keys(data).length > 0 ? data : undefined);
  return conversation.result();
}
