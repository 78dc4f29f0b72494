import type { FrameOf } from "../../frames/frame.ts";
import type { ToolStatus } from "../../messages/message.ts";

/** The status of a result. An error flag overrides the status, except for calls that were refused or stopped. */
export function resultStatus({ is_error, status, outcome }: FrameOf<"message.tool_result">): ToolStatus {
  if (outcome !== undefined) return "aborted";
  return is_error && status === "success" ? "error" : status;
}
