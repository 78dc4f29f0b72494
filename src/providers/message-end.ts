import type { Frame } from "../model/frames/frame.ts";
import type { AssistantMessage } from "../model/messages/message.ts";
import { displayText, textFields } from "../model/text/display-text.ts";
import { argumentsObject } from "./json.ts";
import { begin, type MessageDraft, now, take } from "./message-draft.ts";
import type { Ending } from "./message-parts.ts";
import type { ModelReply } from "./provider.ts";
import { usageOf } from "./usage.ts";

/** Ends a message. Returns the last frames and the reply. */
export function endMessage(
  draft: MessageDraft,
  { stop_reason, stop_reason_raw, stop_details, failure }: Ending,
): { frames: Frame[]; reply: ModelReply } {
  const counted = {
    ...(draft.reported === undefined ? {} : { usage: draft.reported }),
    ...(draft.context_tokens === undefined ? {} : { context_tokens: draft.context_tokens }),
  };
  const failed = failure === undefined ? {} : { failure };
  if (draft.begun === undefined && (stop_reason === "error" || stop_reason === "aborted")) {
    return { frames: [], reply: { executable_calls: [], ...failed, ...counted } };
  }
  begin(draft);
  for (const text of draft.texts) text.finish();
  for (const call of draft.calls) call.finish();
  const { context } = draft;
  const counts = draft.reported === undefined ? undefined : usageOf(draft.reported);
  const cost = counts && (counts.cost ?? context.costOf?.(counts));
  const usage = counts && (cost === undefined ? counts : { ...counts, cost });
  const ending = {
    stop_reason,
    ...(usage === undefined ? {} : { usage }),
    ...(stop_reason_raw === undefined ? {} : { stop_reason_raw }),
    ...(failure === undefined ? {} : textFields("error", displayText(failure.message, failure.title_code))),
  };
  const { at = 0, ...known } = draft.begun ?? {};
  const message: AssistantMessage = {
    role: "assistant",
    id: context.message_id,
    created_at: new Date(at).toISOString(),
    ...known,
    provider: context.provider,
    api: context.wire,
    model_id: context.model,
    parts: draft.places.flatMap(({ parts }) => parts),
    ...ending,
    ...(draft.raw_blocks === undefined ? {} : { raw_blocks: draft.raw_blocks }),
    ...(stop_details === undefined ? {} : { stop_details }),
  };
  draft.frames.push({ ...now(draft), type: "message.record", message });
  if (stop_reason !== "aborted")
    draft.frames.push({ ...now(draft), type: "message.end", message_id: context.message_id, ...ending });
  const may_run = stop_reason === "stop" || stop_reason === "tool_use";
  const executable_calls = draft.calls
    .filter(({ part, closed }) => may_run && closed && argumentsObject(part.arguments_json) !== undefined)
    .map(({ part }) => part.call_id);
  return { frames: take(draft), reply: { message, executable_calls, ...failed, ...counted } };
}
