import type { Frame, FrameOf } from "../frames/frame.ts";
import { accumulate } from "../transcript/accumulate.ts";
import { resultStatus } from "../transcript/fold/result-status.ts";
import { changedPositions } from "../transcript/sequence.ts";
import type { TranscriptPart, TranscriptPartOf } from "../transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../transcript/transcript-state.ts";
import { partId } from "../uuid.ts";
import type { HistoryEvent } from "./history.ts";
import type { AssistantMessage } from "./message.ts";
import type { Part } from "./part.ts";

/** Turns a session's frames into its history. */
export interface HistoryCollector {
  /** Adds a frame. Returns the events that can be stored now, to be appended in this order. */
  push(frame: Frame): HistoryEvent[];
  /** Returns the events of what is still open, such as a message without an end. Call it after the last frame. */
  flush(): HistoryEvent[];
  /** Whether all frames have been turned into events, so that `flush` would return nothing. */
  readonly isWhole: boolean;
}

/** The message that is being written, with the positions of its parts. */
interface Draft {
  readonly message_id: string;
  readonly created_at: number;
  readonly implicit: boolean;
  readonly model?: string;
  readonly response_id?: string;
  readonly effort?: string;
  readonly inherited?: boolean;
  readonly positions: number[];
}

/** A stored history: its events and the transcript that they fold to. */
export interface WrittenHistory {
  readonly events: readonly HistoryEvent[];
  readonly transcript: Transcript;
}

/**
 * Creates a collector: exactly one assistant message per model call, written when the call ends. Events that arrive meanwhile are
 * written at once with the part that they follow, so that `framesOf` restores the exact order. Continues from `stored` if given.
 */
