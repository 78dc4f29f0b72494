import type { HistoryEvent } from "../model/history.ts";
import type { AssistantMessage, Message } from "../model/message.ts";
import type { ToolCallPart } from "../model/part.ts";
import { openRequests } from "./approval.ts";
import { inputOf } from "./call-input.ts";

/** The calls of a session's last model call that have no result, after its daemon ended. */
export interface LeftCalls {
  readonly message: AssistantMessage;
  /** They wait for a person's answer: nothing of them has run, and asking again gives the same answer. */
  readonly waiting: readonly ToolCallPart[];
  /** They may have run: running them again might do what they do twice. */
  readonly lost: readonly ToolCallPart[];
}

/** `messages`: the context that the history makes. `undefined`: no call is left. */
export function leftCalls(
  history: readonly HistoryEvent[],
  messages: readonly Message[],
): LeftCalls | undefined {
  const position = messages.findLastIndex(({ role }) => role === "assistant");
  const message = messages[position];
  if (message?.role !== "assistant") return undefined;
  const settled = new Set(
    messages.slice(position).flatMap((result) => (result.role === "tool" ? [result.call_id] : [])),
  );
  const left = message.parts
    .filter((part) => part.type === "tool_call")
    .filter((call) => !settled.has(call.call_id));
  if (left.length === 0) return undefined;
  const asked = openRequests(history);
  // The rules for what may be executed, as far as a stored message tells: it ended well, and the call is whole.
  const endedWell = message.stop_reason === "tool_use" || message.stop_reason === "stop";
  const waiting = left.filter(
    (call) =>
      endedWell && call.unfinished !== true && typeof inputOf(call) !== "string" && asked.has(call.call_id),
  );
  return { message, waiting, lost: left.filter((call) => !waiting.includes(call)) };
}
