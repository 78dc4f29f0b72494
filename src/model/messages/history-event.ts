import type { Frame, FrameOf } from "../frames/frame.ts";
import { reasonOf } from "../text/display-text.ts";
import { resultStatus } from "../transcript/fold/result-status.ts";
import { changedPositions } from "../transcript/sequence.ts";
import type { TranscriptPart, TranscriptPartOf } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { partId } from "../uuid.ts";
import type { HistoryEvent } from "./history.ts";

/** The message that is being written, with the positions of its parts. */
export interface Draft {
  readonly message_id: string;
  readonly created_at: number;
  readonly implicit: boolean;
  readonly model?: string;
  readonly response_id?: string;
  readonly effort?: string;
  readonly inherited?: boolean;
  readonly positions: number[];
}

/** The part that an event follows, if a message is being written. */
type Behind = { after_part_id?: string };
type Common = Behind & { at: number };

/** The event of a frame that is not a part of the current message. */
export function eventOf(
  frame: Frame,
  before: Transcript,
  after: Transcript,
  behind: Behind,
  draft: Draft | undefined,
  late: ReadonlyMap<number, unknown>,
): HistoryEvent | undefined {
  const common = { at: frame.at, ...behind };
  const opensTurn = after.turns.length > before.turns.length;
  // A repeat without changes is not written again. Events outside the transcript always are.
  const isOutside =
    frame.type === "session.update" || frame.type === "task.start" || frame.type === "task.metadata";
  if (after === before && !isOutside) return undefined;
  switch (frame.type) {
    case "user.message":
      return promptEvent(frame, behind, opensTurn);
    case "developer.message":
      return contextEvent(frame, behind);
    case "message.legacy":
      return opensTurn ? frame.message : { ...frame.message, ...behind };
    case "message.tool_result":
      return resultEvent(frame, before, after, behind);
    case "message.part_end":
    case "message.tool_call":
    case "message.image":
    case "message.file":
      return revisionEvent(frame, before, after, behind, draft, late);
    case "message.retract":
      return retractEvent(frame, common);
    case "turn.retract":
      return { type: "retract", ...common, turn_id: frame.turn_id, ...reasonOf(frame) };
    case "turn.start":
      return { type: "turn_start", at: frame.at, turn_id: frame.turn_id };
    case "turn.end":
      return turnEndEvent(frame);
    // The end of the channel is not an event, but its turn status is.
    case "end":
      return { type: "turn_end", at: frame.at };
    case "task.start":
      return frame.sub_agent === undefined
        ? undefined
        : {
            type: "sub_agent_spawn",
            ...common,
            ...(frame.tool_call_id === undefined ? {} : { tool_call_id: frame.tool_call_id }),
            sub_agent: frame.sub_agent,
          };
    case "task.metadata":
      return {
        type: "task_metadata",
        ...common,
        ...(frame.tool_call_id === undefined ? {} : { tool_call_id: frame.tool_call_id }),
        metadata: frame.metadata,
      };
    case "session.update":
      return { type: "session_update", ...common, patch: frame.patch };
    case "todo.change":
      return { type: "todo_change", ...common, todos: frame.todos };
    case "context.usage":
      return {
        type: "context_usage",
        ...common,
        tokens: frame.tokens,
        ...(frame.limit === undefined ? {} : { limit: frame.limit }),
      };
    case "request.open":
      return { type: "request", ...common, request: frame.request };
    case "request.close":
      return answerEvent(frame, common);
    case "error":
      return errorEvent(frame, common);
    case "marker":
      return markerEvent(frame, common);
    case "unknown":
      return unknownEvent(frame, common);
    // Covered by the message that they belong to, or never in history.
    case "message.start":
    case "message.part_start":
    case "message.delta":
    case "message.tool_call_start":
    case "message.tool_progress":
    case "message.end":
    case "message.record":
    case "interrupt":
    case "task.finish":
      return undefined;
    default:
      return frame satisfies never;
  }
}

function promptEvent(frame: FrameOf<"user.message">, behind: Behind, opensTurn: boolean): HistoryEvent {
  const { message_id: id, parts, part_id, queued, origin } = frame;
  return {
    role: "user",
    id,
    created_at: isoTime(frame.at),
    parts,
    ...(part_id === undefined ? {} : { part_id }),
    ...(queued === undefined ? {} : { queued }),
    ...(origin === undefined ? {} : { origin }),
    // A prompt that opens a turn ends the current message, so it follows it in history too.
    ...(opensTurn ? {} : behind),
  };
}

function contextEvent(frame: FrameOf<"developer.message">, behind: Behind): HistoryEvent {
  const { message_id: id, parts, part_id, title, title_code } = frame;
  return {
    role: "developer",
    id,
    created_at: isoTime(frame.at),
    parts,
    ...(part_id === undefined ? {} : { part_id }),
    ...(title === undefined ? {} : { title }),
    ...(title_code === undefined ? {} : { title_code }),
    ...behind,
  };
}

