import type { ToolStatus } from "../../model/messages/message.ts";
import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { SessionRecord } from "../contract.ts";
import { emitBlocks, emitCall } from "../conversation/blocks.ts";
import { blocksIn, promptParts, resultContent, textIn } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { noteCall, promptKey } from "../conversation/runs.ts";
import { ofFailure } from "../conversation/tool-payload.ts";
import { parseObject } from "../lines/parse-object.ts";
import type { TaskState } from "./state.ts";
import { splitXmlCalls } from "./xml-calls.ts";

/**
 * Reads a message of the conversation with the model: blocks of the Anthropic API, or of the AI SDK since Roo Code's version 2.
 */
export function readMessage(state: TaskState, conversation: Conversation, record: SessionRecord): void {
  const { value } = record;
  if (value.isSummary === true) {
    conversation.context(sourceTitle("summary_of_conversation"), promptParts(value.content));
    return;
  }
  if (value.isTruncationMarker === true) {
    conversation.marker("compaction", sourceTitle("conversation_compacted"), textIn(value.content));
    return;
  }
  if (value.role === "user" || value.role === "tool") readUser(state, conversation, value);
  else if (value.role === "assistant") readAnswer(state, conversation, record);
  else if (value.type === "reasoning") {
    // An encrypted thought precedes its answer.
    const signature = asText(value.encrypted_content);
    conversation.step(record.key, state.model === undefined ? {} : { model: state.model });
    conversation.thinking(textIn(value.summary), {
      ...(signature !== undefined && { signature, hidden: "encrypted" as const }),
    });
    state.thought = record.key;
  } else conversation.unknown(value, sourceTitle("message_of_role", { role: asString(value.role) }));
}

/** Names of the extensions in titles. */
const NAMES: Readonly<Record<string, string>> = {
  "roo-code": "Roo Code",
  "cline-vscode": "Cline",
  "kilo-code": "Kilo Code",
};
/** Maximum number of waiting calls that were written as text. */
const MAX_WRITTEN = 64;
const CUT = /\s*\[Response interrupted by ([^\]]+)\]\s*$/;

function readAnswer(state: TaskState, conversation: Conversation, record: SessionRecord): void {
  const { value, key } = record;
  const model = asText(asObject(value.modelInfo)?.modelId) ?? state.model;
  const step = state.thought ?? key;
  delete state.thought;
  conversation.step(step, model === undefined ? {} : { model });
  const raw = new RawJson(record);
  let cut: string | undefined;
  let is_done = false;
  let written = 0;
  const onCall = (call: { id: string; name: string; input: unknown }): void => {
    noteCall(state, taskCall(call), state.conversation.at);
    if (call.name === "attempt_completion") is_done = true;
  };
  const thought = asText(value.reasoning_content);
  if (thought !== undefined) conversation.thinking(thought);
  for (const [index, block] of blocksIn(value.content).entries()) {
    const text = asString(block.text);
    if (block.type !== "text" || text === undefined) {
      emitBlocks(conversation, [block], {
        argumentsAt: () => raw.of(block.input ?? {}, ["content", index, "input"]),
        onCall,
      });
      continue;
    }
    cut = CUT.exec(text)?.[1] ?? cut;
    for (const segment of splitXmlCalls(text.replace(CUT, ""))) {
      if (segment.kind === "text") conversation.text(segment.text);
      else if (segment.kind === "thinking") conversation.thinking(segment.text);
      else {
        const { name, input } = segment;
        const call_id = `${key}:${written}`;
        written += 1;
        const id = emitCall(conversation, { id: call_id, name, input });
        state.written = [...state.written, { id: call_id, name }].slice(-MAX_WRITTEN);
        onCall({ id, name, input });
      }
    }
  }
  endAnswer(state, conversation, { step, cut, is_done });
}

