import type { Frame, FrameOf } from "../frames/frame.ts";
import { accumulate } from "../transcript/accumulate.ts";
import type { TranscriptPart, TranscriptPartOf } from "../transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../transcript/transcript-state.ts";
import { partId } from "../uuid.ts";
import type { HistoryEvent } from "./history.ts";
import { type Draft, eventOf, isoTime, touchedParts } from "./history-event.ts";
import type { AssistantMessage } from "./message.ts";
import { recordedParts, storedParts } from "./stored-parts.ts";

/** Turns a session's frames into its history. */
export interface HistoryCollector {
  /** Adds a frame. Returns the events that can be stored now, to be appended in this order. */
  push(frame: Frame): HistoryEvent[];
  /** Returns the events of what is still open, such as a message without an end. Call it after the last frame. */
  flush(): HistoryEvent[];
  /** Whether all frames have been turned into events, so that `flush` would return nothing. */
  readonly isWhole: boolean;
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
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the message being written and the waiting events
export function createHistory(session_id: string, stored?: WrittenHistory): HistoryCollector {
  let transcript = stored?.transcript ?? emptyTranscript(session_id);
  let draft: Draft | undefined;
  /** An aborted message waits for the next frame, which may be an interrupt with the reason. */
  let aborted: AssistantMessage | undefined;
  /** Incomplete parts of messages other than the draft, by position, with the part that they follow. */
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
    // A part that is written after its turn's end would be replayed into the next turn.
    const isBoundary =
      frame.type === "message.start" ||
      frame.type === "message.end" ||
      frame.type === "interrupt" ||
      frame.type === "turn.end";
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

type EndingField = "stop_reason" | "usage" | "stop_reason_raw" | "error" | "error_code";

/** The end of a model call: the fields that its frame and its stored message share. */
export function endingOf(
  frame: Pick<FrameOf<"message.end">, EndingField>,
): Pick<AssistantMessage, EndingField> {
  const { stop_reason, usage, stop_reason_raw, error, error_code } = frame;
  return {
    ...(stop_reason === undefined ? {} : { stop_reason }),
    ...(usage === undefined ? {} : { usage }),
    ...(stop_reason_raw === undefined ? {} : { stop_reason_raw }),
    ...(error === undefined ? {} : { error }),
    ...(error_code === undefined ? {} : { error_code }),
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
