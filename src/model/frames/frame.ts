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
import { markerKind, source, truncated, turnStatus } from "../transcript/transcript.ts";

/** What every frame says beside its own fields. */
const common = {
  session_id: uuid,
  /** When it happened, by the source's clock; 0: it does not say. For show only: order is the order of arrival. */
  at: milliseconds,
  source: optional(source),
  /** The transcript part that the frame opens or changes, set by the daemon for clients that hold only a window. */
  part_index: optional(z.number()),
  /** The step of the message that the frame belongs to, set by the daemon where it is not the last one. */
  step: optional(z.number()),
  truncated: optional(truncated),
};

/**
 * The vocabulary of the live channel: what readers, the harness and ingestion emit, what the socket carries, and what
 * `accumulate` folds. A channel adds `channel`, `epoch` and `seq` (see protocol.ts).
 *
 * Every member is either handled by `accumulate` or listed in its `SKIPPED`; a test fails when one is neither.
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
    /** How much the model was to think, in its agent's own word. */
    effort: optional(z.string()),
    /** Copied from the session that this one goes on from, where it is counted. */
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
    /** Length already delivered, in UTF-16 code units: a repeat is ignored, a gap asks for a resync. */
    offset: optional(z.number()),
    /** Set by the daemon beside the `part_id` that it gave: the source sends no boundaries, whatever opens a part ends this one. */
    bare: optional(z.boolean()),
  }),
  record({
    ...common,
    type: z.literal("message.part_end"),
    part_id: uuid,
    /** The whole value; authoritative where present. Sent again later, it revises the part in its place. */
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
    /** Why it neither succeeded nor failed: the status of such a call is `aborted`. */
    outcome: optional(callOutcome),
    /** Who allowed the call to run. */
    permission: optional(permission),
    /** The call goes on in the background: another result reports its end. */
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
  }),
  /** What was withdrawn: a message, or (`part_id`) one part of it. Kept, marked, shown folded. */
  record({
    ...common,
    type: z.literal("message.retract"),
    message_id: uuid,
    part_id: optional(uuid),
    reason: z.string(),
  }),
  record({ ...common, type: z.literal("message.legacy"), message: legacyMessage }),
  /**
   * The message as its provider must get it back (ids, signatures, raw blocks), for history alone: it is sent before the
   * message's end or the interrupt that ends it, changes nothing in a transcript, and never goes to a client. Its parts carry
   * the `part_id` of the parts that were shown for them.
   */
  record({ ...common, type: z.literal("message.record"), message: assistantMessage }),
  // Others' messages.
  record({
    ...common,
    type: z.literal("user.message"),
    message_id: uuid,
    part_id: optional(uuid),
    parts: z.array(part),
    /** Typed while the turn ran: stays inside it. Otherwise it opens a turn (unless `turn.start` just did). */
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
  }),
  record({ ...common, type: z.literal("todo.change"), todos: z.array(todoItem) }),
  // What a person is asked.
  record({ ...common, type: z.literal("request.open"), request }),
  record({
    ...common,
    type: z.literal("request.close"),
    request_id: uuid,
    outcome: requestOutcome,
    answer: optional(answer),
  }),
  // Life.
  record({ ...common, type: z.literal("turn.start"), turn_id: uuid }),
  record({
    ...common,
    type: z.literal("turn.end"),
    turn_id: optional(uuid),
    status: optional(turnStatus),
    /** No record states the end: `status` is inferred from the turn's last records, and the outcome of open calls is unknown. */
    inferred: optional(z.boolean()),
  }),
  /** A turn that was withdrawn (Codex's roll-back, an abandoned branch): kept, marked, shown folded. */
  record({ ...common, type: z.literal("turn.retract"), turn_id: uuid, reason: z.string() }),
  /** A run began: sent on the parent's channel (with the call) and on the run's own (without). */
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
    can_retry: optional(z.boolean()),
    data: optional(z.unknown()),
  }),
  record({ ...common, type: z.literal("interrupt"), part_id: optional(uuid), reason: optional(z.string()) }),
  /** One line in its place: compaction, retry, model switch, rewind, hook, notification, injected context. */
  record({
    ...common,
    type: z.literal("marker"),
    part_id: uuid,
    message_id: optional(uuid),
    kind: markerKind,
    title: z.string(),
    text: optional(z.string()),
    data: optional(z.unknown()),
  }),
  /** A record that nothing here understands, or (`error`) could not be read. */
  record({
    ...common,
    type: z.literal("unknown"),
    part_id: uuid,
    raw: z.unknown(),
    title: optional(z.string()),
    error: optional(z.string()),
  }),
  record({ ...common, type: z.literal("context.usage"), tokens: z.number(), limit: optional(z.number()) }),
  /** Facts about the session itself: title, folder, model, parent… Last one wins, field by field. */
  record({ ...common, type: z.literal("session.update"), patch: sessionPatch }),
  /** The channel is over: nothing follows. */
  record({ ...common, type: z.literal("end") }),
]);
export type Frame = z.infer<typeof frame>;
export type FrameOf<Type extends Frame["type"]> = Extract<Frame, { type: Type }>;
