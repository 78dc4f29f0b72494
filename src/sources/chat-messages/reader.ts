import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { titleOf, withoutReminders } from "../../model/parts/content.ts";
import { RawJson, type WrittenJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { emitBlocks, emitCall } from "../conversation/blocks.ts";
import { blocksIn, promptParts, resultContent, textIn } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { unwrap } from "../conversation/wrappers.ts";
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
  function_call: "call",
  tool: "tool",
  function: "tool",
  observation: "tool",
  tool_response: "tool",
};

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
    case "call": {
      const call = asObject(parsed(content)) ?? {};
      conversation.step(key);
      emitCall(conversation, { id: undefined, name: asText(call.name), input: call.arguments ?? {} });
      conversation.endStep();
      return;
    }
    case "assistant":
      emitAnswer(conversation, key, message, content, written);
      return;
    case "tool": {
      const id = asText(message.tool_call_id) ?? asText(message.id);
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
      conversation.unknown(
        message,
        sourceTitle("message_of_role", { role: asString(message.role) ?? asString(message.from) }),
      );
      return;
    default:
      role satisfies never;
  }
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
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
  conversation.thinking(asString(message.reasoning_content) ?? asString(message.reasoning) ?? "");
  emitBlocks(conversation, content === null || content === undefined ? [] : blocksIn(content), {
    argumentsAt: (index) => raw.at(["content", index, "input"]),
  });
  asArray(message.tool_calls).forEach((item, index) => {
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
