import type { TranscriptPart } from "../transcript/transcript.ts";

/** The tool of a part; for a result, the tool of its call, if that is loaded. */
export function toolOf(
  part: TranscriptPart,
  partAt: (index: number) => TranscriptPart | undefined,
): string | undefined {
  if (part.type === "tool_call") return part.tool_name;
  if (part.type === "request") return part.request.tool_name;
  if (part.type !== "tool_result") return undefined;
  const call = part.call_index === undefined ? undefined : partAt(part.call_index);
  return part.tool_name ?? (call?.type === "tool_call" ? call.tool_name : undefined);
}
