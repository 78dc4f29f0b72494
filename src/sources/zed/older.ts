import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { readCall } from "./answer.ts";
import type { ZedState } from "./state.ts";

/** Reads a message of a version until 0.2.0: `{role, segments, tool_uses, context}`, or `text` in place of `segments`. */
export function readOlder(
  state: ZedState,
  conversation: Conversation,
  key: string,
  message: JsonObject,
): void {
  const segments = asArray(message.segments ?? [{ type: "text", text: message.text }]);
  const text = segments.map((segment) => asString(asObject(segment)?.text) ?? "").join("\n");
  switch (message.role) {
    case "user": {
      // Text that Zed sent to continue by itself is hidden there.
      const context = asText(message.context) ?? (message.is_hidden === true ? asText(text) : undefined);
      if (context !== undefined) {
        conversation.beginTurn();
        conversation.context(sourceTitle("context_from", { agent: "Zed" }), [
          { type: "text", text: context },
        ]);
      }
      if (text.trim() !== "" && message.is_hidden !== true) conversation.prompt([{ type: "text", text }]);
      return;
    }
    case "system":
      conversation.context(sourceTitle("system_prompt"), [{ type: "text", text }]);
      return;
    case "assistant":
      conversation.step(key);
      for (const segment of segments) readSegment(conversation, segment);
      for (const call of asArray(message.tool_uses)) readCall(state, conversation, asObject(call) ?? {});
      return;
    default:
      conversation.unknown(message, sourceTitle("message_of_role", { role: asString(message.role) }));
  }
}

function readSegment(conversation: Conversation, item: unknown): void {
  const segment = asObject(item);
  switch (segment?.type) {
    case "text":
      conversation.text(asString(segment.text) ?? "");
      return;
    case "thinking":
      conversation.thinking(asString(segment.text) ?? "", { signature: asText(segment.signature) });
      return;
    case "RedactedThinking":
      conversation.thinking("", { hidden: "redacted", signature: asText(segment.data) });
      return;
    default:
      conversation.unknown(item, sourceTitle("unknown_content"));
  }
}
