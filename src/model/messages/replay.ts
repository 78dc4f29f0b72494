import type { Frame } from "../frames/frame.ts";
import { accumulate } from "../transcript/accumulate.ts";
import { emptyTranscript } from "../transcript/transcript-state.ts";
import { partId } from "../uuid.ts";
import type { HistoryEvent } from "./history.ts";
import { endingOf } from "./history-collector.ts";
import type { AssistantMessage } from "./message.ts";
import type { Part, ThinkingSignaturePart } from "./part.ts";

/**
 * The frames of a history. Folded, they give the parts that existed when the history was written. Interrupts are derived from
 * `aborted`. Unreadable lines become `unknown` frames in their place.
 */
export function framesOf(history: readonly HistoryEvent[], session_id: string): Frame[] {
  const replay = createReplay(session_id);
  const frames = history.flatMap((event) => replay.push(event));
  return [...frames, ...replay.end()];
}

/** `framesOf`, one event at a time. */
export interface Replay {
  push(event: HistoryEvent): Frame[];
  /** Returns what was waiting for an event that never came. */
  end(): Frame[];
  /** Number of parts so far. */
  readonly part_count: number;
}

export function createReplay(session_id: string): Replay {
  let frames: Frame[] = [];
  let count = 0;
  let transcript = emptyTranscript(session_id);
  /** Events that follow a part which has not appeared yet, in order. */
  const waiting = new Map<string, HistoryEvent[]>();
  const seen = new Set<string>();

  /** Emits the frames of one part, or of none. Returns the events that follow this part, which is now complete. */
  const emit = (together: readonly Frame[]): HistoryEvent[] => {
    frames.push(...together);
    count += together.length;
    const ready: HistoryEvent[] = [];
    const from = transcript.parts.length;
    transcript = together.reduce(accumulate, transcript);
    for (let position = from; position < transcript.parts.length; position += 1) {
      const id = transcript.parts.at(position)?.id;
      if (id === undefined) continue;
      seen.add(id);
      for (const event of waiting.get(id) ?? []) ready.push(event);
      waiting.delete(id);
    }
    return ready;
  };
  /**
   * Replays an event, with the events that follow its parts between its frames. Iterative, because thousands of events may follow
   * each other.
   */
  const replay = (first: HistoryEvent): void => {
    const left: (HistoryEvent | Frame[])[] = [first];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const within = Array.isArray(next) ? emit(next) : replayEvent(next, session_id, count);
      for (const one of within.reverse()) left.push(one);
    }
  };
  const releaseAll = (): void => {
    for (const [id, events] of waiting) {
      waiting.delete(id);
      for (const event of events) replay(event);
    }
  };
  const take = (): Frame[] => {
    const taken = frames;
    frames = [];
    return taken;
  };
  return {
    push(event) {
      const behind = "after_part_id" in event ? event.after_part_id : undefined;
      if (behind !== undefined && !seen.has(behind)) {
        const events = waiting.get(behind);
        if (events === undefined) waiting.set(behind, [event]);
        else events.push(event);
        return [];
      }
      // If a message was never stored, the events that follow its parts are released at the next turn.
      if ("role" in event && event.role === "user" && behind === undefined) releaseAll();
      replay(event);
      return take();
    },
    end() {
      releaseAll();
      return take();
    },
    get part_count() {
      return transcript.parts.length;
    },
  };
}

function millisecondsOf(created_at: string): number {
  const at = Date.parse(created_at);
  return Number.isNaN(at) ? 0 : at;
}

/** The frames of an event: those of each part together, and each frame without a part on its own. */
function replayEvent(event: HistoryEvent, session_id: string, count: number): Frame[][] {
  const groups: Frame[][] = [];
  tellEvent(event, session_id, count, (...together) => groups.push(together));
  return groups;
}

