import type { TranscriptPart } from "../transcript/transcript.ts";
import type { AssistantMessage } from "./message.ts";
import type { Part } from "./part.ts";

/** The parts of a message: as its provider needs them back, and shown parts that the record lacks. */
export function recordedParts(
  shown: readonly (TranscriptPart | undefined)[],
  record: AssistantMessage | undefined,
): Part[] {
  if (record === undefined) return shown.flatMap(storedParts);
  const by_id = new Map(shown.flatMap((part) => (part === undefined ? [] : [[part.id, part] as const])));
  const known = new Set<string>();
  const parts = record.parts.map((part): Part => {
    const there = part.part_id === undefined ? undefined : by_id.get(part.part_id);
    if (there === undefined) return part;
    known.add(there.id);
    return { ...part, ...timesOf(there) };
  });
  return [
    ...parts,
    ...shown.filter((part) => part !== undefined && !known.has(part.id)).flatMap(storedParts),
  ];
}

/** When a part began and when it was complete. */
function timesOf(part: TranscriptPart): { at?: number; ended_at?: number } {
  const ended_at =
    part.type === "text" || part.type === "thinking"
      ? part.ended_at
      : part.type === "tool_call" && part.state.status !== "pending"
        ? part.state.time.start
        : undefined;
  return {
    ...(part.at === undefined ? {} : { at: part.at }),
    ...(ended_at === undefined || ended_at === part.at ? {} : { ended_at }),
  };
}

/** A transcript part of a model as it is stored in its message. */
export function storedParts(part: TranscriptPart | undefined): Part[] {
  if (part === undefined) return [];
  const common = { part_id: part.id, ...timesOf(part) };
  switch (part.type) {
    case "text": {
      const { text, phase } = part;
      return [{ ...common, type: "text", text, ...(phase === undefined ? {} : { phase }) }];
    }
    case "thinking": {
      const { thinking: text, hidden, signature, format } = part;
      const thought: Part = {
        ...common,
        type: "thinking_text",
        text,
        ...(hidden === undefined ? {} : { hidden }),
      };
      if (signature === undefined) return [thought];
      return [
        thought,
        { type: "thinking_signature", signature, ...(format === undefined ? {} : { format }) },
      ];
    }
    case "tool_call":
      return [
        {
          ...common,
          type: "tool_call",
          call_id: part.tool_call_id,
          tool_name: part.tool_name,
          arguments_json: part.arguments_json,
          ...(part.state.status === "pending" ? { unfinished: true } : {}),
        },
      ];
    case "image":
    case "file":
      return [{ ...part.media, ...common }];
    default:
      return [];
  }
}
