import * as z from "zod";
import {
  assistantMessage,
  legacyMessage,
  promptOrigin,
  stopReason,
  toolStatus,
  usage,
} from "../messages/message.ts";
import { mediaPart, part } from "../messages/part.ts";
import { callOutcome, permission } from "../parts/outcome.ts";
import { todoItem, uiExtra } from "../parts/ui-extra.ts";
import { milliseconds, optional, record, uuid } from "../record.ts";
import { answer, request, requestOutcome } from "../request.ts";
import { sessionPatch } from "../session.ts";
import { textCode } from "../text/coded-text.ts";
import { markerKind, source, truncated, turnStatus } from "../transcript/transcript.ts";

/** Fields of all frames. */
const common = {
  session_id: uuid,
  /** Time of the event by the source's clock; 0: unknown. For display only: frames are ordered by arrival. */
  at: milliseconds,
  source: optional(source),
  /** The transcript part that the frame opens or changes. Set by the daemon for clients that hold only part of the transcript. */
  part_index: optional(z.number()),
  /** The step of the frame's message. Set by the daemon if it is not the last one. */
  step: optional(z.number()),
  truncated: optional(truncated),
};

/**
 * The events of the live channel: emitted by readers, agents and ingestion, sent over the socket, and folded by `accumulate`. A
 * channel adds `channel`, `epoch` and `seq` (see protocol.ts).
 *
 * Every member is either handled by `accumulate` or listed in its `SKIPPED`, which a test checks.
 */
