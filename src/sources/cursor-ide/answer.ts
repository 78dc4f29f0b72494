import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, type ThoughtFields } from "../conversation/conversation.ts";
import type { EmittedCall } from "../conversation/conversation-state.ts";
import { nameRun, noteCall, notePrompt } from "../conversation/runs.ts";
import { inputOf } from "../conversation/tool-payload.ts";
import { parseObject } from "../lines/parse-object.ts";
import { addItem, itemWithId } from "../recent-items.ts";
import { pathOf } from "./folders.ts";
import { idOf, modelOf } from "./ids.ts";
import { type IdeState, MAX_STEPS, type Tokens } from "./state.ts";
import { continueStep, setTokens, usageOf } from "./steps.ts";
import { callOf, endingIn, type IdeCall, resultOf } from "./tool.ts";

/** A bubble of a record. `revises`: it was read before and has changed. */
export interface FoundBubble {
  bubble: JsonObject;
  id: string;
  at: number | undefined;
  revises: boolean;
}

/** What a bubble of type 2 contains: usually only one of them. */
interface Content {
  thought: ({ text: string } & ThoughtFields) | undefined;
  text: string | undefined;
  tool: JsonObject | undefined;
  call: IdeCall | undefined;
}

const SUMMARIZATION = 22;
const TOOL = 15;

