import type { AssistantMessage, Message } from "../model/messages/message.ts";
import type { ToolCallPart } from "../model/messages/part.ts";
import { inputOf } from "./call-input.ts";

/** The calls of a session's last model call that had no result when its daemon ended. */
interface OpenCalls {
  readonly message: AssistantMessage;
  readonly calls: readonly ToolCallPart[];
  /** Ids of the calls that can be executed according to the stored message: it ended normally, and the call is complete. */
  readonly executable: ReadonlySet<string>;
}

/** The open calls in a session's context; `undefined`: there are none. */
export function openCalls(messages: readonly Message[]): OpenCalls | undefined {
  const position = messages.findLastIndex(({ role }) => role === "assistant");
  const message = messages[position];
  if (message?.role !== "assistant") return undefined;
  const settled = new Set(
    messages.slice(position).flatMap((result) => (result.role === "tool" ? [result.call_id] : [])),
  );
  const calls = message.parts
    .filter((part) => part.type === "tool_call")
    .filter((call) => !settled.has(call.call_id));
  if (calls.length === 0) return undefined;
  const endedWell = message.stop_reason === "tool_use" || message.stop_reason === "stop";
  const whole = calls.filter((call) => call.unfinished !== true && typeof inputOf(call) !== "string");
  return { message, calls, executable: new Set(endedWell ? whole.map(({ call_id }) => call_id) : []) };
}
