import type { TranscriptPart } from "../transcript/transcript.ts";
import { callTool } from "./call-subject.ts";

/** The tool of a part, as its card names it; for a result, the tool of its call, if that is loaded. */
export function toolOf(
  part: TranscriptPart,
  partAt: (index: number) => TranscriptPart | undefined,
): string | undefined {
  if (part.type === "tool_call") return callTool(part);
  if (part.type === "request") return part.request.tool_name;
  if (part.type !== "tool_result") return undefined;
  const call = part.call_index === undefined ? undefined : partAt(part.call_index);
  return call?.type === "tool_call" ? callTool(call) : part.tool_name;
}