function resultEvent(
  frame: FrameOf<"message.tool_result">,
  before: Transcript,
  after: Transcript,
  behind: Behind,
): HistoryEvent {
  const result = changedResult(before, after);
  return {
    role: "tool",
    id: result?.message_id ?? partId(after.session_id, after.parts.length),
    created_at: isoTime(frame.at),
    call_id: frame.tool_call_id,
    tool_name: frame.tool_name ?? "",
    status: resultStatus(frame),
    output_text: frame.output_text,
    parts: frame.parts,
    ...(result === undefined ? {} : { part_id: result.id }),
    ...(frame.ui_extra === undefined ? {} : { ui_extra: frame.ui_extra }),
    ...(frame.outcome === undefined ? {} : { outcome: frame.outcome }),
    ...(frame.permission === undefined ? {} : { permission: frame.permission }),
    ...(frame.background === undefined ? {} : { background: frame.background }),
    ...behind,
  };
}

/** The revision of a part that is not of the current message. Its own message contains any other part. */
function revisionEvent(
  frame: FrameOf<"message.part_end" | "message.tool_call" | "message.image" | "message.file">,
  before: Transcript,
  after: Transcript,
  behind: Behind,
  draft: Draft | undefined,
  late: ReadonlyMap<number, unknown>,
): HistoryEvent | undefined {
  if (after.parts.length > before.parts.length) return undefined;
  const [position] = changedPositions(before.parts, after.parts);
  const mine = position === undefined || late.has(position) || draft?.positions.includes(position);
  if (mine) return undefined;
  const part =
    frame.type === "message.part_end" && position !== undefined ? after.parts.at(position) : undefined;
  const text = part?.type === "text" ? part.text : part?.type === "thinking" ? part.thinking : undefined;
  // Deltas are never in history: a revision contains the complete text.
  return {
    type: "revision",
    at: frame.at,
    ...behind,
    frame: frame.type === "message.part_end" && text !== undefined ? { ...frame, text } : frame,
  };
}

function errorEvent(frame: FrameOf<"error">, common: Common): HistoryEvent {
  const { part_id, message, title_code, can_retry, data } = frame;
  return {
    type: "error",
    ...common,
    ...(part_id === undefined ? {} : { part_id }),
    message,
    ...(title_code === undefined ? {} : { title_code }),
    ...(can_retry === undefined ? {} : { can_retry }),
    ...(data === undefined ? {} : { data }),
  };
}

function markerEvent(frame: FrameOf<"marker">, common: Common): HistoryEvent | undefined {
  const { kind, part_id, message_id, title, title_code, text, text_code, data } = frame;
  if (kind === "interrupt") return undefined;
  const marker = {
    ...common,
    part_id,
    ...(message_id === undefined ? {} : { message_id }),
    title,
    ...(title_code === undefined ? {} : { title_code }),
    ...(text === undefined ? {} : { text }),
    ...(text_code === undefined ? {} : { text_code }),
    ...(data === undefined ? {} : { data }),
  };
  return kind === "compaction" || kind === "model_switch" || kind === "rewind"
    ? { type: kind, ...marker }
    : { type: "marker", kind, ...marker };
}

function unknownEvent(frame: FrameOf<"unknown">, common: Common): HistoryEvent {
  const { part_id, raw, title, title_code, error } = frame;
  return {
    type: "unknown_record",
    ...common,
    part_id,
    raw,
    ...(title === undefined ? {} : { title }),
    ...(title_code === undefined ? {} : { title_code }),
    ...(error === undefined ? {} : { error }),
  };
}

function retractEvent(frame: FrameOf<"message.retract">, common: Common): HistoryEvent {
  const { message_id, part_id } = frame;
  return {
    type: "retract",
    ...common,
    message_id,
    ...(part_id === undefined ? {} : { part_id }),
    ...reasonOf(frame),
  };
}

function turnEndEvent(frame: FrameOf<"turn.end">): HistoryEvent {
  return {
    type: "turn_end",
    at: frame.at,
    ...(frame.turn_id === undefined ? {} : { turn_id: frame.turn_id }),
    ...(frame.status === undefined ? {} : { status: frame.status }),
    ...(frame.inferred === undefined ? {} : { inferred: frame.inferred }),
  };
}

function answerEvent(frame: FrameOf<"request.close">, common: Common): HistoryEvent {
  const { request_id, outcome, answer } = frame;
  return {
    type: "request_close",
    ...common,
    request_id,
    outcome,
    ...(answer === undefined ? {} : { answer }),
  };
}

function changedResult(before: Transcript, after: Transcript): TranscriptPartOf<"tool_result"> | undefined {
  for (const [, part] of touchedParts(before, after)) if (part.type === "tool_result") return part;
  return undefined;
}

/** The new parts, and those that changed. */
export function* touchedParts(before: Transcript, after: Transcript): Generator<[number, TranscriptPart]> {
  for (const position of changedPositions(before.parts, after.parts)) {
    const part = after.parts.at(position);
    if (part !== undefined) yield [position, part];
  }
  for (let position = before.parts.length; position < after.parts.length; position += 1) {
    const part = after.parts.at(position);
    if (part !== undefined) yield [position, part];
  }
}

/** Formats a time for storage. */
export function isoTime(at: number): string {
  // A time outside the range of dates must not lose the message.
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15
    ? new Date(at).toISOString()
    : new Date(0).toISOString();
}
