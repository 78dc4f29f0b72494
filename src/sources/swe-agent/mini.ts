import { asArray, asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { emitMessage } from "../chat-messages/reader.ts";
import { emitResponseItem } from "../chat-messages/response-items.ts";
import { usageOf } from "../chat-messages/usage.ts";
import type { SessionRecord } from "../contract.ts";
import { promptParts, resultContent, textIn } from "../conversation/content.ts";
import type { Conversation, ConversationState } from "../conversation/conversation.ts";
import { withExit } from "../conversation/tool-payload.ts";

/** What is known of a mini-SWE-agent's run between messages. */
export interface MiniState {
  conversation: ConversationState;
  /** Version 1 writes no facts beside messages: a prompt after an action is its observation. */
  plain: boolean;
  model?: string;
  /** Calls made of actions that the model wrote as text. Their results are prompts. */
  waiting: string[];
}

/** The only action that version 1 accepts: one block of Bash. */
const ACTION = /```(?:bash|mswea_bash_command)[^\S\n]*\n([\s\S]*?)\n```/g;

const NOT_EXECUTED = "action was not executed";

/** When a message was written, if its writer noted it. */
export const writtenAt = (message: JsonObject): unknown => asObject(message.extra)?.timestamp;

/**
 * Emits one of mini-SWE-agent's messages: of the Chat Completions API, or an answer or result of the Responses API. `extra` has
 * the actions of an answer, and the exit code of an action.
 */
export function emitMini(state: MiniState, conversation: Conversation, record: SessionRecord): void {
  const { key, value } = record;
  const extra = asObject(value.extra) ?? {};
  if (value.object === "response") emitResponse(state, conversation, key, value, extra);
  else if (value.role === "assistant") emitAnswer(state, conversation, key, value, extra);
  else if (value.role === "exit") emitExit(state, conversation, value, extra);
  else if (value.type === "function_call_output")
    emitResult(conversation, asText(value.call_id), value.output, extra);
  else if (value.role === "tool") emitResult(conversation, asText(value.tool_call_id), value.content, extra);
  else if (value.role === "user") emitUser(state, conversation, record, extra);
  else emitMessage(conversation, key, value, record);
}

function emitResponse(
  { model }: MiniState,
  conversation: Conversation,
  key: string,
  response: JsonObject,
  extra: JsonObject,
): void {
  conversation.step(key, { model });
  for (const item of asArray(response.output)) emitResponseItem(conversation, asObject(item) ?? { item });
  conversation.endStep({ usage: usageOf(response.usage, extra.cost) });
}

function emitAnswer(
  state: MiniState,
  conversation: Conversation,
  key: string,
  message: JsonObject,
  extra: JsonObject,
): void {
  const usage = asObject(extra.response)?.usage;
  const commands = Array.isArray(message.tool_calls) ? [] : commandsOf(state, message, extra);
  state.waiting = commands.map((_, index) => `${key}:${index}`);
  const tool_calls = commands.map((command, index) => ({
    id: state.waiting[index],
    name: "bash",
    arguments: { command },
  }));
  const answer = {
    ...message,
    ...(state.model !== undefined && { model: state.model }),
    ...(tool_calls.length > 0 && { tool_calls }),
    usage: { ...asObject(usage), cost: extra.cost },
  };
  emitMessage(conversation, key, answer, { text: JSON.stringify(answer) });
}

/** The commands of an answer whose model wrote them as text. */
function commandsOf(state: MiniState, message: JsonObject, extra: JsonObject): string[] {
  const actions = asArray(extra.actions).flatMap((action) => asText(asObject(action)?.command) ?? []);
  if (!state.plain || actions.length > 0) return actions;
  const found = [...textIn(message.content).matchAll(ACTION)].map(([, command]) => command ?? "");
  return found.length === 1 ? found : [];
}

function emitResult(
  conversation: Conversation,
  id: string | undefined,
  content: unknown,
  extra: JsonObject,
): void {
  const problem = asText(extra.exception_info);
  const exit_code = problem === undefined ? asNumber(extra.returncode) : undefined;
  conversation.toolResult({
    id,
    status: problem === undefined ? "success" : problem === NOT_EXECUTED ? "aborted" : "error",
    ...resultContent(content),
    payload: (call) => withExit(call, { exit_code }),
  });
}

/** Emits a message to the model: an observation, what a person typed, or what the agent found wrong with an answer. */
function emitUser(
  state: MiniState,
  conversation: Conversation,
  record: SessionRecord,
  extra: JsonObject,
): void {
  const { key, value } = record;
  const interrupt = asText(extra.interrupt_type);
  const isObservation = extra.returncode !== undefined || extra.raw_output !== undefined;
  if (isObservation || (state.plain && interrupt === undefined && state.waiting.length > 0)) {
    const id = state.waiting.shift();
    if (id !== undefined) emitResult(conversation, id, value.content, extra);
    else {
      const title = sourceTitle("shell_output", { exit: asNumber(extra.returncode) });
      conversation.marker("note", title, resultContent(value.content).output_text);
    }
    return;
  }
  state.waiting = [];
  if (interrupt !== "FormatError") {
    emitMessage(conversation, key, value, record);
    return;
  }
  emitRejected(state, conversation, key, extra);
  conversation.prompt(promptParts(value.content), { origin: "agent" });
}

/** Emits an answer that the agent rejected. It is not one of the messages. */
function emitRejected(state: MiniState, conversation: Conversation, key: string, extra: JsonObject): void {
  const response = asObject(extra.response);
  if (Array.isArray(response?.output)) {
    emitResponse(state, conversation, key, response, extra);
    return;
  }
  const message = asObject(asObject(asArray(response?.choices)[0])?.message);
  const text = asText(extra.model_response);
  if (message !== undefined) {
    const usage = { ...asObject(response?.usage), cost: extra.cost };
    const answer = { ...message, role: "assistant", usage };
    emitMessage(conversation, key, answer, { text: JSON.stringify(answer) });
  } else if (text !== undefined)
    emitMessage(conversation, key, { role: "assistant", content: text }, { text: "{}" });
}

/** Emits the end of the run. The output of the action that submitted is the submission. */
function emitExit(
  state: MiniState,
  conversation: Conversation,
  message: JsonObject,
  extra: JsonObject,
): void {
  const problem = asText(extra.exception_str);
  if (problem !== undefined) {
    conversation.error(problem, asText(extra.traceback));
    return;
  }
  const { output_text } = resultContent(message.content);
  if (extra.exit_status === "Submitted") {
    const id = state.waiting.shift() ?? state.conversation.calls.find(({ answered }) => !answered)?.name;
    if (id !== undefined) conversation.toolResult({ id, status: "success", output_text });
    conversation.fold("the end of the run");
  } else if (output_text !== "")
    conversation.marker("note", sourceTitle("run_ended", { status: asText(extra.exit_status) }), output_text);
  else conversation.fold("the end of the run");
}
