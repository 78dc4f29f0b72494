import type { Usage } from "../../model/messages/message.ts";
import type { Step } from "./session-types.ts";

/** All tokens that the model was given. */
export function givenTokens(usage: Usage | undefined): number {
  return (usage?.input ?? 0) + (usage?.cache_read ?? 0) + (usage?.cache_write ?? 0);
}

/** The model stopped of itself, with words: no line of this step is owed any more. */
export function isWhole(step: Step): boolean {
  const stopped = step.stop === "end_turn" || step.stop === "stop_sequence" || step.stop === "max_tokens";
  // The words that an interrupt cut off come as a synthetic answer, with the interrupt behind it.
  if (!stopped || step.synthetic || step.calls > 0) return false;
  // A fast answer says why it stopped in all its lines: one that has only thought so far goes on.
  return step.lastIsBlock && step.blocks.last?.kind === "text";
}

/** Why the step ended, in the words of our model; `undefined`: no record says so. */
export function stopReason(step: Step): "stop" | "length" | "tool_use" | "error" | undefined {
  switch (step.stop) {
    case undefined:
      return step.calls > 0 ? "tool_use" : undefined;
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "tool_use";
    case "refusal":
      return "error";
    default:
      return "stop";
  }
}
