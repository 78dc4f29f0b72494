import type { MediaPart, Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import { resultContent as blockContent, blocksOf } from "../claude-code/content.ts";
import { parsedTime } from "../parsed-time.ts";

/**
 * An image or file with data, a URL or a path, in the shapes of OpenAI, the AI SDK, Gemini, Inspect or Harbor, or an image in
 * oh-my-pi's folder `blobs`; `undefined`: it is neither.
 */
export function imageOf(block: JsonObject): MediaPart | undefined {
  const inline = asObject(block.inlineData) ?? asObject(block.inline_data);
  if (inline !== undefined)
    return dataOf(asString(inline.mimeType) ?? asString(inline.mime_type), inline.data);
  const type = asString(block.type);
  if (type === "image_url" || type === "input_image" || type === "image") {
    const address =
      asText(block.url) ??
      asText(block.image_url) ??
      asText(asObject(block.image_url)?.url) ??
      asText(asObject(block.imageUrl)?.url);
    if (address !== undefined) return { type: "image_url", url: address };
    const mime = asString(block.mimeType) ?? asString(block.mediaType) ?? asString(block.mime_type);
    const data = asText(block.data) ?? asText(block.image);
    const [, blob] = /^blob:sha256:([0-9a-f]{64})$/.exec(data ?? "") ?? [];
    if (blob !== undefined)
      return {
        type: "image_file",
        file_path: `blobs/${blob}`,
        sha256: blob,
        ...(mime !== undefined && { mime_type: mime }),
      };
    if (data !== undefined)
      return URL_START.test(data) ? { type: "image_url", url: data } : dataOf(mime, data);
    return imageAt(asObject(block.source));
  }
  return fileOf(block, type);
}

const URL_START = /^(?:data|https?):/;

/** An image by its path or URL, as in Harbor's trajectories. */
function imageAt(source: JsonObject | undefined): MediaPart | undefined {
  const path = asText(source?.path);
  if (path === undefined) return undefined;
  if (URL_START.test(path)) return { type: "image_url", url: path };
  const mime_type = asText(source?.media_type);
  return { type: "image_file", file_path: path, ...(mime_type !== undefined && { mime_type }) };
}

/** A sound, video or document by its data or URL. */
function fileOf(block: JsonObject, type: string | undefined): MediaPart | undefined {
  const sound = asObject(block.input_audio);
  if (sound !== undefined) return dataOf(`audio/${asText(sound.format) ?? "wav"}`, sound.data);
  const file = asObject(block.file);
  const filename = asText(file?.filename) ?? asText(block.filename);
  const address =
    asText(file?.file_data) ??
    asText(asObject(type === undefined ? undefined : block[type])?.url) ??
    asText(type === "audio" || type === "video" || type === "document" ? block[type] : undefined) ??
    asText(type === "audio" ? asObject(block.source)?.path : undefined);
  if (address === undefined || !URL_START.test(address)) return undefined;
  const kind = type === "audio_url" ? "audio/*" : type === "video_url" ? "video/*" : undefined;
  const mime =
    /^data:([^;,]+)/.exec(address)?.[1] ??
    asText(block.mime_type) ??
    asText(asObject(block.source)?.media_type) ??
    (asText(block.format) === undefined ? kind : `${type}/${asText(block.format)}`) ??
    "application/octet-stream";
  return { type: "file", mime, url: address, ...(filename !== undefined && { filename }) };
}

function dataOf(mime: string | undefined, data: unknown): MediaPart | undefined {
  const text = asText(data);
  if (text === undefined) return undefined;
  const url = `data:${mime ?? "image/png"};base64,${text}`;
  return mime !== undefined && !mime.startsWith("image/")
    ? { type: "file", mime, url }
    : { type: "image_url", url };
}

/** The blocks of a message's `content`: a string, a list of blocks or strings, or one block. */
export function blocksIn(content: unknown): JsonObject[] {
  return blocksOf(asObject(content) === undefined ? content : [content]);
}

/** Converts a person's blocks to parts of a prompt. `textOf` removes the agent's wrappers from a text. */
export function promptParts(content: unknown, textOf: (text: string) => string = (text) => text): Part[] {
  const parts: Part[] = [];
  for (const block of blocksIn(content)) {
    const text = asString(block.text);
    const isText = block.type === "text" || block.type === "input_text" || block.type === undefined;
    if (text === undefined || !isText) {
      parts.push(imageOf(block) ?? blockContent([block]).parts[0] ?? { type: "unknown", raw: block });
      continue;
    }
    const own = textOf(text);
    if (!isBlank(own)) parts.push({ type: "text", text: own });
  }
  return parts;
}

/** Splits a result's content into its text and other parts: images, files, unknown blocks. */
export function resultContent(content: unknown): { output_text: string; parts: MediaPart[] } {
  if (content === undefined || content === null) return { output_text: "", parts: [] };
  if (typeof content === "string") return { output_text: content, parts: [] };
  if (!Array.isArray(content) && asText(asObject(content)?.type) === undefined)
    return { output_text: JSON.stringify(content, undefined, 2), parts: [] };
  const texts: string[] = [];
  const parts: MediaPart[] = [];
  for (const block of blocksIn(content)) {
    const image = imageOf(block);
    if (image !== undefined) {
      parts.push(image);
      continue;
    }
    if (block.type === "text" && typeof block.text === "string") {
      texts.push(block.text);
      continue;
    }
    const { output_text, parts: others } = blockContent([block]);
    if (block.type === "text" || block.type === "tool_reference") texts.push(output_text);
    else if (asText(block.text) !== undefined) texts.push(asText(block.text) ?? "");
    else parts.push(...others);
  }
  return { output_text: texts.join("\n"), parts };
}

/** The text of the text blocks, joined by newlines. */
export function textIn(content: unknown): string {
  return asArray(blocksIn(content))
    .flatMap((block) => asString(asObject(block)?.text) ?? [])
    .join("\n");
}

/** Converts an ISO time, or a number of seconds or milliseconds, to milliseconds since 1970; `undefined`: it is not a time. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === "number") {
    if (!Number.isFinite(value) || value <= 0) return undefined;
    // Below this, it is seconds (until the year 5138).
    return Math.round(value < 1e11 ? value * 1_000 : value);
  }
  if (typeof value !== "string") return undefined;
  const at = parsedTime(value);
  return Number.isNaN(at) ? undefined : at;
}
