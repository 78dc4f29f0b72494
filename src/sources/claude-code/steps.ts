import type { Usage } from "../../model/messages/message.ts";
import type { Step } from "./session-types.ts";

/** Total input tokens, including the cache. */
export function givenTokens(usage: Usage | undefined): number {
  return (usage?.input ?? 0) + (usage?.cache_read ?? 0) + (usage?.cache_write ?? 0);
}

/** Whether the model stopped by itself with text, so that no further line of this step is expected. */
export function isWhole(step: Step): boolean {
  const stopped = step.stop === "end_turn" || step.stop === "stop_sequence" || step.stop === "max_tokens";
  // Text that an interrupt cut off is written as a synthetic answer, followed by the interrupt.
  if (!stopped || step.synthetic || step.calls > 0) return false;
  // A fast answer has its stop reason in all its lines. If it only has thoughts so far, it continues.
  return step.lastIsBlock && step.blocks.last?.kind === "text";
}

/** The step's stop reason in Verbatim's terms; `undefined`: not recorded. */
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
