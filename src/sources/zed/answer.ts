import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { noteCall } from "../conversation/runs.ts";
import { inputOf, payloadOf } from "../conversation/tool-payload.ts";
import type { ZedState } from "./state.ts";

/** Reads a value of the enum `AgentMessageContent`. */
export function readContent(state: ZedState, conversation: Conversation, item: unknown): void {
  const value = asObject(item);
  const thought = asObject(value?.Thinking);
  const call = asObject(value?.ToolUse);
  if (typeof value?.Text === "string") conversation.text(value.Text);
  else if (thought !== undefined)
    conversation.thinking(asString(thought.text) ?? "", { signature: asText(thought.signature) });
  else if (value !== undefined && "RedactedThinking" in value)
    conversation.thinking("", { hidden: "redacted", signature: asText(value.RedactedThinking) });
  else if (call !== undefined) readCall(state, conversation, call);
  else conversation.unknown(item, sourceTitle("unknown_content"));
}

/** Reads a call. `raw_input` is the text that the model wrote. */
export function readCall(state: ZedState, conversation: Conversation, call: JsonObject): void {
  const tool_name = asText(call.name) ?? "unknown";
  const given = argumentsIn(call.input);
  const isText = typeof given === "string";
  const input = isText ? { input: given } : (inputOf(given) ?? {});
  const arguments_json = (isText ? undefined : asText(call.raw_input)) ?? JSON.stringify(input);
  const id = conversation.toolCall({
    id: asText(call.id),
    tool_name,
    arguments_json,
    payload: payloadOf(tool_name, withNames(input)),
  });
  noteCall(state, { id, name: tool_name, input }, state.started);
}

/** The arguments of a call. Zed of 2026 writes their kind with them: `{type, value}`, where a tool that takes text has a text. */
function argumentsIn(input: unknown): unknown {
  const { type, value, ...others } = asObject(input) ?? {};
  const isWrapped = value !== undefined && Object.keys(others).length === 0;
  return isWrapped && (type === "json" || type === "text") ? value : input;
}

/** Adds the names that other agents use for arguments that Zed names differently. */
function withNames(input: JsonObject): JsonObject {
  const cwd = asText(input.cd);
  const description = asText(input.label);
  return { ...input, ...(cwd !== undefined && { cwd }), ...(description !== undefined && { description }) };
}
