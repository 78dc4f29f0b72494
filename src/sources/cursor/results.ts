import { asNumber, asObject, asString, type JsonObject } from "../../model/narrow.ts";
import { emitResult } from "../conversation/blocks.ts";
import { blocksIn, imageOf } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";

/** Facts that Cursor keeps beside a message of a chat, for itself. */
export const ownFacts = (value: JsonObject): JsonObject | undefined =>
  asObject(asObject(value.providerOptions)?.cursor);

const EXIT = /^Exit code: (-?\d+)(?:\n|$)/;

/** Emits a message of role `tool`: the results, with the failure and duration that Cursor keeps beside them. */
export function emitResults(conversation: Conversation, value: JsonObject, content: unknown): void {
  const details = asObject(ownFacts(value)?.highLevelToolCallResult);
  const output = asObject(details?.output);
  const duration_ms = asNumber(asObject(output?.success)?.executionTime);
  for (const block of blocksIn(content)) {
    const hasFailed = [block.isError, block.is_error, details?.isError, output?.isError].includes(true);
    const [, exit] = EXIT.exec(asString(block.result) ?? "") ?? [];
    emitResult(conversation, withImages(block), {
      status: hasFailed ? "error" : "success",
      payload: (call) =>
        withExit(hasFailed ? ofFailure(call) : call, {
          exit_code: exit === undefined ? undefined : Number(exit),
          duration_ms,
        }),
    });
  }
}

/** Adds the images of a result, which are only in the blocks that Cursor sends to the model. */
function withImages(block: JsonObject): JsonObject {
  const text = asString(block.result);
  const images = blocksIn(block.experimental_content).filter((each) => imageOf(each) !== undefined);
  if (text === undefined || images.length === 0 || block.content !== undefined) return block;
  return { ...block, content: [{ type: "text", text }, ...images] };
}
