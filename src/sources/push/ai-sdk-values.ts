import type { StopReason, Usage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";

/** Why a step ended, by the SDK's word for it. */
export const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool-calls", "tool_use"],
  ["error", "error"],
  ["content-filter", "error"],
]);

/** Fields of a tool's event that are read into the call or its result. */
const READ = new Set([
  "type",
  "toolCallId",
  "toolName",
  "input",
  "output",
  "errorText",
  "preliminary",
  "dynamic",
]);

/** All that a tool's event says beside what is read of it: `toolMetadata`, `providerMetadata`, `title` and what comes. */
export function restOf(event: JsonObject): JsonObject | undefined {
  const rest = Object.entries(event).filter(([name]) => !READ.has(name));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** The proof of a thought, and whose it is. */
export function signatureOf(event: JsonObject): { signature?: string; format?: string } {
  for (const [format, value] of Object.entries(asObject(event.providerMetadata) ?? {})) {
    const signature = asString(asObject(value)?.signature);
    if (signature !== undefined) return { signature, format };
  }
  return {};
}

/** A part of a message of the SDK: text, a file, or what is shown as it stands. */
export function partOf(item: JsonObject | undefined): Part {
  const text = item?.type === "text" ? asString(item.text) : undefined;
  const url = item?.type === "file" ? asString(item.url) : undefined;
  const mime = asString(item?.mediaType) ?? "";
  const filename = asText(item?.filename);
  if (text !== undefined) return { type: "text", text };
  if (url === undefined) return { type: "unknown", raw: item };
  if (mime.startsWith("image/")) return { type: "image_url", url };
  return { type: "file", mime, url, ...(filename === undefined ? {} : { filename }) };
}

/** `inputTokens` holds what a cache read and wrote. Since version 6 the details say how much, in version 5 a field beside it. */
export function usageOf(value: unknown): Usage | undefined {
  const told = asObject(value);
  const details = asObject(told?.inputTokenDetails);
  const input = asNumber(told?.inputTokens);
  const output = asNumber(told?.outputTokens);
  if (input === undefined || output === undefined) return undefined;
  const read = asNumber(details?.cacheReadTokens) ?? asNumber(told?.cachedInputTokens) ?? 0;
  const write = asNumber(details?.cacheWriteTokens) ?? 0;
  const of_output = asObject(told?.outputTokenDetails);
  const reasoning = asNumber(of_output?.reasoningTokens) ?? asNumber(told?.reasoningTokens) ?? 0;
  return {
    input: Math.max(0, input - read - write),
    output,
    ...(read > 0 ? { cache_read: read } : {}),
    ...(write > 0 ? { cache_write: write } : {}),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

/** Whether arguments as they were streamed are those that the source told. */
export function isSameJson(streamed: string, told: string): boolean {
  try {
    return JSON.stringify(JSON.parse(streamed)) === told;
  } catch {
    return streamed === told;
  }
}
