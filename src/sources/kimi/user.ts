import { asArray, asObject, asString, asText } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { Disposition, SessionRecord } from "../contract.ts";
import { emitBlocks, emitCall } from "../conversation/blocks.ts";
import { blocksIn, promptParts, resultContent, textIn } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { promptKey } from "../conversation/runs.ts";
import { CONTEXT_TITLE, emitPrompt, type KimiState } from "./state.ts";

/** Titles of context messages by the kind of their origin. */
const CONTEXT: Readonly<Record<string, string>> = {
  injection: CONTEXT_TITLE,
  compaction_summary: "Summary of the earlier conversation",
  hook_result: "Hook output",
  retry: "Retry",
};

/** Reads `context.append_message`, a message of the context, which usually repeats the preceding prompt record. */
export function readUserMessage(
  state: KimiState,
  conversation: Conversation,
  record: SessionRecord,
): Disposition | undefined {
  const message = asObject(record.value.message) ?? {};
  const kind = asText(asObject(message.origin)?.kind) ?? "user";
  switch (message.role) {
    case "user": {
      const asked = promptKey(textIn(message.content));
      if (state.asked !== undefined && state.asked === asked) {
        delete state.asked;
        return { kind: "folded", into: "the prompt before it" };
      }
      const parts = promptParts(message.content);
      if (parts.length === 0) return { kind: "hidden", rule: "empty message" };
      const title = own(CONTEXT, kind);
      if (title !== undefined) conversation.context(title, parts);
      else emitPrompt(state, conversation, parts, kind, conversation.hasRunningTurn && kind !== "user");
      return undefined;
    }
    case "assistant": {
      conversation.step(record.key, state.model === undefined ? {} : { model: state.model });
      emitBlocks(conversation, blocksIn(message.content));
      const raw = new RawJson(record);
      asArray(message.toolCalls).forEach((item, index) => {
        const call = asObject(item) ?? {};
        const input = call.arguments ?? call.args;
        const json =
          typeof input === "string"
            ? undefined
            : raw.of(input ?? {}, ["message", "toolCalls", index, "arguments"]);
        emitCall(conversation, { id: asText(call.id), name: asText(call.name), input, json });
      });
      conversation.endStep();
      return { kind: "hidden", rule: "empty message" };
    }
    case "tool": {
      const id = asText(message.toolCallId);
      conversation.toolResult({
        id,
        status: message.isError === true ? "error" : "success",
        ...resultContent(message.content),
      });
      return undefined;
    }
    default:
      conversation.unknown(record.value, `Message of ${asString(message.role) ?? "an unknown role"}`);
      return undefined;
  }
}