function tellEvent(
  event: HistoryEvent,
  session_id: string,
  count: number,
  emit: (...together: Frame[]) => void,
): void {
  if ("role" in event) {
    const common = { session_id, at: millisecondsOf(event.created_at) };
    if (!("parts" in event) || event.parts === undefined) {
      if (event.role === "user" || event.role === "assistant") {
        emit({ ...common, type: "message.legacy", message: event });
      }
      return;
    }
    switch (event.role) {
      case "assistant":
        replayAssistant(event, session_id, emit);
        return;
      case "user":
        emit({
          ...common,
          type: "user.message",
          message_id: event.id,
          parts: event.parts,
          ...(event.part_id === undefined ? {} : { part_id: event.part_id }),
          ...(event.queued === undefined ? {} : { queued: event.queued }),
          ...(event.origin === undefined ? {} : { origin: event.origin }),
        });
        return;
      case "developer":
        emit({
          ...common,
          type: "developer.message",
          message_id: event.id,
          parts: event.parts,
          ...(event.part_id === undefined ? {} : { part_id: event.part_id }),
          ...(event.title === undefined ? {} : { title: event.title }),
        });
        return;
      case "system":
        emit({
          ...common,
          type: "developer.message",
          message_id: event.id,
          parts: event.parts,
          title: "System prompt",
          ...(event.part_id === undefined ? {} : { part_id: event.part_id }),
        });
        return;
      case "tool":
        emit({
          ...common,
          type: "message.tool_result",
          message_id: event.id,
          tool_call_id: event.call_id,
          ...(event.tool_name === "" ? {} : { tool_name: event.tool_name }),
          is_error: event.status === "error",
          status: event.status,
          output_text: event.output_text,
          parts: event.parts,
          ...(event.ui_extra === undefined ? {} : { ui_extra: event.ui_extra }),
          ...(event.outcome === undefined ? {} : { outcome: event.outcome }),
          ...(event.permission === undefined ? {} : { permission: event.permission }),
          ...(event.background === undefined ? {} : { background: event.background }),
          ...(event.part_id === undefined ? {} : { part_id: event.part_id }),
        });
        if (event.task_metadata !== undefined) {
          const { call_id: tool_call_id, task_metadata: metadata } = event;
          emit({ ...common, type: "task.metadata", tool_call_id, metadata });
        }
        return;
      default:
        event satisfies never;
        return;
    }
  }
  if (event.type === "unknown") {
    emit({
      session_id,
      at: 0,
      type: "unknown",
      part_id: partId(session_id, count),
      raw: event.line,
      error: "This line of the history could not be read",
    });
    return;
  }
  const common = { session_id, at: event.at };
  switch (event.type) {
    case "task_metadata": {
      const { tool_call_id, metadata } = event;
      emit({
        ...common,
        type: "task.metadata",
        ...(tool_call_id === undefined ? {} : { tool_call_id }),
        metadata,
      });
      return;
    }
    case "error": {
      const { part_id, message, can_retry, data } = event;
      emit({
        ...common,
        type: "error",
        ...(part_id === undefined ? {} : { part_id }),
        message,
        ...(can_retry === undefined ? {} : { can_retry }),
        ...(data === undefined ? {} : { data }),
      });
      return;
    }
    case "compaction":
    case "model_switch":
    case "rewind":
    case "marker": {
      const { part_id, message_id, title, text, data } = event;
      emit({
        ...common,
        type: "marker",
        kind: event.type === "marker" ? event.kind : event.type,
        part_id,
        ...(message_id === undefined ? {} : { message_id }),
        title,
        ...(text === undefined ? {} : { text }),
        ...(data === undefined ? {} : { data }),
      });
      return;
    }
    case "sub_agent_spawn": {
      const { tool_call_id, sub_agent } = event;
      emit({
        ...common,
        type: "task.start",
        ...(tool_call_id === undefined ? {} : { tool_call_id }),
        sub_agent,
      });
      return;
    }
    case "unknown_record": {
      const { part_id, raw, title, error } = event;
      emit({
        ...common,
        type: "unknown",
        part_id,
        raw,
        ...(title === undefined ? {} : { title }),
        ...(error === undefined ? {} : { error }),
      });
      return;
    }
    case "retract": {
      const { message_id, part_id, turn_id, reason } = event;
      if (turn_id !== undefined) emit({ ...common, type: "turn.retract", turn_id, reason });
      if (message_id !== undefined) {
        emit({
          ...common,
          type: "message.retract",
          message_id,
          ...(part_id === undefined ? {} : { part_id }),
          reason,
        });
      }
      return;
    }
    case "turn_start":
      emit({ ...common, type: "turn.start", turn_id: event.turn_id });
      return;
    case "turn_end": {
      const { turn_id, status } = event;
      emit({
        ...common,
        type: "turn.end",
        ...(turn_id === undefined ? {} : { turn_id }),
        ...(status === undefined ? {} : { status }),
      });
      return;
    }
    case "request":
      emit({ ...common, type: "request.open", request: event.request });
      return;
    case "request_close": {
      const { request_id, outcome, answer } = event;
      emit({
        ...common,
        type: "request.close",
        request_id,
        outcome,
        ...(answer === undefined ? {} : { answer }),
      });
      return;
    }
    case "todo_change":
      emit({ ...common, type: "todo.change", todos: event.todos });
      return;
    case "context_usage": {
      const { tokens, limit } = event;
      emit({ ...common, type: "context.usage", tokens, ...(limit === undefined ? {} : { limit }) });
      return;
    }
    case "session_update":
      emit({ ...common, type: "session.update", patch: event.patch });
      return;
    case "addendum":
      replayParts(event.parts, event.message_id, { session_id, at: event.at }, emit);
      return;
    case "revision":
      emit({ ...event.frame, session_id });
      return;
    default:
      event satisfies never;
  }
}

