import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { resultContent } from "../conversation/content.ts";
import type { Conversation, ConversationState } from "../conversation/conversation.ts";
import { ofFailure, payloadOf } from "../conversation/tool-payload.ts";

/** Tools whose cards show calls of these kinds. */
const TOOLS = new Map([
  ["execute", "bash"],
  ["edit", "edit"],
  ["delete", "delete"],
  ["read", "read"],
]);

/**
 * Reads a state of a tool call that an agent made which OpenHands runs over the Agent Client Protocol. Each update of a call is an
 * event with all of its fields. The arguments may be missing from the first ones.
 */
export function readAcpCall(state: ConversationState, conversation: Conversation, value: JsonObject): void {
  const id = asText(value.tool_call_id);
  const tool_name = asText(value.title) ?? asText(value.tool_kind) ?? "tool";
  const input = asObject(value.raw_input);
  const ended = value.status === "completed" || value.status === "failed" || value.is_error === true;
  const isKnown = state.calls.some((call) => call.name === id);
  if (!isKnown && input === undefined && !ended) {
    conversation.fold("the call that it announces");
    return;
  }
  if (!isKnown)
    conversation.toolCall({
      id,
      tool_name,
      arguments_json: JSON.stringify(value.raw_input ?? {}),
      payload: payloadOf(TOOLS.get(asText(value.tool_kind) ?? "") ?? tool_name, input),
    });
  if (!ended) {
    conversation.fold("its call");
    return;
  }
  const failed = value.status === "failed" || value.is_error === true;
  const shown = asArray(value.content).map((item) => asObject(asObject(item)?.content) ?? item);
  const written = resultContent(shown.filter((block) => asText(asObject(block)?.type) !== "diff"));
  const raw = resultContent(value.raw_output);
  conversation.toolResult({
    id,
    tool_name,
    status: failed ? "error" : "success",
    ...(written.output_text === "" && written.parts.length === 0 ? raw : written),
    payload: (call) => (failed ? ofFailure(call) : call),
  });
}
