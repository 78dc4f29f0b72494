import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { contentText } from "./tool-call.ts";
import { pushCall, terminalOutput } from "./update-calls.ts";
import { endStep, putUnknown, skip, type UpdateState } from "./update-state.ts";
import { pushUpdate } from "./updates.ts";

/** Whether an update is work of a turn. Some agents intentionally continue to work after the end of a turn. */
export function isWork(kind: unknown): boolean {
  return (
    kind === "agent_message_chunk" ||
    kind === "agent_thought_chunk" ||
    kind === "tool_call" ||
    kind === "tool_call_update"
  );
}

/** Handles an update that arrives after the end of the turn. */
export function pushLate(state: UpdateState, update: JsonObject): void {
  const { writer } = state;
  const kind = update.sessionUpdate;
  if (kind === "agent_message_chunk" || kind === "agent_thought_chunk") {
    const block = asObject(update.content);
    const text = block?.type === "text" ? asString(block.text) : undefined;
    if (text === undefined) {
      flushInto(state);
      putUnknown(state, update, agentTitle("sent_after_turn"));
    } else if (text === "") skip(state, "empty_chunk");
    else state.late.add(kind === "agent_message_chunk" ? "text" : "thinking", asText(update.messageId), text);
    return;
  }
  const id = asString(update.toolCallId);
  if (id === undefined) {
    pushUpdate(state, update);
    return;
  }
  flushInto(state);
  state.late.leave();
  const isNew = !state.calls.has(id);
  if (isNew && kind === "tool_call_update" && pushStray(state, update, id)) return;
  if (isNew) {
    writer.put({
      type: "marker",
      kind: "note",
      part_id: state.newId(),
      ...titleFields(agentTitle("started_after_turn")),
    });
  }
  // A call of the turn that is announced again is the same call and keeps the values that are already shown.
  pushCall(state, update, isNew && kind === "tool_call");
  state.isReopened ||= state.open.size > 0 || writer.message_id !== undefined;
  closeReopened(state);
}

/**
 * Handles an update that arrives after the turn and contains only output of an unknown call. It is shown as a note. `false`: the
 * update describes or ends a call, so it has to be shown as one, or it has no output.
 */
function pushStray(state: UpdateState, update: JsonObject, id: string): boolean {
  const isNamed = ["title", "kind", "rawInput", "name"].some((field) => update[field] !== undefined);
  if (isNamed || update.status === "completed" || update.status === "failed") return false;
  const text = terminalOutput(update) ?? contentText({ content: asArray(update.content) });
  if (text === "") return false;
  const stray = state.strays.get(id) ?? { part_id: state.newId(), text: "" };
  state.strays.set(id, stray);
  stray.text += text;
  state.writer.put({
    type: "marker",
    kind: "note",
    part_id: stray.part_id,
    ...titleFields(agentTitle("output_after_turn")),
    text: stray.text,
    data: { toolCallId: id },
  });
  return true;
}

/** Emits the buffered text that arrived after the turn. */
export function flushInto(state: UpdateState): void {
  const { bodies, opens } = state.late.flush();
  for (const body of bodies) state.writer.put(body);
  state.isReopened ||= opens;
  closeReopened(state);
}

/** Ends a reopened turn again once all of its calls have ended. */
export function closeReopened(state: UpdateState): void {
  if (!state.isReopened || state.open.size > 0) return;
  state.isReopened = false;
  endStep(state);
  state.writer.put({ type: "turn.end", status: state.ended });
}
