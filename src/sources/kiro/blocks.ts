import type { MediaPart, Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { base64Of } from "../conversation/bytes.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { payloadOf } from "../conversation/tool-payload.ts";

/** A block of any engine: `{kind: "text", data}`, or `{Text: data}` in the database. */
export interface Block {
  kind: string | undefined;
  data: unknown;
}

/** Reads a block. The kind of a variant without a tag is its name in lower case. */
export function blockOf(value: unknown): Block {
  const object = asObject(value) ?? {};
  if ("kind" in object) return { kind: asString(object.kind), data: object.data };
  const [[name, data] = []] = Object.entries(object);
  return { kind: name?.toLowerCase(), data };
}

/** An image: `{format, source}`, with bytes as a list of numbers. `undefined`: it has none. */
export function imageOf(value: unknown): MediaPart | undefined {
  const image = asObject(value);
  const { kind, data } = blockOf(image?.source);
  const bytes = kind === "bytes" ? base64Of(data) : undefined;
  if (bytes === undefined) return undefined;
  const format = (asText(image?.format) ?? "png").toLowerCase();
  return { type: "image_url", url: `data:image/${format === "jpg" ? "jpeg" : format};base64,${bytes}` };
}

/** Converts the blocks of a prompt. */
export function partsOf(content: unknown): Part[] {
  return asArray(content).flatMap((item): Part[] => {
    const { kind, data } = blockOf(item);
    if (kind === "text" && typeof data === "string")
      return isBlank(data) ? [] : [{ type: "text", text: data }];
    return [(kind === "image" ? imageOf(data) : undefined) ?? { type: "unknown", raw: item }];
  });
}

/** Tools whose names differ from those of other agents. */
const TOOLS: Readonly<Record<string, string>> = {
  execute_cmd: "bash",
  execute_pwsh: "bash",
  fs_write: "write",
  fs_read: "read",
  use_subagent: "subagent",
  delegate: "subagent",
};

/** Emits a call of a built-in tool, or of an MCP server (`server___tool`). */
export function emitCall(
  conversation: Conversation,
  id: string | undefined,
  name: unknown,
  input: unknown,
): void {
  const tool_name = asText(name) ?? "unknown";
  conversation.toolCall({
    id,
    tool_name,
    arguments_json: JSON.stringify(input ?? {}),
    payload: callPayload(tool_name, asObject(input) ?? {}),
  });
}

function callPayload(tool_name: string, input: JsonObject): UiExtra | undefined {
  const name = own(TOOLS, tool_name) ?? tool_name;
  // Its text is a part of the file, not all of it.
  if (name === "write" && input.command === "insert" && input.content !== undefined) return undefined;
  const [operation, ...others] = asArray(input.operations);
  if (name !== "read" || operation === undefined) return payloadOf(name, input);
  return others.length > 0 ? undefined : payloadOf(name, asObject(operation));
}
