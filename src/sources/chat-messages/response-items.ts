import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { emitBlocks, emitCall } from "../conversation/blocks.ts";
import { blocksIn, resultContent } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";

const RESULT = /_call_output$/;
const CALL = /_call$/;

/** Whether a value is an item of the Responses API other than a message, which has a role. */
export function isResponseItem(value: unknown): boolean {
  const item = asObject(value);
  const type = asText(item?.type);
  return (
    type !== undefined &&
    item?.role === undefined &&
    (RESULT.test(type) || CALL.test(type) || (type === "reasoning" && Array.isArray(item?.summary)))
  );
}

/** Emits an item of the Responses API: a message of the model, its reasoning, a call or a result. */
export function emitResponseItem(conversation: Conversation, item: JsonObject): void {
  const type = asText(item.type) ?? "";
  if (type === "message") {
    emitBlocks(conversation, blocksIn(item.content));
  } else if (type === "reasoning") {
    emitReasoning(conversation, item);
  } else if (RESULT.test(type)) {
    conversation.endStep();
    conversation.toolResult({ id: asText(item.call_id), status: "success", ...resultContent(item.output) });
  } else if (CALL.test(type)) {
    emitItemCall(conversation, item, type);
  } else conversation.unknown(item, sourceTitle("item_of_type", { type: asString(item.type) }));
}

function emitReasoning(conversation: Conversation, item: JsonObject): void {
  const textsOf = (value: unknown): string[] =>
    asArray(value).flatMap((part) => asText(asObject(part)?.text) ?? []);
  const written = textsOf(item.content);
  const text = (written.length > 0 ? written : textsOf(item.summary)).join("\n\n");
  const signature = asText(item.encrypted_content);
  conversation.thinking(text, {
    signature,
    ...(text === "" && signature !== undefined && { hidden: "encrypted" as const }),
  });
}

/** A call of a function, or of a tool of the provider, which has its arguments in a member of its own and no result item. */
function emitItemCall(conversation: Conversation, item: JsonObject, type: string): void {
  const call_id = asText(item.call_id);
  if (type === "function_call" || type === "custom_tool_call") {
    const input = item.arguments ?? item.input;
    emitCall(conversation, { id: call_id ?? asText(item.id), name: asText(item.name), input });
    return;
  }
  const { type: _, id, call_id: __, status: ___, output, results, outputs, ...facts } = item;
  const arguments_json = asText(item.arguments) ?? JSON.stringify(item.action ?? facts);
  const own = call_id ?? asText(id);
  const tool_name = asText(item.name) ?? type.replace(CALL, "");
  conversation.toolCall({ id: own, tool_name, arguments_json, by_server: call_id === undefined });
  const result = output ?? results ?? outputs;
  const error = asText(item.error);
  if (call_id === undefined && (result !== undefined || error !== undefined || item.status === "completed"))
    conversation.toolResult({
      id: own,
      tool_name,
      status: error === undefined ? "success" : "error",
      ...(error === undefined ? resultContent(result ?? "") : { output_text: error }),
    });
}
