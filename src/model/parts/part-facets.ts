import type { PartKindName, PartStatusName } from "../search/query.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";

/** The value of `kind:` that matches a part. */
export function kindOf(part: TranscriptPart): PartKindName {
  switch (part.type) {
    case "thinking":
      return "thought";
    case "text":
      return "text";
    case "tool_call":
      return "call";
    case "tool_result":
      return "output";
    case "image":
    case "file":
      return "file";
    case "prompt":
      return "prompt";
    case "step_start":
    case "step_finish":
      return "step";
    case "marker":
      return "marker";
    case "request":
      return "request";
    case "unknown":
      return "unknown";
    case "legacy":
      return part.role === "user" ? "prompt" : "text";
    default:
      return part satisfies never;
  }
}

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

/** How a part ended, for kinds that have an end status. */
export function statusOf(part: TranscriptPart): PartStatusName | undefined {
  switch (part.type) {
    case "tool_call":
      switch (part.state.status) {
        case "pending":
        case "running":
          return "running";
        case "completed":
          return "ok";
        case "error":
          return "failed";
        case "aborted":
          return "stopped";
        default:
          return part.state satisfies never;
      }
    case "tool_result":
      return part.status === "success" ? "ok" : part.status === "error" ? "failed" : "stopped";
    case "marker":
      return part.kind === "error" ? "failed" : part.kind === "interrupt" ? "stopped" : undefined;
    case "step_finish":
      return part.error === undefined ? "ok" : "failed";
    case "thinking":
    case "text":
    case "image":
    case "file":
    case "prompt":
    case "step_start":
    case "request":
    case "unknown":
    case "legacy":
      return undefined;
    default:
      return part satisfies never;
  }
}
