import type { Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { blocksIn, promptParts, resultContent } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { inputOf, payloadOf } from "../conversation/tool-payload.ts";
import { type MessageOptions, readMessage, readShell } from "../pi/messages.ts";
import { readInjected } from "./entries.ts";
import { calledTool, outcomeOf } from "./results.ts";
import { nameTasks } from "./runs.ts";
import type { OhMyPiState } from "./state.ts";

/** Reads a message that pi does not write or writes differently. */
export function readOwnMessage(
  state: OhMyPiState,
  conversation: Conversation,
  record: SessionRecord,
  options: MessageOptions,
): RecordResult | undefined {
  const message = asObject(record.value.message) ?? {};
  switch (message.role) {
    case "user": {
      const isByAgent = message.synthetic === true || message.attribution === "agent";
      if (!isByAgent) return undefined;
      delete state.failed;
      const parts = promptParts(message.content);
      if (parts.length > 0) conversation.prompt(parts, { origin: "agent", queued: conversation.awaitsModel });
      return conversation.result({ kind: "hidden", rule: "empty message" });
    }
    case "developer": {
      const parts = promptParts(message.content);
      if (parts.length > 0)
        conversation.context(sourceTitle("context_from", { agent: "oh-my-pi", reason: undefined }), parts);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    }
    case "assistant":
      return readMessage(state, conversation, record, {
        ...options,
        readOwnBlock: (block) => readBlock(conversation, block),
      });
    case "toolResult":
      nameTasks(state, message);
      return readMessage(state, conversation, record, { ...options, outcomeOf, calledTool });
    case "pythonExecution":
      readShell(conversation, message, { command: asString(message.code) ?? "", sign: "$" });
      return conversation.result();
    case "custom":
    case "hookMessage":
      readInjected(conversation, message);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    case "fileMention": {
      const parts = asArray(message.files).flatMap((file) => fileParts(asObject(file) ?? {}));
      if (parts.length > 0) conversation.context(sourceTitle("files_mentioned"), parts);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    }
    default:
      return undefined;
  }
}

/** A file that a prompt mentions. */
function fileParts({ path, content, image, skippedReason }: JsonObject): Part[] {
  const why = asText(skippedReason);
  const lines = [`${asText(path) ?? "?"}${why === undefined ? "" : ` (${why})`}`, asText(content)];
  const text = lines.filter((line) => line !== undefined).join("\n");
  return [{ type: "text", text }, ...(asObject(image) === undefined ? [] : promptParts(image))];
}

/** Reads a block of an answer that pi does not write. Returns whether it is one. */
function readBlock(conversation: Conversation, block: JsonObject): boolean {
  switch (block.type) {
    case "redactedThinking":
      conversation.thinking("", { hidden: "redacted", signature: asText(block.data) });
      return true;
    case "fallback": {
      const before = asText(asObject(block.from)?.model);
      const now = asText(asObject(block.to)?.model);
      conversation.marker("model_switch", sourceTitle("model_changed", { before, now }));
      return true;
    }
    case "anthropicServerTool":
      return readServerTool(conversation, asObject(block.block) ?? {});
    default:
      return false;
  }
}

/** Reads a call that the provider ran, or its result, in Anthropic's form. */
function readServerTool(conversation: Conversation, block: JsonObject): boolean {
  if (block.type === "server_tool_use") {
    const tool_name = asText(block.name) ?? "(unnamed tool)";
    conversation.toolCall({
      id: asText(block.id),
      tool_name,
      arguments_json: JSON.stringify(block.input ?? {}),
      payload: payloadOf(tool_name, inputOf(block.input)),
      by_server: true,
    });
    return true;
  }
  const id = asText(block.tool_use_id);
  if (id === undefined) return false;
  const pages = blocksIn(block.content).flatMap((page) => {
    const url = asText(page.url);
    return url === undefined ? [] : [{ title: asText(page.title) ?? url, url }];
  });
  const isFailed = asText(asObject(block.content)?.error_code) !== undefined;
  conversation.toolResult({
    id,
    status: isFailed ? "error" : "success",
    output_text:
      pages.length > 0
        ? pages.map(({ title, url }) => `${title}\n${url}`).join("\n")
        : resultContent(block.content).output_text || JSON.stringify(block.content ?? null),
    payload: (call) => (call?.type === "web_search" ? { ...call, results: pages } : call),
  });
  return true;
}
