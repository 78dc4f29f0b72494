import type { MediaPart, Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, type JsonObject } from "../../model/narrow.ts";

/** `message.content` as a list of blocks. It may be a string, a list, or missing. */
export function blocksOf(content: unknown): JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asArray(content).map((item) => {
    if (typeof item === "string") return { type: "text", text: item };
    const block = asObject(item);
    if (block === undefined) return { type: "unknown", value: item };
    // A text block whose text is not a string is kept as an unknown block.
    const isText = block.type !== "text" || typeof (block.text ?? "") === "string";
    return isText ? block : { type: "malformed text", block };
  });
}

/** The text of the text blocks, joined by newlines. */
export function textOf(blocks: readonly JsonObject[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [asString(block.text) ?? ""] : [])).join("\n");
}

/** Converts an image or document block, with data or URL, to media. Other blocks are kept as they are. */
function mediaOf(block: JsonObject): MediaPart {
  const source = asObject(block.source);
  const data = asString(source?.data);
  const mime = asString(source?.media_type);
  const address = asString(source?.url);
  if (block.type === "image") {
    if (data !== undefined) {
      return { type: "image_url", url: `data:${mime ?? "image/png"};base64,${data}` };
    }
    if (address !== undefined) return { type: "image_url", url: address };
  }
  if (block.type === "document") {
    const filename = asString(block.title) ?? asString(block.name);
    const type = mime ?? "application/pdf";
    const url =
      source?.type === "text" && data !== undefined
        ? `data:${type};charset=utf-8,${encodeURIComponent(data.toWellFormed())}`
        : data !== undefined
          ? `data:${type};base64,${data}`
          : address;
    if (url !== undefined) {
      return { type: "file", mime: type, url, ...(filename !== undefined && { filename }) };
    }
  }
  return { type: "unknown", raw: block };
}

/** Splits the content of a `tool_result` into its text and other parts. */
export function resultContent(content: unknown): { output_text: string; parts: MediaPart[] } {
  if (typeof content === "string") return { output_text: content, parts: [] };
  const texts: string[] = [];
  const parts: MediaPart[] = [];
  // A single block instead of a list is accepted.
  for (const block of blocksOf(asObject(content) === undefined ? content : [content])) {
    const text = asString(block.text);
    if (block.type === "text" && text !== undefined) texts.push(text);
    else if (block.type === "tool_reference") texts.push(asString(block.tool_name) ?? "");
    else parts.push(mediaOf(block));
  }
  return { output_text: texts.join("\n"), parts };
}

/** Converts a person's blocks to parts of a prompt. */
export function promptParts(blocks: readonly JsonObject[]): Part[] {
  return blocks.map((block): Part => {
    const text = asString(block.text);
    return block.type === "text" && text !== undefined ? { type: "text", text } : mediaOf(block);
  });
}

/** A cheap fingerprint of the length and some sampled characters. Copies have the same fingerprint. */
export function sample(text: string): number {
  let hash = 0;
  const step = Math.max(1, Math.floor(text.length / 64));
  for (let at = 0; at < text.length; at += step) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
