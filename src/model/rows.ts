import type { TranscriptPart } from "./transcript.ts";

/**
 * Whether a part has a row of its own. A paired result is shown in the card of its call; steps are separators that a
 * reader may switch on; a block that was opened and closed without a word was never said. A prompt that heads its turn
 * is a row too: whoever renders the turn's heading from it leaves it out there.
 */
export function isRow(part: TranscriptPart, { showSteps }: { showSteps: boolean }): boolean {
  switch (part.type) {
    case "tool_result":
      return part.call_index === undefined;
    case "step_start":
    case "step_finish":
      return showSteps;
    case "text":
      return part.text !== "" || part.open === true;
    case "thinking":
      return part.thinking !== "" || part.open === true || part.hidden !== undefined;
    case "tool_call":
    case "image":
    case "file":
    case "prompt":
    case "marker":
    case "request":
    case "unknown":
    case "legacy":
      return true;
    default:
      return part satisfies never;
  }
}