export function createHistory(session_id: string, stored?: WrittenHistory): HistoryCollector {
  let transcript = stored?.transcript ?? emptyTranscript(session_id);
  let draft: Draft | undefined;
  /** An aborted message waits for the next frame, which may be an interrupt with the reason. */
  let aborted: AssistantMessage | undefined;
  /** Incomplete parts of other messages than the draft, by position, with the part that they follow. */
  const late = new Map<number, string | undefined>();
  const written = new Set(stored?.events.flatMap(messageOf));
  /** The provider's record of the message that is being written. */
  let recorded: AssistantMessage | undefined;
  let events: HistoryEvent[] = [];

  const lastPartId = (of: Transcript): string | undefined => of.parts.at(of.parts.length - 1)?.id;

  const releaseAborted = (): void => {
    if (aborted !== undefined) events.push(aborted);
    aborted = undefined;
  };

  const close = (ending: Partial<AssistantMessage>, of: Transcript): void => {
    if (draft === undefined) return;
    const { message_id, created_at, implicit, model, response_id, effort, inherited, positions } = draft;
    const record = recorded?.id === message_id ? recorded : undefined;
    draft = undefined;
    recorded = undefined;
    written.add(message_id);
    const message: AssistantMessage = {
      role: "assistant",
      id: message_id,
      created_at: isoTime(created_at),
      ...(model === undefined ? {} : { model }),
      ...(response_id === undefined ? {} : { response_id }),
      ...(effort === undefined ? {} : { effort }),
      ...(inherited === undefined ? {} : { inherited }),
      ...(implicit ? { implicit } : {}),
      ...(record === undefined ? {} : providersOwn(record)),
      parts: recordedParts(
        positions.map((position) => of.parts.at(position)),
        record,
      ),
      ...ending,
    };
    if (message.stop_reason === "aborted" && message.interrupt === undefined) aborted = message;
    else events.push(message);
  };

  const writeLate = (position: number, of: Transcript, evenGrowing: boolean): void => {
    const part = of.parts.at(position);
    if (part === undefined || !late.has(position) || (isGrowing(part) && !evenGrowing)) return;
    const behind = late.get(position);
    late.delete(position);
    events.push({
      type: "addendum",
      at: part.at ?? 0,
      message_id: part.message_id,
      parts: storedParts(part),
      ...(behind === undefined ? {} : { after_part_id: behind }),
    });
  };

  const writeAllLate = (of: Transcript): void => {
    for (const position of late.keys()) writeLate(position, of, true);
  };

  const push = (given: Frame): void => {
    const frame = asInterrupt(given);
    if (frame.type === "message.record") {
      if (!written.has(frame.message.id)) recorded = frame.message;
      return;
    }
    const before = transcript;
    transcript = accumulate(before, frame);
    if (aborted !== undefined && frame.type === "interrupt") {
      const { at, reason } = frame;
      aborted = { ...aborted, interrupt: { at, ...(reason === undefined ? {} : { reason }) } };
      releaseAborted();
      return;
    }
    releaseAborted();
    const after_part_id = lastPartId(before);
    const behind =
      (draft !== undefined || late.size > 0) && after_part_id !== undefined ? { after_part_id } : {};

    // What follows may depend on which message is open, so nothing may be pending after these.
    const isBoundary =
      frame.type === "message.start" || frame.type === "message.end" || frame.type === "interrupt";
    if (isBoundary && transcript !== before) writeAllLate(transcript);
    if (endsDraft(frame, draft, before, transcript)) {
      const ending = draft.message_id === ("message_id" in frame ? frame.message_id : undefined);
      const marker = frame.type === "interrupt" ? changedInterrupt(before, transcript) : undefined;
      if (frame.type === "message.end" && ending) {
        const ended_at = frame.at === draft.created_at ? {} : { ended_at: frame.at };
        close({ ...endingOf(frame), ...ended_at }, transcript);
      } else if (marker !== undefined) {
        close({ stop_reason: "aborted", interrupt: interruptOf(marker) }, transcript);
      } else {
        close({ unfinished: true }, transcript);
        if (frame.type === "message.end") events.push({ type: "revision", at: frame.at, frame });
      }
    } else if (frame.type === "interrupt") {
      const marker = changedInterrupt(before, transcript);
      if (marker !== undefined) {
        events.push({
          role: "assistant",
          // The same interrupt with a reason is an event of its own.
          id: partId(marker.id, transcript.parts.length > before.parts.length ? 0 : 1),
          created_at: isoTime(frame.at),
          parts: [],
          stop_reason: "aborted",
          interrupt: { ...interruptOf(marker), alone: true },
          ...behind,
        });
      }
    } else if (frame.type === "message.end" && transcript !== before) {
      events.push({ type: "revision", at: frame.at, frame, ...behind });
    }
    if (frame.type === "message.start" && draft === undefined && transcript !== before) {
      if (written.has(frame.message_id)) events.push({ type: "revision", at: frame.at, frame });
      else {
        writeAllLate(transcript);
        draft = {
          message_id: frame.message_id,
          created_at: frame.at,
          implicit: false,
          ...(frame.model === undefined ? {} : { model: frame.model }),
          ...(frame.response_id === undefined ? {} : { response_id: frame.response_id }),
          ...(frame.effort === undefined ? {} : { effort: frame.effort }),
          ...(frame.inherited === undefined ? {} : { inherited: frame.inherited }),
          positions: [],
        };
      }
    }
    for (let position = before.parts.length; position < transcript.parts.length; position += 1) {
      const part = transcript.parts.at(position);
      if (part === undefined || !isWrittenByModel(part)) continue;
      if (draft === undefined && !written.has(part.message_id)) {
        const { message_id } = part;
        writeAllLate(transcript);
        draft = { message_id, created_at: frame.at, implicit: true, positions: [] };
      }
      if (draft?.message_id === part.message_id) draft.positions.push(position);
      else late.set(position, lastPartId(before));
    }
    // Nothing stays pending across turns or until the next message is complete.
    if (transcript.turns.length > before.turns.length) writeAllLate(transcript);
    const event = eventOf(frame, before, transcript, behind, draft, late);
    if (event !== undefined) events.push(event);
    if (late.size === 0) return;
    for (const [position] of touchedParts(before, transcript)) writeLate(position, transcript, false);
  };

  const take = (): HistoryEvent[] => {
    const taken = events;
    events = [];
    return taken;
  };
  return {
    push(frame) {
      if (frame.session_id === session_id) push(frame);
      return take();
    },
    get isWhole() {
      return draft === undefined && aborted === undefined && late.size === 0;
    },
    flush() {
      close({ unfinished: true }, transcript);
      releaseAborted();
      writeAllLate(transcript);
      return take();
    },
  };
}

/** The id of the message that an event ends. */
function messageOf(event: HistoryEvent): string[] {
  if (!("role" in event) || event.role !== "assistant" || event.parts === undefined) return [];
  return event.interrupt?.alone === true ? [] : [event.id];
}

/** Whether the frame ends the current message. */
function endsDraft(
  frame: Frame,
  draft: Draft | undefined,
  before: Transcript,
  after: Transcript,
): draft is Draft {
  if (draft === undefined || after === before) return false;
  switch (frame.type) {
    case "message.end":
      return frame.message_id === draft.message_id || (draft.implicit && after.open.message_id === undefined);
    case "message.start":
      return draft.implicit || frame.message_id !== draft.message_id;
    default:
      return after.turns.length > before.turns.length || !after.open.turn_open;
  }
}