/** Reads a thought, text, tool call, summary, notice or error of the agent. */
export function readAnswer(state: IdeState, record: SessionRecord, found: FoundBubble): RecordResult {
  const { bubble, id, revises } = found;
  const content = contentOf(bubble, id);
  const { thought, text, call } = content;
  // A result that a call was waiting for came now, and not when the call began.
  const at = revises && waiting(state, call) !== undefined ? timeOf(bubble.endedAtMs) : found.at;
  const conversation = new Conversation(state.conversation, record, { at, revises });
  const isStep = thought !== undefined || text !== undefined || call !== undefined;
  if (isStep && bubble.capabilityType !== SUMMARIZATION)
    emitContent(state, conversation, record, found, content);
  else if (text !== undefined) conversation.marker("compaction", sourceTitle("conversation_compacted"), text);
  const notice = asText(asObject(bubble.serviceStatusUpdate)?.message);
  if (notice !== undefined) conversation.marker("note", notice);
  const error = asObject(bubble.errorDetails);
  if (error !== undefined) emitError(conversation, error);
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function contentOf(bubble: JsonObject, id: string): Content {
  const tool = toolOf(bubble);
  const call = tool && callOf(tool);
  const text = bubble.isThought === true ? undefined : asText(bubble.text);
  return {
    thought: thoughtOf(bubble),
    text: text ?? (tool === undefined ? codeOf(bubble.codeBlocks) : undefined),
    tool,
    call: call && { ...call, id: call.id ?? id },
  };
}

/** A thought. Of some Cursor has only the duration. Older versions mark the text of a bubble as one. */
function thoughtOf(bubble: JsonObject): Content["thought"] {
  const thinking = asObject(bubble.thinking);
  const blocks = asArray(bubble.allThinkingBlocks).flatMap((each) => asText(asObject(each)?.text) ?? []);
  const text =
    asText(bubble.thinking) ??
    asText(thinking?.text) ??
    asText(blocks.join("\n")) ??
    (bubble.isThought === true ? asText(bubble.text) : undefined);
  const signature = asText(thinking?.signature);
  const isRedacted = asText(thinking?.redactedThinking) !== undefined;
  const duration_ms = asNumber(bubble.thinkingDurationMs) ?? 0;
  if (text === undefined && signature === undefined && !isRedacted && duration_ms <= 0) return undefined;
  const hidden = text !== undefined ? undefined : isRedacted ? "redacted" : "empty";
  return { text: text ?? "", signature, hidden, duration_ms };
}

/** The tool call of a bubble. Others have an object with the status of a failure alone, which is none. */
function toolOf(bubble: JsonObject): JsonObject | undefined {
  const tool = asObject(bubble.toolFormerData);
  const isCall =
    asText(tool?.name) !== undefined ||
    asText(tool?.toolCallId) !== undefined ||
    bubble.capabilityType === TOOL;
  return isCall ? tool : undefined;
}

/** The code of an answer that has no text, as in older versions. */
function codeOf(value: unknown): string | undefined {
  const blocks = asArray(value).flatMap((each) => {
    const block = asObject(each);
    const content = asText(block?.content);
    if (content === undefined) return [];
    const uri = asObject(block?.uri);
    const path = asText(uri?.fsPath) ?? asText(uri?._fsPath) ?? asText(uri?.path);
    const ticks = Math.max(2, ...(content.match(/`+/g) ?? []).map(({ length }) => length)) + 1;
    const fence = "`".repeat(ticks);
    const head = path === undefined ? "" : `${pathOf(path)}\n`;
    return [`${head}${fence}${asString(block?.languageId) ?? ""}\n${content}\n${fence}`];
  });
  return blocks.length === 0 ? undefined : blocks.join("\n\n");
}

const waiting = (state: IdeState, call: IdeCall | undefined): EmittedCall | undefined =>
  call && state.conversation.calls.find(({ name, answered }) => name === call.id && !answered);

function emitContent(
  state: IdeState,
  conversation: Conversation,
  record: SessionRecord,
  found: FoundBubble,
  { thought, text, tool, call }: Content,
): void {
  const { bubble, id, revises } = found;
  const model = modelOf(asObject(bubble.modelInfo)?.modelName) ?? state.model;
  const tokens = tokensOf(id, bubble.tokenCount);
  if (revises) conversation.step(stepOf(state, id) ?? record.key);
  else {
    const own = call === undefined ? {} : { call: { model_call: asText(tool?.modelCallId) } };
    const step = continueStep(state, conversation, { key: record.key, model, ...own });
    addItem(state.steps, { id, key: step.key }, MAX_STEPS);
    if (tokens !== undefined) setTokens(step, tokens);
  }
  if (thought !== undefined) conversation.thinking(thought.text, thought);
  if (text !== undefined) conversation.text(text);
  if (tool !== undefined && call !== undefined) {
    emitCall(state, conversation, call, asText(inputOf(tool.result)?.agentId));
    emitResult(state, conversation, record, { bubble, tool, call });
  }
  if (revises && tokens !== undefined) reviseTokens(state, conversation, tokens);
}

/** `run`: the conversation of the sub-agent that the call started. */
function emitCall(state: IdeState, conversation: Conversation, call: IdeCall, run: string | undefined): void {
  const { id, tool_name, arguments_json, payload, kind, input } = call;
  const frame_id = conversation.toolCall({ id, tool_name, arguments_json, payload });
  noteCall(state, { id: frame_id, name: kind, input }, state.conversation.at);
  notePrompt(state, frame_id, input);
  if (run !== undefined) nameRun(state, frame_id, idOf(run));
}

function emitResult(
  state: IdeState,
  conversation: Conversation,
  record: SessionRecord,
  { bubble, tool, call }: { bubble: JsonObject; tool: JsonObject; call: IdeCall },
): void {
  const ending = endingIn(tool);
  if (ending === undefined) return;
  const result = resultOf(tool, call, ending, { bubble, change: record.value.change });
  const answered = waiting(state, call);
  conversation.toolResult(result);
  // A revision changes nothing for later records, but this is the end of a call of the running turn.
  if (answered === undefined) return;
  answered.answered = true;
  const { turn } = state.conversation;
  if (turn !== undefined) turn.stopped = result.status === "aborted";
}

/** Tokens of a request. Cursor writes zeros if it does not know them. */
function tokensOf(id: string, value: unknown): Tokens | undefined {
  const count = asObject(value);
  const input = asNumber(count?.inputTokens) ?? 0;
  const output = asNumber(count?.outputTokens) ?? 0;
  return input + output === 0 ? undefined : { id, input, output };
}

const stepOf = (state: IdeState, id: string): string | undefined => itemWithId(state.steps, id)?.key;

/** Adds tokens that became known later to the bubble's step. */
function reviseTokens(state: IdeState, conversation: Conversation, tokens: Tokens): void {
  const { step } = state;
  if (step === undefined || step.key !== stepOf(state, tokens.id)) {
    conversation.endStep({ usage: { input: tokens.input, output: tokens.output } });
    return;
  }
  setTokens(step, tokens);
  if (state.conversation.step?.over === true) conversation.endStep({ usage: usageOf(step) });
}

/** Emits an error: `{message, error}`, where `error` is JSON with a title and a text for the user. */
function emitError(conversation: Conversation, { stackTrace: _, ...error }: JsonObject): void {
  const details = asObject(parseObject(asString(error.error) ?? "")?.details);
  const texts = [details?.title, details?.detail].flatMap((each) => asText(each) ?? []);
  const message = texts.length > 0 ? texts.join(": ") : (asText(error.message) ?? asText(error.error));
  conversation.error(message ?? sourceTitle("request_failed"), error);
}
