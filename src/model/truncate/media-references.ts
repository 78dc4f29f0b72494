import type { MediaPart, Part } from "../messages/part.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";

/** A part without truncation. Media are still replaced by references. */
export function wholePart(part: TranscriptPart): TranscriptPart {
  switch (part.type) {
    case "image":
      return { ...part, media: refer([part.media], part.id)[0] ?? part.media };
    case "file":
      return { ...part, media: refer([part.media], part.id)[0] ?? part.media };
    case "prompt":
      return { ...part, parts: refer(part.parts, part.id) };
    case "tool_result":
      return { ...part, parts: refer(part.parts, part.id) };
    case "tool_call": {
      const { state } = part;
      if (state.status !== "completed" || !state.attachments) return part;
      return { ...part, state: { ...state, attachments: refer(state.attachments, part.id) } };
    }
    default:
      return part;
  }
}

/** The media of a part, in order: `n` in `attachment:<part id>:<n>` is an index into them. */
export function mediaOf(part: TranscriptPart): Exclude<MediaPart, { type: "unknown" }>[] {
  switch (part.type) {
    case "image":
    case "file":
      return [part.media];
    case "prompt":
    case "tool_result":
      return (part.parts as readonly Part[]).filter(isMedia);
    case "tool_call":
      return part.state.status === "completed" ? [...(part.state.attachments ?? [])] : [];
    default:
      return [];
  }
}

function isMedia(part: Part): part is Exclude<MediaPart, { type: "unknown" }> {
  return part.type === "image_url" || part.type === "image_file" || part.type === "file";
}

/** Replaces data URLs of media with references. Clients fetch the bytes when they show them. */
export function refer<Item extends Part>(parts: readonly Item[], part_id: string): Item[] {
  let n = -1;
  return parts.map((part) => {
    if (!isMedia(part)) return part;
    n++;
    return "url" in part && part.url.startsWith("data:")
      ? { ...part, url: `attachment:${part_id}:${n}` }
      : part;
  });
}

export function carriesData(parts: readonly Part[]): boolean {
  return parts.some((part) => isMedia(part) && "url" in part && part.url.startsWith("data:"));
}
