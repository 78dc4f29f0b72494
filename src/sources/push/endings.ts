import type { FrameWriter } from "../../model/frames/frame-writer.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { messageFields } from "../../model/text/titles.ts";

/** The message for a stream that its source did not end. */
export const CUT = sourceTitle("stream_cut");

/** Ends a stream that its source did not end. Its content remains and is marked as incomplete. */
export function endCut(writer: FrameWriter): void {
  writer.endMessage({ stop_reason: "error" });
  writer.put({ type: "error", ...messageFields(CUT), can_retry: true });
  writer.put({ type: "turn.end" });
}

/** Ends a stream that its source ended with an error, which was already shown. */
export function endFailed(writer: FrameWriter): void {
  writer.endMessage({ stop_reason: "error" });
  writer.put({ type: "turn.end" });
}

/** A tool's output as text: the text itself, or JSON. */
export function outputText(output: unknown): string {
  return typeof output === "string" ? output : (JSON.stringify(output, null, 2) ?? "");
}
