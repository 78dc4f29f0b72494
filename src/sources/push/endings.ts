import type { FrameWriter } from "../../model/frames/frame-writer.ts";

/** What is said of a stream that its source did not end. */
export const CUT = "The stream ended before its source had ended it: what follows was never sent.";

/** A stream that its source did not end: what is there stays, and says so. */
export function endCut(writer: FrameWriter): void {
  writer.endMessage({ stop_reason: "error" });
  writer.put({ type: "error", message: CUT, can_retry: true });
  writer.put({ type: "turn.end" });
}

/** A stream that its source ended with an error, which has been told. */
export function endFailed(writer: FrameWriter): void {
  writer.endMessage({ stop_reason: "error" });
  writer.put({ type: "turn.end" });
}

/** A tool's output as text: its own where it is one, else the JSON. */
export function outputText(output: unknown): string {
  return typeof output === "string" ? output : (JSON.stringify(output, null, 2) ?? "");
}
