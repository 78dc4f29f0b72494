import * as z from "zod";
import { frame } from "../frames/frame.ts";
import { todoItem } from "../parts/ui-extra.ts";
import { milliseconds, optional, record, uuid } from "../record.ts";
import { answer, request, requestOutcome } from "../request.ts";
import { sessionPatch } from "../session.ts";
import { textCode } from "../text/coded-text.ts";
import { markerKind, turnStatus } from "../transcript/transcript.ts";
import { legacyMessage, message } from "./message.ts";
import { part } from "./part.ts";

const common = {
  /** Time by the source's clock, in milliseconds since 1970. */
  at: milliseconds,
  /** As in messages: the transcript part that this event follows, if an assistant message was still being written. */
  after_part_id: optional(z.string()),
};
const marker = {
  ...common,
  part_id: uuid,
  message_id: optional(uuid),
  title: z.string(),
  title_code: optional(textCode),
  text: optional(z.string()),
  text_code: optional(textCode),
  data: optional(z.unknown()),
};

/** Entries of a history other than messages, by `type`. */
const otherEvent = z.discriminatedUnion("type", [
  record({
    ...common,
    type: z.literal("task_metadata"),
    tool_call_id: optional(z.string()),
    metadata: z.unknown(),
  }),
  record({
    ...common,
    type: z.literal("error"),
    part_id: optional(uuid),
    message: z.string(),
    title_code: optional(textCode),
    can_retry: optional(z.boolean()),
    data: optional(z.unknown()),
  }),
  record({ ...marker, type: z.literal("compaction") }),
  record({ ...marker, type: z.literal("model_switch") }),
  record({ ...marker, type: z.literal("rewind") }),
  /** Any other marker of the transcript, except interrupts, which are derived from `aborted`. */
  record({ ...marker, type: z.literal("marker"), kind: markerKind.exclude(["interrupt"]) }),
  record({
    ...common,
    type: z.literal("sub_agent_spawn"),
    tool_call_id: optional(z.string()),
    sub_agent: record({ session_id: uuid, name: optional(z.string()), task: optional(z.string()) }),
  }),
  /** A record of an agent's file that its reader did not understand or could not read. */
  record({
    ...common,
    type: z.literal("unknown_record"),
    part_id: uuid,
    raw: z.unknown(),
    title: optional(z.string()),
    title_code: optional(textCode),
    error: optional(z.string()),
  }),
  /** Retracts a message, a part of it, or a turn. Nothing is ever deleted. */
  record({
    ...common,
    type: z.literal("retract"),
    message_id: optional(uuid),
    part_id: optional(uuid),
    turn_id: optional(uuid),
    reason: z.string(),
    reason_code: optional(textCode),
  }),
  record({ ...common, type: z.literal("turn_start"), turn_id: uuid }),
  record({
    ...common,
    type: z.literal("turn_end"),
    turn_id: optional(uuid),
    status: optional(turnStatus),
    inferred: optional(z.boolean()),
  }),
  record({ ...common, type: z.literal("request"), request }),
  record({
    ...common,
    type: z.literal("request_close"),
    request_id: uuid,
    outcome: requestOutcome,
    answer: optional(answer),
  }),
  record({ ...common, type: z.literal("todo_change"), todos: z.array(todoItem) }),
  record({ ...common, type: z.literal("context_usage"), tokens: z.number(), limit: optional(z.number()) }),
  record({ ...common, type: z.literal("session_update"), patch: sessionPatch }),
  /** Parts added to a message after it was stored. A thought comes with its signature. */
  record({ ...common, type: z.literal("addendum"), message_id: uuid, parts: z.array(part) }),
  /** A revision of something stored: the frame that made it. */
  record({
    ...common,
    type: z.literal("revision"),
    frame: frame.refine(
      ({ type }) =>
        type === "message.start" ||
        type === "message.part_end" ||
        type === "message.tool_call" ||
        type === "message.end" ||
        type === "message.image" ||
        type === "message.file",
      "only a frame with complete values can be a revision",
    ),
  }),
]);

/** A line that could not be read. It is kept and written back unchanged. */
export interface UnknownEvent {
  type: "unknown";
  line: string;
}

/**
 * An entry of a session's history, an ordered, append-only list. Messages have a `role` (legacy ones have no `parts`), other
 * entries a `type`. Streaming deltas, the start of tool calls and interrupts are never in it.
 */
export type HistoryEvent =
  | z.infer<typeof message>
  | z.infer<typeof legacyMessage>
  | z.infer<typeof otherEvent>
  | UnknownEvent;

/** Maximum nesting that is read. Rendering deeper values could overflow the stack. */
const DEPTH_LIMIT = 500;

/** Whether JSON text is nested deeper than the limit, without parsing it. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > DEPTH_LIMIT) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

/**
 * The event as one line of JSON, without a newline. Throws a `RangeError` if foreign data in it is nested more than 500 levels
 * deep, which `decodeEvent` would not read back.
 */
export function encodeEvent(event: HistoryEvent): string {
  if ("type" in event && event.type === "unknown") return event.line;
  const line = JSON.stringify(event);
  if (isTooDeep(line)) {
    throw new RangeError(
      `A history event can be nested at most ${DEPTH_LIMIT} levels deep. Store deeper values as text`,
    );
  }
  return line;
}

/**
 * Reads a line. Never throws: a line that is not a valid event of this version (broken JSON, unknown type, missing field, too
 * deep) becomes `unknown` and keeps its bytes. Unknown fields of valid events are kept too.
 */
export function decodeEvent(line: string): HistoryEvent {
  const unknown: UnknownEvent = { type: "unknown", line };
  if (isTooDeep(line)) return unknown;
  try {
    return eventOf(JSON.parse(line), line);
  } catch {
    return unknown;
  }
}

/** The event of a line whose JSON was parsed already, and is nested at most 500 levels deep. See `decodeEvent`. */
export function eventOf(value: unknown, line: string): HistoryEvent {
  const unknown: UnknownEvent = { type: "unknown", line };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return unknown;
  const schema = !("role" in value) ? otherEvent : "parts" in value ? message : legacyMessage;
  // Return the value itself, not the schema's copy, to keep everything that was written. It was just validated.
  return schema.safeParse(value).success ? (value as HistoryEvent) : unknown;
}