export const frame = z.discriminatedUnion("type", [
  // A model call.
  record({
    ...common,
    type: z.literal("message.start"),
    message_id: uuid,
    turn_id: optional(uuid),
    model: optional(z.string()),
    response_id: optional(z.string()),
    /** The reasoning effort, as the agent names it. */
    effort: optional(z.string()),
    /** Copied from the session that this one continues, where it is counted. */
    inherited: optional(z.boolean()),
  }),
  record({
    ...common,
    type: z.literal("message.part_start"),
    part_id: uuid,
    kind: z.enum(["text", "thinking"]),
    message_id: optional(uuid),
    phase: optional(z.string()),
  }),
  record({
    ...common,
    type: z.literal("message.delta"),
    kind: z.enum(["text", "thinking"]),
    text: z.string(),
    part_id: optional(uuid),
    /** Length of the text before this delta, in UTF-16 code units. A repeat is ignored, a gap causes a resync. */
    offset: optional(z.number()),
    /** Set by the daemon together with `part_id`, for a source without part boundaries: the next part ends this one. */
    bare: optional(z.boolean()),
  }),
  record({
    ...common,
    type: z.literal("message.part_end"),
    part_id: uuid,
    /** The complete value, which overrides the deltas. If sent again later, it revises the part. */
    text: optional(z.string()),
    signature: optional(z.string()),
    /** The signature's format, as in `thinking_signature`. */
    format: optional(z.string()),
    hidden: optional(z.enum(["encrypted", "redacted", "empty"])),
  }),
  record({
    ...common,
    type: z.literal("message.tool_call_start"),
    tool_call_id: z.string(),
    tool_name: z.string(),
    part_id: optional(uuid),
    message_id: optional(uuid),
  }),
  record({
    ...common,
    type: z.literal("message.tool_call"),
    tool_call_id: z.string(),
    tool_name: z.string(),
    arguments_json: z.string(),
    part_id: optional(uuid),
    message_id: optional(uuid),
  }),
  record({
    ...common,
    type: z.literal("message.tool_progress"),
    tool_call_id: z.string(),
    text: z.string(),
    offset: z.number(),
  }),
  record({
    ...common,
    type: z.literal("message.tool_result"),
    tool_call_id: z.string(),
    tool_name: optional(z.string()),
    is_error: z.boolean(),
    status: toolStatus,
    output_text: z.string(),
    output_end: optional(z.string()),
    parts: z.array(mediaPart),
    ui_extra: optional(uiExtra),
    /** Details of an `aborted` call, which neither succeeded nor failed. */
    outcome: optional(callOutcome),
    /** Who allowed the call to run. */
    permission: optional(permission),
    /** The call continues in the background: another result reports its end. */
    background: optional(z.boolean()),
    part_id: optional(uuid),
    message_id: optional(uuid),
  }),
  record({
    ...common,
    type: z.literal("message.image"),
    part_id: uuid,
    message_id: optional(uuid),
    file_path: optional(z.string()),
    url: optional(z.string()),
    mime_type: optional(z.string()),
    byte_size: optional(z.number()),
  }),
  record({
    ...common,
    type: z.literal("message.file"),
    part_id: uuid,
    message_id: optional(uuid),
    mime: z.string(),
    url: z.string(),
    filename: optional(z.string()),
  }),
  record({
    ...common,
    type: z.literal("message.end"),
    message_id: uuid,
    stop_reason: optional(stopReason),
    usage: optional(usage),
    stop_reason_raw: optional(z.string()),
    error: optional(z.string()),
    /** If Verbatim wrote the error. */
    error_code: optional(textCode),
  }),
  /** Retracts a message, or with `part_id` one part of it. It is kept, marked and shown collapsed. */
  record({
    ...common,
    type: z.literal("message.retract"),
    message_id: uuid,
    part_id: optional(uuid),
    reason: z.string(),
    reason_code: optional(textCode),
  }),
  record({ ...common, type: z.literal("message.legacy"), message: legacyMessage }),
  /**
   * The message as its provider needs it back (ids, signatures, raw blocks), for history only. It is sent before the message's
   * end or the interrupt that ends it, does not change the transcript, and is never sent to clients. Its parts have the `part_id`
   * of the shown parts.
   */
  record({ ...common, type: z.literal("message.record"), message: assistantMessage }),
  // Messages from anyone but the model.
  record({
    ...common,
    type: z.literal("user.message"),
    message_id: uuid,
    part_id: optional(uuid),
    parts: z.array(part),
    /** Typed while the turn was running, and part of that turn. Otherwise it opens a turn, unless `turn.start` just did. */
    queued: optional(z.boolean()),
    origin: optional(promptOrigin),
  }),
  record({
    ...common,
    type: z.literal("developer.message"),
    message_id: uuid,
    part_id: optional(uuid),
    parts: z.array(part),
    title: optional(z.string()),
    title_code: optional(textCode),
  }),
  record({ ...common, type: z.literal("todo.change"), todos: z.array(todoItem) }),
  // Requests to the user.
  record({ ...common, type: z.literal("request.open"), request }),
  record({
    ...common,
    type: z.literal("request.close"),
    request_id: uuid,
    outcome: requestOutcome,
    answer: optional(answer),
  }),
  // Lifecycle.
  record({ ...common, type: z.literal("turn.start"), turn_id: uuid }),
  record({
    ...common,
    type: z.literal("turn.end"),
    turn_id: optional(uuid),
    status: optional(turnStatus),
    /** No record states the end: `status` is inferred from the turn's last records, and the outcome of open calls is unknown. */
    inferred: optional(z.boolean()),
  }),
  /** Retracts a turn (Codex's rollback, an abandoned branch). It is kept, marked and shown collapsed. */
  record({
    ...common,
    type: z.literal("turn.retract"),
    turn_id: uuid,
    reason: z.string(),
    reason_code: optional(textCode),
  }),
  /** A run began. Sent on the parent's channel (with the call) and on the run's own (without). */
  record({
    ...common,
    type: z.literal("task.start"),
    tool_call_id: optional(z.string()),
    sub_agent: optional(record({ session_id: uuid, name: optional(z.string()), task: optional(z.string()) })),
  }),
  record({
    ...common,
    type: z.literal("task.finish"),
    tool_call_id: optional(z.string()),
    status: optional(turnStatus),
  }),
  record({
    ...common,
    type: z.literal("task.metadata"),
    tool_call_id: optional(z.string()),
    metadata: z.unknown(),
  }),
  record({
    ...common,
    type: z.literal("error"),
    part_id: optional(uuid),
    message: z.string(),
    /** If Verbatim wrote the message. */
    title_code: optional(textCode),
    can_retry: optional(z.boolean()),
    data: optional(z.unknown()),
  }),
  record({ ...common, type: z.literal("interrupt"), part_id: optional(uuid), reason: optional(z.string()) }),
  /** A marker of one line: compaction, retry, model switch, rewind, hook, notification, injected context. */
  record({
    ...common,
    type: z.literal("marker"),
    part_id: uuid,
    message_id: optional(uuid),
    kind: markerKind,
    title: z.string(),
    title_code: optional(textCode),
    text: optional(z.string()),
    text_code: optional(textCode),
    data: optional(z.unknown()),
  }),
  /** A record that no reader understands, or (`error`) that could not be read. */
  record({
    ...common,
    type: z.literal("unknown"),
    part_id: uuid,
    raw: z.unknown(),
    title: optional(z.string()),
    title_code: optional(textCode),
    error: optional(z.string()),
  }),
  record({ ...common, type: z.literal("context.usage"), tokens: z.number(), limit: optional(z.number()) }),
  /** Facts about the session: title, folder, model, parent… The last value of each field counts. */
  record({ ...common, type: z.literal("session.update"), patch: sessionPatch }),
  /** The end of the channel: no frames follow. */
  record({ ...common, type: z.literal("end") }),
]);
export type Frame = z.infer<typeof frame>;
export type FrameOf<Type extends Frame["type"]> = Extract<Frame, { type: Type }>;
