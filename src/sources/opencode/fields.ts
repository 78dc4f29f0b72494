import type { StopReason, Usage } from "../../model/messages/message.ts";
import type { FilePart, ImageUrlPart } from "../../model/messages/part.ts";
import { asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";

/** The usage of a step. opencode's `input` excludes cached tokens, and its `output` excludes reasoning. */
export function usageOf(tokens: unknown, cost: unknown): Usage | undefined {
  const figures = asObject(tokens);
  const [input, output] = [asNumber(figures?.input), asNumber(figures?.output)];
  if (figures === undefined || input === undefined || output === undefined) return undefined;
  const cache = asObject(figures.cache);
  const [read, write] = [asNumber(cache?.read), asNumber(cache?.write)];
  const reasoning = asNumber(figures.reasoning);
  const price = asNumber(cost);
  return {
    input,
    output: output + (reasoning ?? 0),
    ...(read !== undefined && read > 0 && { cache_read: read }),
    ...(write !== undefined && write > 0 && { cache_write: write }),
    ...(reasoning !== undefined && reasoning > 0 && { reasoning }),
    ...(price !== undefined && price > 0 && { cost: price }),
  };
}

/** A message's stop reason; `undefined`: not recorded. */
export function stopOf({ finish, error }: JsonObject): StopReason | undefined {
  const name = asText(asObject(error)?.name);
  if (name === "MessageAbortedError") return "aborted";
  if (name === "MessageOutputLengthError") return "length";
  if (name !== undefined) return "error";
  switch (finish) {
    case undefined:
      return undefined;
    case "tool-calls":
      return "tool_use";
    case "length":
      return "length";
    case "error":
      return "error";
    default:
      return "stop";
  }
}

/** Converts a `file` part by its URL. */
export function mediaOf(data: JsonObject): ImageUrlPart | FilePart | undefined {
  const url = asText(data.url);
  if (url === undefined) return undefined;
  const mime = asText(data.mime) ?? "application/octet-stream";
  if (mime.startsWith("image/") && /^(?:data|https?):/.test(url)) return { type: "image_url", url };
  const filename = asText(data.filename);
  return { type: "file", mime, url, ...(filename !== undefined && { filename }) };
}