/** Converts a marker that describes an interrupt into an interrupt. */
function asInterrupt(frame: Frame): Frame {
  if (frame.type !== "marker" || frame.kind !== "interrupt") return frame;
  const { session_id, at, source, part_id, text } = frame;
  return {
    type: "interrupt",
    session_id,
    at,
    part_id,
    ...(source === undefined ? {} : { source }),
    ...(text === undefined ? {} : { reason: text }),
  };
}

/** The new parts, and those that changed. */
function* touchedParts(before: Transcript, after: Transcript): Generator<[number, TranscriptPart]> {
  for (const position of changedPositions(before.parts, after.parts)) {
    const part = after.parts.at(position);
    if (part !== undefined) yield [position, part];
  }
  for (let position = before.parts.length; position < after.parts.length; position += 1) {
    const part = after.parts.at(position);
    if (part !== undefined) yield [position, part];
  }
}

function changedInterrupt(before: Transcript, after: Transcript): TranscriptPartOf<"marker"> | undefined {
  for (const [, part] of touchedParts(before, after)) {
    if (part.type === "marker" && part.kind === "interrupt") return part;
  }
  return undefined;
}

function interruptOf(marker: TranscriptPartOf<"marker">): NonNullable<AssistantMessage["interrupt"]> {
  return {
    part_id: marker.id,
    ...(marker.at === undefined ? {} : { at: marker.at }),
    ...(marker.text === undefined ? {} : { reason: marker.text }),
  };
}

/** The end of a model call: the fields that its frame and its stored message share. */
export function endingOf(
  frame: Pick<FrameOf<"message.end">, "stop_reason" | "usage" | "stop_reason_raw" | "error">,
): Pick<AssistantMessage, "stop_reason" | "usage" | "stop_reason_raw" | "error"> {
  const { stop_reason, usage, stop_reason_raw, error } = frame;
  return {
    ...(stop_reason === undefined ? {} : { stop_reason }),
    ...(usage === undefined ? {} : { usage }),
    ...(stop_reason_raw === undefined ? {} : { stop_reason_raw }),
    ...(error === undefined ? {} : { error }),
  };
}

function isWrittenByModel(part: TranscriptPart): boolean {
  return (
    part.type === "text" ||
    part.type === "thinking" ||
    part.type === "tool_call" ||
    part.type === "image" ||
    part.type === "file"
  );
}

function isGrowing(part: TranscriptPart): boolean {
  if (part.type === "text" || part.type === "thinking") return part.open === true;
  return part.type === "tool_call" && part.state.status === "pending";
}

function isoTime(at: number): string {
  // A time outside the range of dates must not lose the message.
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15
    ? new Date(at).toISOString()
    : new Date(0).toISOString();
}

/** The fields that only the provider's record of a message has. */
function providersOwn(record: AssistantMessage): Partial<AssistantMessage> {
  const { provider, api, model_id, raw_blocks, stop_details } = record;
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(api === undefined ? {} : { api }),
    ...(model_id === undefined ? {} : { model_id }),
    ...(raw_blocks === undefined ? {} : { raw_blocks }),
    ...(stop_details === undefined ? {} : { stop_details }),
  };
}

/** The parts of a message: as its provider needs them back, and shown parts that the record lacks. */
function recordedParts(
  shown: readonly (TranscriptPart | undefined)[],
  record: AssistantMessage | undefined,
): Part[] {
  if (record === undefined) return shown.flatMap(storedParts);
  const by_id = new Map(shown.flatMap((part) => (part === undefined ? [] : [[part.id, part] as const])));
  const known = new Set<string>();
  const parts = record.parts.map((part): Part => {
    const there = part.part_id === undefined ? undefined : by_id.get(part.part_id);
    if (there === undefined) return part;
    known.add(there.id);
    return { ...part, ...timesOf(there) };
  });
  return [
    ...parts,
    ...shown.filter((part) => part !== undefined && !known.has(part.id)).flatMap(storedParts),
  ];
}

/** When a part began and when it was complete. */
function timesOf(part: TranscriptPart): { at?: number; ended_at?: number } {
  const ended_at =
    part.type === "text" || part.type === "thinking"
      ? part.ended_at
      : part.type === "tool_call" && part.state.status !== "pending"
        ? part.state.time.start
        : undefined;
  return {
    ...(part.at === undefined ? {} : { at: part.at }),
    ...(ended_at === undefined || ended_at === part.at ? {} : { ended_at }),
  };
}

