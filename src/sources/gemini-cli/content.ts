import type { Usage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject, asString } from "../../model/narrow.ts";
import { blocksIn, imageOf } from "../conversation/content.ts";

/** The text of a content, which is a string or a list of parts. */
export function textOf(content: unknown): string {
  return blocksIn(content)
    .map((block) => asString(block.text) ?? "")
    .join("");
}

/** The parts of a prompt. */
export function promptParts(content: unknown): Part[] {
  return blocksIn(content).map((block): Part => {
    const text = asString(block.text);
    if (text !== undefined) return { type: "text", text };
    const media = imageOf(block);
    return media?.type === "image_url" || media?.type === "file" ? media : { type: "unknown", raw: block };
  });
}

/** Gemini's `input` includes cached tokens; its `output` excludes thoughts. */
export function usageOf(value: unknown): Usage | undefined {
  const tokens = asObject(value);
  const input = asNumber(tokens?.input);
  const output = asNumber(tokens?.output);
  if (input === undefined || output === undefined) return undefined;
  const cached = asNumber(tokens?.cached) ?? 0;
  const thoughts = asNumber(tokens?.thoughts) ?? 0;
  return {
    input: Math.max(0, input + (asNumber(tokens?.tool) ?? 0) - cached),
    output: output + thoughts,
    ...(cached > 0 && { cache_read: cached }),
    ...(thoughts > 0 && { reasoning: thoughts }),
  };
}
