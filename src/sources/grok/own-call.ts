import { asText } from "../../model/narrow.ts";
import { type CallFacts, emitCall } from "../conversation/blocks.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { inputOf } from "../conversation/tool-payload.ts";

/** Emits a call. `use_tool` calls a tool of an MCP server by the name `server__tool`. */
export function emitOwnCall(conversation: Conversation, call: CallFacts): string {
  const [, server, tool] = /^(.+?)__(.+)$/.exec(asText(inputOf(call.input)?.tool_name) ?? "") ?? [];
  if (call.name !== "use_tool" || server === undefined || tool === undefined)
    return emitCall(conversation, call);
  return conversation.toolCall({
    id: call.id,
    tool_name: call.name,
    arguments_json: typeof call.input === "string" ? call.input : JSON.stringify(call.input ?? {}),
    payload: { type: "mcp", server, tool },
  });
}
