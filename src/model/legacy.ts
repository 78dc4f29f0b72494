import { contentOf } from "./content.ts";
import { type LegacyMessage, legacyMessage } from "./message.ts";
import type { TranscriptPart, TranscriptPartOf } from "./transcript.ts";

/**
 * A message written before parts existed: it has `content` and no `parts` at all. It renders the old look, its
 * `thinking` above its `content`. One that has `parts`, be they empty, is not legacy, whatever else it has.
 */
export function isLegacyMessage(value: unknown): value is LegacyMessage {
  if (typeof value !== "object" || value === null || "parts" in value) return false;
  return legacyMessage.safeParse(value).success;
}

/** What a legacy part shows, from top to bottom. */
export function legacyBlocks(
  part: TranscriptPartOf<"legacy">,
): { kind: "thinking" | "content"; text: string }[] {
  const blocks: { kind: "thinking" | "content"; text: string }[] = [];
  if (part.thinking !== undefined && part.thinking !== "")
    blocks.push({ kind: "thinking", text: part.thinking });
  if (part.content !== "") blocks.push({ kind: "content", text: part.content });
  return blocks;
}

/** What clients that know only `content` and `thinking` get of a message's parts. */
export function toLegacy(parts: readonly (TranscriptPart | undefined)[]): {
  content: string;
  thinking?: string;
} {
  let thinking: string | undefined;
  for (const part of parts) {
    if (part?.type === "thinking") thinking = (thinking ?? "") + part.thinking;
  }
  return { content: contentOf(parts), ...(thinking === undefined ? {} : { thinking }) };
}
