import type { Frame } from "../frames/frame.ts";
import { reasonOf } from "../text/display-text.ts";
import { foldTitle } from "../text/fold-titles.ts";
import { titleFields } from "../text/titles.ts";
import { partId } from "../uuid.ts";
import type { HistoryEvent } from "./history.ts";
import { millisecondsOf, replayAssistant, replayParts } from "./message-frames.ts";

type Message = Extract<HistoryEvent, { role: string }>;
type EventOf<Type extends Exclude<HistoryEvent, Message>["type"]> = Extract<HistoryEvent, { type: Type }>;
type Common = { session_id: string; at: number };
type Emit = (...together: Frame[]) => void;

/** The frames of an event in groups: one group per part, and one for each frame without a part. */
export function replayEvent(event: HistoryEvent, session_id: string, count: number): Frame[][] {
  const groups: Frame[][] = [];
  emitEvent(event, session_id, count, (...together) => groups.push(together));
  return groups;
}

function emitEvent(event: HistoryEvent, session_id: string, count: number, emit: Emit): void {
  if ("role" in event) {
    emitMessage(event, session_id, emit);
    return;
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
    case "task_metadata":
      emitMetadata(event, common, emit);
      return;
    case "error":
      emitError(event, common, emit);
      return;
    case "compaction":
    case "model_switch":
    case "rewind":
    case "marker":
      emitMarker(event, common, emit);
      return;
    case "sub_agent_spawn":
      emitRun(event, common, emit);
      return;
    case "unknown_record":
      emitUnknown(event, common, emit);
      return;
    case "retract":
      emitRetract(event, common, emit);
      return;
    case "turn_start":
      emit({ ...common, type: "turn.start", turn_id: event.turn_id });
      return;
    case "turn_end":
      emitTurnEnd(event, common, emit);
      return;
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

function emitMessage(event: Message, session_id: string, emit: Emit): void {
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
        ...(event.title_code === undefined ? {} : { title_code: event.title_code }),
      });
      return;
    case "system":
      emit({
        ...common,
        type: "developer.message",
        message_id: event.id,
        parts: event.parts,
        ...titleFields(foldTitle("system_prompt")),
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

function emitError(event: EventOf<"error">, common: Common, emit: Emit): void {
  const { part_id, message, title_code, can_retry, data } = event;
  emit({
    ...common,
    type: "error",
    ...(part_id === undefined ? {} : { part_id }),
    message,
    ...(title_code === undefined ? {} : { title_code }),
    ...(can_retry === undefined ? {} : { can_retry }),
    ...(data === undefined ? {} : { data }),
  });
}

function emitMarker(
  event: EventOf<"compaction" | "model_switch" | "rewind" | "marker">,
  common: Common,
  emit: Emit,
): void {
  const { part_id, message_id, title, title_code, text, text_code, data } = event;
  emit({
    ...common,
    type: "marker",
    kind: event.type === "marker" ? event.kind : event.type,
    part_id,
    ...(message_id === undefined ? {} : { message_id }),
    title,
    ...(title_code === undefined ? {} : { title_code }),
    ...(text === undefined ? {} : { text }),
    ...(text_code === undefined ? {} : { text_code }),
    ...(data === undefined ? {} : { data }),
  });
}

function emitUnknown(event: EventOf<"unknown_record">, common: Common, emit: Emit): void {
  const { part_id, raw, title, title_code, error } = event;
  emit({
    ...common,
    type: "unknown",
    part_id,
    raw,
    ...(title === undefined ? {} : { title }),
    ...(title_code === undefined ? {} : { title_code }),
    ...(error === undefined ? {} : { error }),
  });
}

function emitRetract(event: EventOf<"retract">, common: Common, emit: Emit): void {
  const { message_id, part_id, turn_id } = event;
  const reason = reasonOf(event);
  if (turn_id !== undefined) emit({ ...common, type: "turn.retract", turn_id, ...reason });
  if (message_id !== undefined) {
    emit({
      ...common,
      type: "message.retract",
      message_id,
      ...(part_id === undefined ? {} : { part_id }),
      ...reason,
    });
  }
}

function emitMetadata(event: EventOf<"task_metadata">, common: Common, emit: Emit): void {
  const { tool_call_id, metadata } = event;
  emit({
    ...common,
    type: "task.metadata",
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    metadata,
  });
}

function emitRun(event: EventOf<"sub_agent_spawn">, common: Common, emit: Emit): void {
  const { tool_call_id, sub_agent } = event;
  emit({
    ...common,
    type: "task.start",
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    sub_agent,
  });
}

function emitTurnEnd(event: EventOf<"turn_end">, common: Common, emit: Emit): void {
  const { turn_id, status, inferred } = event;
  emit({
    ...common,
    type: "turn.end",
    ...(turn_id === undefined ? {} : { turn_id }),
    ...(status === undefined ? {} : { status }),
    ...(inferred === undefined ? {} : { inferred }),
  });
}
