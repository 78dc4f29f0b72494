import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { titleOf, withoutReminders } from "../../model/parts/content.ts";
import { RawJson, type WrittenJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { type CallFacts, emitBlocks, emitCall } from "../conversation/blocks.ts";
import { blocksIn, promptParts, resultContent, textIn } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { unwrap } from "../conversation/wrappers.ts";
import { emitResponseItem, isResponseItem } from "./response-items.ts";
import { resultsIn, untagged } from "./tagged-text.ts";
import { usageOf } from "./usage.ts";

/** Roles by the names that data sets use. */
const ROLES: Readonly<Record<string, "system" | "user" | "assistant" | "call" | "tool">> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  gpt: "assistant",
  model: "assistant",
  chatgpt: "assistant",
  bing: "assistant",
  ai: "assistant",
  bot: "assistant",
  function_call: "call",
  tool_call: "call",
  tool: "tool",
  ipython: "tool",
  function: "tool",
  observation: "tool",
  tool_response: "tool",
  tool_result: "tool",
  function_response: "tool",
};

/** Whether a value can be in a list of messages: one, or an item of the Responses API. */
export const isEntry = (value: unknown): boolean => isMessage(value) || isResponseItem(value);

/** Whether a value is a message: `{role, content}` or ShareGPT's `{from, value}`. */
export function isMessage(value: unknown): boolean {
  const message = asObject(value);
  const role = asText(message?.role) ?? asText(message?.from);
  if (message === undefined || role === undefined || own(ROLES, role) === undefined) return false;
  return "content" in message || "value" in message || "tool_calls" in message;
}

/**
 * Emits one message of the Chat Completions API or a similar one. `key` names the step of an answer; `written` has the
 * message's JSON as written.
 */
export function emitMessage(
  conversation: Conversation,
  key: string,
  message: JsonObject,
  written: WrittenJson,
): void {
  const role = own(ROLES, asText(message.role) ?? asText(message.from));
  const content = message.content ?? message.value;
  switch (role) {
    case "system": {
      const parts = promptParts(content);
      if (parts.length > 0) conversation.context(sourceTitle("system_prompt"), parts);
      return;
    }
    case "user": {
      if (emitTaggedResults(conversation, message, content)) return;
      const injected: string[] = [];
      const parts = promptParts(content, (text) => {
        const unwrapped = unwrap(text, ["system-reminder"]);
        injected.push(...unwrapped.injected);
        return unwrapped.own;
      });
      if (injected.length > 0) {
        if (parts.length > 0) conversation.beginTurn();
        conversation.context(
          sourceTitle("reminder_from_the_agent"),
          injected.map((reminder) => ({ type: "text" as const, text: reminder })),
        );
      }
      if (parts.length > 0) conversation.prompt(parts);
      return;
    }
    case "call":
      conversation.step(key);
      for (const call of callsIn(content)) emitCall(conversation, call);
      conversation.endStep();
      return;
    case "assistant":
      emitAnswer(conversation, key, message, content, written);
      return;
    case "tool": {
      if (emitTaggedResults(conversation, message, content)) return;
      const own_id = asText(message.tool_call_id) ?? asText(message.call_id) ?? asText(message.id);
      // Without ids, results are in the order of their calls.
      const id = own_id ?? (conversation.awaits("") ? "" : undefined);
      const tool_name = asText(message.name);
      conversation.toolResult({
        id,
        tool_name,
        status: message.is_error === true ? "error" : "success",
        ...resultContent(content),
      });
      return;
    }
    case undefined:
      if (isResponseItem(message)) {
        emitResponseItem(conversation, message);
        return;
      }
      conversation.unknown(
        message,
        sourceTitle("message_of_role", { role: asString(message.role) ?? asString(message.from) }),
      );
      return;
    default:
      role satisfies never;
  }
}

/** Emits the results that are tags in a text. Returns whether it consists of them. */
function emitTaggedResults(conversation: Conversation, message: JsonObject, content: unknown): boolean {
  const results = resultsIn(content);
  for (const { id, name, content: result } of results)
    conversation.toolResult({
      id: id ?? asText(message.tool_call_id) ?? (conversation.awaits("") ? "" : undefined),
      tool_name: name ?? asText(message.name),
      status: message.is_error === true ? "error" : "success",
      ...resultContent(result),
    });
  return results.length > 0;
}

/** The calls in a message of their own. A text that is not a call's JSON is kept as the arguments. */
function callsIn(content: unknown): CallFacts[] {
  const value = parsed(content);
  const calls = (Array.isArray(value) ? value : [value]).map(asObject);
  if (calls.length === 0 || calls.some((call) => call === undefined))
    return [{ id: undefined, name: undefined, input: content }];
  return calls.map((call) => ({
    id: asText(call?.id),
    name: asText(call?.name),
    input: call?.arguments ?? call?.parameters ?? {},
  }));
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** Emits reasoning, which providers return in several fields at once. Signed blocks come first, because they are complete. */
function emitReasoning(conversation: Conversation, message: JsonObject): void {
  const signed = asArray(message.thinking_blocks).map((block) => asObject(block) ?? {});
  if (signed.length > 0) {
    emitBlocks(conversation, signed);
    return;
  }
  const text =
    asText(message.reasoning_content) ?? asText(message.reasoning) ?? asText(message.thinking) ?? "";
  const details = asArray(message.reasoning_details).flatMap((item) => {
    const detail = asObject(item);
    return asText(detail?.text) ?? asText(detail?.summary) ?? [];
  });
  conversation.thinking(text === "" ? details.join("\n\n") : text);
}

function emitAnswer(
  conversation: Conversation,
  key: string,
  message: JsonObject,
  content: unknown,
  written: WrittenJson,
): void {
  const raw = new RawJson(written);
  const model = asText(message.model);
  conversation.step(key, model === undefined ? {} : { model });
  emitReasoning(conversation, message);
  const blocks = content === null || content === undefined ? [] : blocksIn(content);
  const own_blocks = blocks.flatMap(untagged);
  emitBlocks(conversation, own_blocks, {
    argumentsAt: (index) =>
      own_blocks.length === blocks.length ? raw.at(["content", index, "input"]) : undefined,
  });
  if (asText(message.refusal) !== undefined) conversation.text(asText(message.refusal) ?? "");
  asArray(parsed(message.tool_calls)).forEach((item, index) => {
    const call = asObject(item) ?? {};
    const inner = asObject(call.function) ?? call;
    const input = inner.arguments ?? inner.input;
    const path = asObject(call.function) === undefined ? [] : ["function"];
    emitCall(conversation, {
      id: asText(call.id) ?? asText(call.tool_call_id),
      name: asText(inner.name),
      input,
      json:
        typeof input === "string"
          ? undefined
          : raw.of(input ?? {}, ["tool_calls", index, ...path, "arguments"]),
    });
  });
  const legacy = asObject(message.function_call);
  if (legacy !== undefined)
    emitCall(conversation, { id: undefined, name: asText(legacy.name), input: legacy.arguments ?? {} });
  conversation.endStep({ usage: usageOf(message.usage, asObject(message.usage)?.cost) });
}

/** A title from the start of a conversation, if it has no other name. */
export function conversationTitle(messages: readonly unknown[]): string | undefined {
  for (const item of messages) {
    const message = asObject(item);
    if (own(ROLES, asText(message?.role) ?? asText(message?.from)) !== "user") continue;
    const text = textIn(message?.content ?? message?.value);
    const title = titleOf(withoutReminders(text)) ?? titleOf(text);
    if (title !== undefined) return title;
  }
  return undefined;
}