function replayAssistant(
  message: AssistantMessage,
  session_id: string,
  emit: (...together: Frame[]) => void,
): void {
  const common = { session_id, at: millisecondsOf(message.created_at) };
  const { id: message_id, interrupt, model, response_id } = message;
  const interruption = {
    session_id,
    type: "interrupt" as const,
    at: interrupt?.at ?? common.at,
    ...(interrupt?.reason === undefined ? {} : { reason: interrupt.reason }),
  };
  if (interrupt?.alone === true) {
    emit({ ...interruption, ...(interrupt.part_id === undefined ? {} : { part_id: interrupt.part_id }) });
    return;
  }
  if (message.implicit !== true) {
    emit({
      ...common,
      type: "message.start",
      message_id,
      ...(model === undefined ? {} : { model }),
      ...(response_id === undefined ? {} : { response_id }),
      ...(message.effort === undefined ? {} : { effort: message.effort }),
      ...(message.inherited === undefined ? {} : { inherited: message.inherited }),
    });
  }
  // Parts that only the provider's record has, and that were not shown, have no id.
  const isShown = (part: Part) => message.provider === undefined || part.part_id !== undefined;
  replayParts(message.parts, message_id, common, emit, isShown);
  if (message.provider !== undefined) emit({ ...common, type: "message.record", message });
  if (interrupt?.part_id !== undefined) {
    emit({ ...interruption, part_id: interrupt.part_id });
  } else if (message.unfinished !== true) {
    const at = message.ended_at ?? common.at;
    emit({ ...common, at, type: "message.end", message_id, ...endingOf(message) });
    if (interrupt?.reason !== undefined) emit(interruption);
  }
}

function replayParts(
  parts: readonly Part[],
  message_id: string,
  message: { session_id: string; at: number },
  emit: (...together: Frame[]) => void,
  isShown: (part: Part) => boolean = () => true,
): void {
  const signatures = signaturesOf(parts);
  for (const [index, part] of parts.entries()) {
    if (!isShown(part)) continue;
    const common = { session_id: message.session_id, at: part.at ?? message.at };
    const ended = { ...common, at: part.ended_at ?? common.at };
    const part_id = part.part_id ?? partId(message_id, index);
    switch (part.type) {
      case "text":
        emit(
          {
            ...common,
            type: "message.part_start",
            kind: "text",
            part_id,
            message_id,
            ...(part.phase === undefined ? {} : { phase: part.phase }),
          },
          { ...ended, type: "message.part_end", part_id, text: part.text },
        );
        break;
      case "thinking_text": {
        const proof = signatures.get(index);
        emit(
          { ...common, type: "message.part_start", kind: "thinking", part_id, message_id },
          {
            ...ended,
            type: "message.part_end",
            part_id,
            text: part.text,
            ...(part.hidden === undefined ? {} : { hidden: part.hidden }),
            ...(proof === undefined ? {} : { signature: proof.signature }),
            ...(proof?.format === undefined ? {} : { format: proof.format }),
          },
        );
        break;
      }
      case "thinking_signature":
        // Emitted with its thought. Without one it is kept but not shown.
        break;
      case "tool_call": {
        const { call_id: tool_call_id, tool_name, arguments_json } = part;
        const call = { ...common, part_id, message_id, tool_call_id, tool_name };
        const started = { ...call, type: "message.tool_call_start" as const };
        const whole = { ...call, ...ended, type: "message.tool_call" as const, arguments_json };
        if (part.unfinished === true) emit(started);
        else if (ended.at === call.at) emit(whole);
        else emit(started, whole);
        break;
      }
      case "image_url":
        emit({ ...common, type: "message.image", part_id, message_id, url: part.url });
        break;
      case "image_file": {
        const { file_path, mime_type, byte_size } = part;
        emit({
          ...common,
          type: "message.image",
          part_id,
          message_id,
          file_path,
          ...(mime_type === undefined ? {} : { mime_type }),
          ...(byte_size === undefined ? {} : { byte_size }),
        });
        break;
      }
      case "file": {
        const { mime, url, filename } = part;
        emit({
          ...common,
          type: "message.file",
          part_id,
          message_id,
          mime,
          url,
          ...(filename === undefined ? {} : { filename }),
        });
        break;
      }
      case "unknown":
        emit({ ...common, type: "unknown", part_id, raw: part.raw });
        break;
      default:
        part satisfies never;
    }
  }
}

/**
 * The signatures of a message's thoughts, by position. Each belongs to the nearest preceding thought without one; Google's belong
 * to the part directly before them.
 */
function signaturesOf(parts: readonly Part[]): ReadonlyMap<number, ThinkingSignaturePart> {
  const signatures = new Map<number, ThinkingSignaturePart>();
  const untaken: number[] = [];
  for (const [position, part] of parts.entries()) {
    if (part.type === "thinking_text") untaken.push(position);
    else if (part.type === "thinking_signature") {
      const thought = untaken.at(-1);
      if (thought === undefined || (part.format === "google" && thought !== position - 1)) continue;
      untaken.pop();
      signatures.set(thought, part);
    }
  }
  return signatures;
}
