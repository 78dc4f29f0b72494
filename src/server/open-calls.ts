import type { Frame } from "../model/frame.ts";

/** The calls of a session that have no result yet, oldest first: what a row of the list says the agent does. */
export type OpenCalls = readonly { readonly id: string; readonly name: string }[];

/** Folds a frame into the open calls; keeps their identity when it changes nothing. */
export function followCalls(calls: OpenCalls, frame: Frame): OpenCalls {
  switch (frame.type) {
    case "message.tool_call_start":
    case "message.tool_call":
      return [
        ...calls.filter(({ id }) => id !== frame.tool_call_id),
        { id: frame.tool_call_id, name: frame.tool_name },
      ];
    case "message.tool_result":
      return calls.some(({ id }) => id === frame.tool_call_id)
        ? calls.filter(({ id }) => id !== frame.tool_call_id)
        : calls;
    // What a turn left open stays without a result, as a rule; a late one is only a call less.
    case "turn.start":
    case "turn.end":
    case "interrupt":
      return calls.length > 0 ? [] : calls;
    case "user.message":
      return calls.length > 0 && !frame.queued ? [] : calls;
    default:
      return calls;
  }
}
