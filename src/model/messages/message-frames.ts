import type { Frame } from "../frames/frame.ts";
import { partId } from "../uuid.ts";
import { endingOf } from "./history-collector.ts";
import type { AssistantMessage } from "./message.ts";
import type { Part, ThinkingSignaturePart } from "./part.ts";

/** A stored time in milliseconds; 0 if it is not a valid time. */
export function millisecondsOf(created_at: string): number {
  const at = Date.parse(created_at);
  return Number.isNaN(at) ? 0 : at;
}

/** Emits the frames of a model's message. */
export function replayAssistant(
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

/** Emits the frames of a message's parts. */
export function replayParts(
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
  const unsigned: number[] = [];
  for (const [position, part] of parts.entries()) {
    if (part.type === "thinking_text") unsigned.push(position);
    else if (part.type === "thinking_signature") {
      const thought = unsigned.at(-1);
      if (thought === undefined || (part.format === "google" && thought !== position - 1)) continue;
      unsigned.pop();
      signatures.set(thought, part);
    }
  }
  return signatures;
}
