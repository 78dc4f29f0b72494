import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { ConversationState, EmittedCall } from "./conversation-state.ts";

/** Maximum number of remembered calls of one turn. The oldest answered ones are removed first. */
const MAX_CALLS = 256;
/** Maximum JSON size of a payload that is kept until the result, in UTF-16 code units. */
const LARGEST_PAYLOAD = 4_000;

/** Returns the id of a call in frames. If another call of the turn has the same id, it gets a new one. */
export function nameCall(
  state: ConversationState,
  name: string,
  part_id: string,
  tool_name: string,
  payload: UiExtra | undefined,
): string {
  const { calls } = state;
  const part = part_id.slice(-12);
  let isTaken = name === "";
  for (const call of calls) {
    if (call.part === part) return call.id;
    isTaken ||= call.name === name;
  }
  const id = isTaken ? `${name}@${part}` : name;
  const isKept = payload !== undefined && JSON.stringify(payload).length <= LARGEST_PAYLOAD;
  calls.push({ name, id, tool_name, part, answered: false, ...(isKept && { payload }) });
  forgetCalls(state);
  return id;
}

/**
 * The call of a result: the oldest waiting one with its id, or the newest with it, or the only waiting call without an id.
 */
export function callOf(state: ConversationState, id: string | undefined): EmittedCall | undefined {
  let latest: EmittedCall | undefined;
  let nameless: EmittedCall | undefined;
  let nameless_count = 0;
  // One pass: a result has up to `MAX_CALLS` calls before it.
  for (const call of state.calls) {
    if (id !== undefined && call.name === id) {
      if (!call.answered) return call;
      latest = call;
    } else if (call.name === "" && !call.answered) {
      nameless = call;
      nameless_count += 1;
    }
  }
  return latest ?? (nameless_count === 1 ? nameless : undefined);
}

/** Removes the oldest calls, answered ones first. */
export function forgetCalls(state: ConversationState): void {
  const { calls } = state;
  while (calls.length > MAX_CALLS) {
    const answered = calls.findIndex((call) => call.answered);
    calls.splice(Math.max(answered, 0), 1);
  }
}
