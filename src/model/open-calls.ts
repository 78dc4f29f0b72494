import type { Frame } from "./frames/frame.ts";

/** The calls of a session without a result, oldest first. Rows show them as the agent's activity. */
export type OpenCalls = readonly { readonly id: string; readonly name: string }[];

/** Folds frames into the open calls. Returns the same object if nothing changes. */
export function followCalls(calls: OpenCalls, frames: readonly Frame[]): OpenCalls {
  const open = new Map(calls.map(({ id, name }) => [id, name]));
  let changed = false;
  for (const frame of frames) {
    switch (frame.type) {
      case "message.tool_call_start":
      case "message.tool_call":
        open.delete(frame.tool_call_id);
        open.set(frame.tool_call_id, frame.tool_name);
        changed = true;
        break;
      case "message.tool_result":
        if (open.delete(frame.tool_call_id)) changed = true;
        break;
      // Calls left open by a turn usually stay without a result. A late one only removes a call.
      case "turn.start":
      case "turn.end":
      case "interrupt":
      case "user.message":
        if (open.size === 0 || (frame.type === "user.message" && frame.queued)) break;
        open.clear();
        changed = true;
        break;
      default:
        break;
    }
  }
  return changed ? [...open].map(([id, name]) => ({ id, name })) : calls;
}
