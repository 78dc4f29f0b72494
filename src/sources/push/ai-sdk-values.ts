import type { StopReason, Usage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";

/** Stop reasons by the SDK's name. */
export const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool-calls", "tool_use"],
  ["error", "error"],
  ["content-filter", "error"],
]);

/** Fields of a tool event that are read into the call or its result. */
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

/** The other fields of a tool event: `toolMetadata`, `providerMetadata`, `title` and unknown ones. */
export function restOf(event: JsonObject): JsonObject | undefined {
  const rest = Object.entries(event).filter(([name]) => !READ.has(name));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** The signature of a thought and its format. */
export function signatureOf(event: JsonObject): { signature?: string; format?: string } {
  for (const [format, value] of Object.entries(asObject(event.providerMetadata) ?? {})) {
    const signature = asString(asObject(value)?.signature);
    if (signature !== undefined) return { signature, format };
  }
  return {};
}

/** Converts a part of an SDK message: text, a file, or unknown content. */
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

/**
 * Converts usage. `inputTokens` includes cache reads and writes. Version 6 has their counts in the details, version 5 in a
 * separate field.
 */
export function usageOf(value: unknown): Usage | undefined {
  const fields = asObject(value);
  const details = asObject(fields?.inputTokenDetails);
  const input = asNumber(fields?.inputTokens);
  const output = asNumber(fields?.outputTokens);
  if (input === undefined || output === undefined) return undefined;
  const read = asNumber(details?.cacheReadTokens) ?? asNumber(fields?.cachedInputTokens) ?? 0;
  const write = asNumber(details?.cacheWriteTokens) ?? 0;
  const of_output = asObject(fields?.outputTokenDetails);
  const reasoning = asNumber(of_output?.reasoningTokens) ?? asNumber(fields?.reasoningTokens) ?? 0;
  return {
    input: Math.max(0, input - read - write),
    output,
    ...(read > 0 ? { cache_read: read } : {}),
    ...(write > 0 ? { cache_write: write } : {}),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

/** Whether the streamed arguments equal those in the complete call. */
export function isSameJson(streamed: string, complete: string): boolean {
  try {
    return JSON.stringify(JSON.parse(streamed)) === complete;
  } catch {
    return streamed === complete;
  }
}
