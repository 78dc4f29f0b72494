import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { firstLine } from "../lines/first-line.ts";
import { imageOf, resultContent } from "./content.ts";
import type { Conversation } from "./conversation.ts";
import { inputOf, ofFailure, payloadOf } from "./tool-payload.ts";

export interface BlockOptions {
  /** The JSON text, as written, of the arguments of the call at this index. */
  argumentsAt?: (index: number) => string | undefined;
  /** Called for each call, with its id in frames. */
  onCall?: (call: { id: string; name: string; input: unknown }) => void;
}

/**
 * Emits model output in Anthropic API blocks, or similar ones: text, thinking, calls, media. Unknown blocks are shown as such.
 */
export function emitBlocks(
  conversation: Conversation,
  blocks: readonly JsonObject[],
  { argumentsAt, onCall }: BlockOptions = {},
): void {
  blocks.forEach((block, index) => {
    const signature = asText(block.signature) ?? asText(block.thought_signature);
    switch (block.type) {
      case "text":
      case "output_text":
        conversation.text(asString(block.text) ?? "");
        return;
      case "thinking":
      case "reasoning":
        conversation.thinking(asString(block.thinking) ?? asString(block.text) ?? "", {
          signature,
        });
        return;
      case "redacted_thinking":
      case "redacted-reasoning": {
        const data = asText(block.data);
        conversation.thinking("", { hidden: "redacted", signature: data });
        return;
      }
      case "tool_use":
      case "server_tool_use": {
        const name = asText(block.name);
        const { input } = block;
        const id = emitCall(conversation, { id: asText(block.id), name, input, json: argumentsAt?.(index) });
        onCall?.({ id, name: name ?? "", input });
        return;
      }
      case "tool-call": {
        const name = asText(block.toolName);
        const input = block.args ?? block.input;
        const id = emitCall(conversation, { id: asText(block.toolCallId), name, input });
        onCall?.({ id, name: name ?? "", input });
        return;
      }
      case "tool_result":
      case "tool-result":
        emitResult(conversation, block);
        return;
      default: {
        const media = imageOf(block) ?? resultContent([block]).parts[0];
        if (media === undefined || media.type === "unknown") {
          const type = asString(block.type);
          conversation.unknown(block, sourceTitle("block_of_type", { type: type && firstLine(type) }));
        } else conversation.media(media);
      }
    }
  });
}

export interface CallFacts {
  id: string | undefined;
  name: string | undefined;
  /** The arguments as an object, or as the JSON of one. */
  input: unknown;
  /** Their JSON text as written; absent: a string is that text itself. */
  json?: string | undefined;
}

/** Emits a call with its arguments. The payload of its result is built from them. */
export function emitCall(conversation: Conversation, { id, name, input, json }: CallFacts): string {
  const tool_name = name ?? "(unnamed tool)";
  const text = typeof input === "string" ? input : (json ?? JSON.stringify(input ?? {}));
  return conversation.toolCall({
    id,
    tool_name,
    arguments_json: text,
    payload: payloadOf(tool_name, inputOf(input)),
  });
}

export interface ResultOptions {
  /** `undefined`: derived from the block's `is_error`. */
  status?: "success" | "error" | "aborted";
  payload?: (call: UiExtra | undefined) => UiExtra | undefined;
}

/** Emits a `tool_result` block. */
export function emitResult(
  conversation: Conversation,
  block: JsonObject,
  { status, payload }: ResultOptions = {},
): void {
  const failed = block.is_error === true || block.isError === true;
  const ending = status ?? (failed ? "error" : "success");
  const id = asText(block.tool_use_id) ?? asText(block.toolCallId) ?? asText(block.tool_call_id);
  const tool_name = asText(block.name) ?? asText(block.toolName);
  conversation.toolResult({
    id,
    tool_name,
    status: ending,
    ...resultContent(block.content ?? block.result ?? asObject(block.output)?.value),
    payload: payload ?? ((call) => (ending === "success" ? call : ofFailure(call))),
  });
}
