import type { Usage } from "../../model/messages/message.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText } from "../../model/narrow.ts";
import { countUsage } from "../../model/usage.ts";
import { own } from "../conversation/own.ts";

/** Default MIME types of media without one. */
const MIMES: Readonly<Record<string, string>> = {
  audio: "audio/*",
  video: "video/*",
  document: "application/octet-stream",
};

/** Reads the content of a message or result: text, or parts of text and media. */
export function contentOf(content: unknown): { text: string; parts: MediaPart[] } {
  if (typeof content === "string") return { text: content, parts: [] };
  if (content === undefined || content === null) return { text: "", parts: [] };
  if (!Array.isArray(content)) return { text: JSON.stringify(content, null, 2), parts: [] };
  const texts: string[] = [];
  const parts: MediaPart[] = [];
  for (const item of content) {
    const part = asObject(item);
    const text = part?.type === "text" ? asString(part.text) : undefined;
    const source = asObject(part?.source);
    const value = asString(source?.value) ?? asString(part?.url) ?? asString(part?.data);
    const mime = asText(source?.mimeType) ?? asText(part?.mimeType) ?? own(MIMES, asString(part?.type)) ?? "";
    if (text !== undefined) texts.push(text);
    // A provider's file is named by an id, which is not a URL.
    else if (value === undefined || source?.type === "file") parts.push({ type: "unknown", raw: item });
    else {
      const isData = source?.type === "data" || (source === undefined && part?.data !== undefined);
      const url = isData ? `data:${mime};base64,${value}` : value;
      const filename = asText(part?.filename);
      if (part?.type === "image" || mime.startsWith("image/")) parts.push({ type: "image_url", url });
      else parts.push({ type: "file", mime, url, ...(filename === undefined ? {} : { filename }) });
    }
  }
  return { text: texts.join("\n"), parts };
}

/** The total usage of a run over all its models. */
export function usageOf(value: unknown): Usage | undefined {
  let sum: Usage | undefined;
  for (const item of asArray(value).map(asObject)) {
    const input = asNumber(item?.inputTokens) ?? 0;
    const output = asNumber(item?.outputTokens) ?? 0;
    const read = asNumber(item?.cachedInputTokens) ?? 0;
    const write = asNumber(item?.cacheWriteInputTokens) ?? 0;
    const reasoning = asNumber(item?.reasoningTokens) ?? 0;
    sum = countUsage(sum, undefined, {
      input: Math.max(0, input - read - write),
      output,
      ...(read > 0 ? { cache_read: read } : {}),
      ...(write > 0 ? { cache_write: write } : {}),
      ...(reasoning > 0 ? { reasoning } : {}),
    });
  }
  return sum;
}