/** Ends the step with the tokens of its request. Ends the turn if the task was finished or cut off. */
function endAnswer(
  state: TaskState,
  conversation: Conversation,
  { step, cut, is_done }: { step: string; cut: string | undefined; is_done: boolean },
): void {
  const request = state.requests.at(-1);
  const isOwn = request !== undefined && (request.step === undefined || request.step === step);
  if (isOwn) request.step = step;
  const usage = isOwn ? request.usage : undefined;
  conversation.endStep({ usage });
  if (cut === "user") conversation.interrupt("Stopped by the user");
  else if (cut !== undefined)
    conversation.error(request?.failure ?? sourceTitle("response_interrupted", { by: cut }));
  else if (is_done) conversation.endTurn("completed");
}

/** Renames `context`, the prompt of Cline's `new_task`. Roo Code's name, `message`, needs no change. */
function taskCall(call: { id: string; name: string; input: unknown }): typeof call {
  const context = asText(asObject(call.input)?.context);
  return call.name !== "new_task" || context === undefined ? call : { ...call, input: { prompt: context } };
}

/** Reads a message with results, the extension's additions and a person's text. */
function readUser(state: TaskState, conversation: Conversation, message: JsonObject): void {
  const typed: JsonObject[] = [];
  const context: string[] = [];
  let had_results = false;
  let written: { name: string; texts: JsonObject[] } | undefined;
  const endWritten = (): void => {
    if (written !== undefined) emitWrittenResults(state, conversation, written, typed);
    written = undefined;
  };
  for (const block of blocksIn(message.content).flatMap(withoutDetails)) {
    const text = block.type === "text" ? asString(block.text) : undefined;
    const [begins, name = ""] = /^\[(\w+)(?: for [\s\S]*?)?\] Result:\s*/.exec(text ?? "") ?? [];
    if (block.type === "tool_result" || block.type === "tool-result") {
      endWritten();
      had_results = true;
      emitResult(conversation, block, typed);
    } else if (begins !== undefined && text !== undefined) {
      endWritten();
      had_results = true;
      const rest = text.slice(begins.length);
      written = { name, texts: rest === "" ? [] : [{ type: "text", text: rest }] };
    } else if (text !== undefined && DETAILS.test(text)) {
      endWritten();
      context.push(text);
      updateFacts(state, conversation, text);
    } else if (written !== undefined && taggedTextOf(text ?? "") === undefined) written.texts.push(block);
    else if (text === undefined) typed.push(block);
    else if (taggedTextOf(text) !== undefined) typed.push({ type: "text", text: taggedTextOf(text) });
    // Text in brackets is the extension's message to the model: that it used no tool, or that the task continues.
    else if (/^\s*\[[A-Z]/.test(text)) {
      context.push(text);
      typed.push(...typedTextsIn(text));
    } else typed.push(block);
  }
  endWritten();
  const parts = promptParts(typed);
  const isTask = parts.length > 0 && state.task === undefined;
  const queued = had_results && conversation.hasRunningTurn;
  if (context.length > 0) {
    if (parts.length > 0 && !queued) conversation.beginTurn();
    conversation.context(
      sourceTitle("context_from", { agent: NAMES[state.agent] ?? state.agent }),
      context.map((text) => ({ type: "text" as const, text })),
    );
  }
  if (parts.length === 0) return;
  if (isTask) state.task = { prompt: promptKey(textIn(typed)), at: state.conversation.at };
  conversation.prompt(parts, {
    queued,
    ...(isTask && state.parent !== undefined && { origin: "agent" as const }),
  });
}

const DETAILS = /^\s*<environment_details>/;

/** The blocks of a result and of the description of the environment that Kilo Code put into it. */
function withoutDetails(block: JsonObject): JsonObject[] {
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return [block];
  const items = blocksIn(block.content);
  const isDetails = (item: JsonObject): boolean =>
    item.type === "text" && DETAILS.test(asString(item.text) ?? "");
  const details = items.filter(isDetails);
  return details.length === 0
    ? [block]
    : [{ ...block, content: items.filter((item) => !isDetails(item)) }, ...details];
}

const TAGGED_TEXT = /<(task|feedback|answer|user_message)>\n?([\s\S]*?)\n?<\/\1>/;

/** A person's text, if the text consists of it in a tag and nothing else. */
function taggedTextOf(text: string): string | undefined {
  const [whole, , inner] = TAGGED_TEXT.exec(text) ?? [];
  return whole !== undefined && whole === text.trim() ? inner : undefined;
}

/** The person's texts inside the extension's text. */
function typedTextsIn(text: string): JsonObject[] {
  const [, , inner] = TAGGED_TEXT.exec(text) ?? [];
  return inner === undefined || inner.trim() === "" ? [] : [{ type: "text", text: inner }];
}

/** Reads folder and model from the extension's description of the environment. */
function updateFacts(state: TaskState, conversation: Conversation, text: string): void {
  const [, cwd] = /^# Current (?:Workspace|Working) Directory \((.+?)\) Files/m.exec(text) ?? [];
  if (cwd !== undefined && !state.has_cwd) {
    state.has_cwd = true;
    conversation.update({ cwd });
  }
  const [, model] = /^<model>(.+?)<\/model>$/m.exec(text) ?? [];
  if (model !== undefined) state.model = model;
}

function emitResult(conversation: Conversation, block: JsonObject, typed: JsonObject[]): void {
  const id = asText(block.tool_use_id) ?? asText(block.toolCallId);
  const tool_name = asText(block.toolName);
  const output = asObject(block.output);
  const content =
    block.content ?? (output === undefined ? block.output : (output.value ?? JSON.stringify(output)));
  const content_result = resultContent(content);
  const is_error = block.is_error === true || asString(output?.type)?.startsWith("error") === true;
  endCall(conversation, { id, tool_name, ...content_result, is_error });
  typed.push(...typedAfterEnd(conversation, content_result.output_text));
}

/** Emits results of calls that were written as text, from the texts after `[tool for …] Result:`. */
function emitWrittenResults(
  state: TaskState,
  conversation: Conversation,
  { name, texts }: { name: string; texts: JsonObject[] },
  typed: JsonObject[],
): void {
  const at = state.written.findIndex((call) => call.name === name);
  const [call] = at === -1 ? [] : state.written.splice(at, 1);
  const content_result = resultContent(texts);
  endCall(conversation, { id: call?.id, tool_name: name, ...content_result, is_error: false });
  typed.push(...typedAfterEnd(conversation, content_result.output_text));
}

/** A reply to a finished task starts another turn. */
function typedAfterEnd(conversation: Conversation, text: string): JsonObject[] {
  return conversation.hasRunningTurn ? [] : typedTextsIn(text);
}

interface Ending {
  id: string | undefined;
  tool_name: string | undefined;
  output_text: string;
  parts: ReturnType<typeof resultContent>["parts"];
  is_error: boolean;
}

function endCall(conversation: Conversation, ending: Ending): void {
  const { id, tool_name, output_text, parts } = ending;
  const { status, outcome } = outcomeOf(ending);
  conversation.toolResult({
    id,
    tool_name,
    status,
    output_text,
    parts,
    outcome,
    payload: (call) => (status === "success" ? call : ofFailure(call)),
  });
}

/** How a call ended, from the extension's text or JSON for the model. */
function outcomeOf({ output_text, is_error }: Ending): { status: ToolStatus; outcome?: CallOutcome } {
  const report = output_text.startsWith("{") ? parseObject(output_text) : undefined;
  if (report?.status === "denied" || /^The user denied this operation/.test(output_text)) {
    const reason = asText(report?.feedback) ?? asText(typedTextsIn(output_text)[0]?.text);
    return {
      status: "aborted",
      outcome: { kind: "refused", by: "person", ...(reason !== undefined && { reason }) },
    };
  }
  if (/^(?:Task was interrupted before this tool call|\[[^\]]*interrupted)/.test(output_text))
    return { status: "aborted", outcome: { kind: "stopped" } };
  const failed =
    is_error || report?.status === "error" || /^(?:\[ERROR\]|The tool execution failed)/.test(output_text);
  return { status: failed ? "error" : "success" };
}