/** A transcript part of a model as it is stored in its message. */
function storedParts(part: TranscriptPart | undefined): Part[] {
  if (part === undefined) return [];
  const common = { part_id: part.id, ...timesOf(part) };
  switch (part.type) {
    case "text": {
      const { text, phase } = part;
      return [{ ...common, type: "text", text, ...(phase === undefined ? {} : { phase }) }];
    }
    case "thinking": {
      const { thinking: text, hidden, signature, format } = part;
      const thought: Part = {
        ...common,
        type: "thinking_text",
        text,
        ...(hidden === undefined ? {} : { hidden }),
      };
      if (signature === undefined) return [thought];
      return [
        thought,
        { type: "thinking_signature", signature, ...(format === undefined ? {} : { format }) },
      ];
    }
    case "tool_call":
      return [
        {
          ...common,
          type: "tool_call",
          call_id: part.tool_call_id,
          tool_name: part.tool_name,
          arguments_json: part.arguments_json,
          ...(part.state.status === "pending" ? { unfinished: true } : {}),
        },
      ];
    case "image":
    case "file":
      return [{ ...part.media, ...common }];
    default:
      return [];
  }
}

function changedResult(before: Transcript, after: Transcript): TranscriptPartOf<"tool_result"> | undefined {
  for (const [, part] of touchedParts(before, after)) if (part.type === "tool_result") return part;
  return undefined;
}

/** The event of a frame that is not a part of the current message. */
function eventOf(
  frame: Frame,
  before: Transcript,
  after: Transcript,
  behind: { after_part_id?: string },
  draft: Draft | undefined,
  late: ReadonlyMap<number, unknown>,
): HistoryEvent | undefined {
  const common = { at: frame.at, ...behind };
  // A repeat without changes is not written again. Events outside the transcript always are.
  const isBeside =
    frame.type === "session.update" || frame.type === "task.start" || frame.type === "task.metadata";
  if (after === before && !isBeside) return undefined;
  switch (frame.type) {
    case "user.message": {
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
        ...(after.turns.length > before.turns.length ? {} : behind),
      };
    }
    case "developer.message": {
      const { message_id: id, parts, part_id, title } = frame;
      return {
        role: "developer",
        id,
        created_at: isoTime(frame.at),
        parts,
        ...(part_id === undefined ? {} : { part_id }),
        ...(title === undefined ? {} : { title }),
        ...behind,
      };
    }
    case "message.legacy":
      return after.turns.length > before.turns.length ? frame.message : { ...frame.message, ...behind };
    case "message.tool_result": {
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
    case "message.part_end":
    case "message.tool_call":
    case "message.image":
    case "message.file": {
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
        ...common,
        frame: frame.type === "message.part_end" && text !== undefined ? { ...frame, text } : frame,
      };
    }
    case "message.retract": {
      const { message_id, part_id, reason } = frame;
      return {
        type: "retract",
        ...common,
        message_id,
        ...(part_id === undefined ? {} : { part_id }),
        reason,
      };
    }
    case "turn.retract":
      return { type: "retract", ...common, turn_id: frame.turn_id, reason: frame.reason };
    case "turn.start":
      return { type: "turn_start", at: frame.at, turn_id: frame.turn_id };
    case "turn.end":
      return {
        type: "turn_end",
        at: frame.at,
        ...(frame.turn_id === undefined ? {} : { turn_id: frame.turn_id }),
        ...(frame.status === undefined ? {} : { status: frame.status }),
      };
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
    case "request.close": {
      const { request_id, outcome, answer } = frame;
      return {
        type: "request_close",
        ...common,
        request_id,
        outcome,
        ...(answer === undefined ? {} : { answer }),
      };
    }
    case "error": {
      const { part_id, message, can_retry, data } = frame;
      return {
        type: "error",
        ...common,
        ...(part_id === undefined ? {} : { part_id }),
        message,
        ...(can_retry === undefined ? {} : { can_retry }),
        ...(data === undefined ? {} : { data }),
      };
    }
    case "marker": {
      const { kind, part_id, message_id, title, text, data } = frame;
      if (kind === "interrupt") return undefined;
      const marker = {
        ...common,
        part_id,
        ...(message_id === undefined ? {} : { message_id }),
        title,
        ...(text === undefined ? {} : { text }),
        ...(data === undefined ? {} : { data }),
      };
      return kind === "compaction" || kind === "model_switch" || kind === "rewind"
        ? { type: kind, ...marker }
        : { type: "marker", kind, ...marker };
    }
    case "unknown": {
      const { part_id, raw, title, error } = frame;
      return {
        type: "unknown_record",
        ...common,
        part_id,
        raw,
        ...(title === undefined ? {} : { title }),
        ...(error === undefined ? {} : { error }),
      };
    }
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
