import type { ToolCallPart } from "../model/messages/part.ts";
import { partId } from "../model/uuid.ts";
import { type MessageDraft, now, show } from "./message-draft.ts";
import type { CallFields, GrowingCall, Place } from "./message-parts.ts";
import { offeredToolName } from "./tool-names.ts";

/** An id for a call for which the provider sends no id or one that is not unique. Deterministic, so replays give the same id. */
function createCallId(message_id: string, index: number): string {
  return `call_${partId(message_id, index).replaceAll("-", "")}`;
}

/** Begins a call at a place in the message. */
export function beginCall(
  draft: MessageDraft,
  wanted: Place,
  { call_id: given, tool_name: called, item_id, namespace, provider_call_id: original }: CallFields,
): GrowingCall {
  const tool_name = offeredToolName(called, draft.context.tool_names ?? []);
  const { home, part_id } = show(draft, wanted);
  const isNew = given !== undefined && given !== "" && !draft.call_ids.has(given);
  const call_id = isNew ? given : createCallId(draft.context.message_id, draft.shown - 1);
  const provider_call_id = original ?? (isNew || given === "" ? undefined : given);
  draft.call_ids.add(call_id);
  const common = now(draft);
  const part: ToolCallPart = {
    type: "tool_call",
    part_id,
    at: common.at,
    call_id,
    tool_name,
    arguments_json: "",
    ...(item_id === undefined ? {} : { item_id }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(provider_call_id === undefined ? {} : { provider_call_id }),
  };
  home.parts.push(part);
  const named = { part_id, message_id: draft.context.message_id, tool_call_id: call_id, tool_name };
  draft.frames.push({ ...common, type: "message.tool_call_start", ...named });
  let arguments_json = "";
  const call = {
    part,
    closed: false,
    finish() {
      if (call.closed) return;
      part.arguments_json = arguments_json.toWellFormed();
      part.unfinished = true;
    },
  };
  draft.calls.push(call);
  return {
    call_id,
    get arguments_json() {
      return arguments_json;
    },
    append(delta) {
      arguments_json += delta;
    },
    name(id) {
      part.item_id = id;
    },
    close(whole) {
      if (call.closed) return;
      call.closed = true;
      part.arguments_json = (whole ?? arguments_json).toWellFormed();
      draft.frames.push({
        ...now(draft),
        type: "message.tool_call",
        ...named,
        arguments_json: part.arguments_json,
      });
    },
  };
}
