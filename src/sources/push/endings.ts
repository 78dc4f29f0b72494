import type { FrameWriter } from "../../model/frames/frame-writer.ts";

/** The message for a stream that its source did not end. */
export const CUT = "The stream ended early. The rest was never sent.";

/** Ends a stream that its source did not end. Its content remains and is marked as incomplete. */
export function endCut(writer: FrameWriter): void {
  writer.endMessage({ stop_reason: "error" });
  writer.put({ type: "error", message: CUT, can_retry: true });
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
