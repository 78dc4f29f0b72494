import type { Frame } from "../frames/frame.ts";
import type { MediaPart, Part } from "../messages/part.ts";
import { textOf } from "../parts/content.ts";
import type { UiExtra } from "../parts/ui-extra.ts";
import { parseArguments, type ToolState } from "../transcript/tool-state.ts";
import type { TranscriptPart, TranscriptPartOf } from "../transcript/transcript.ts";
import { partId } from "../uuid.ts";
import { GROWING_LIMIT, OUTPUT_LIMIT, OVERVIEW_TEXT, OVERVIEW_VALUE, TEXT_LIMIT } from "./limits.ts";
import { carriesData, refer, wholePart } from "./media-references.ts";
import { createTruncator, endOf, type Truncator, truncateText } from "./truncator.ts";

/** A signature is only meaningful to its provider, so only its start is shown. */
const SIGNATURE_LIMIT = 256;

/**
 * A part as it is sent to clients. Texts are truncated at `TEXT_LIMIT`, or at `GROWING_LIMIT` while they grow, and outputs and
 * arguments at `OUTPUT_LIMIT`. `truncated` contains the full lengths, `output_end` the end of an output. Media are references.
 * The output of a paired call is only in its result. Idempotent.
 */
export function truncatePart(part: TranscriptPart): TranscriptPart {
  const truncator = createTruncator(part.truncated);
  switch (part.type) {
    case "thinking": {
      const cut = { ...part, thinking: truncator.text("thinking", part.thinking, limitOf(part.open)) };
      if (part.signature !== undefined) cut.signature = truncateText(part.signature, SIGNATURE_LIMIT);
      return truncator.apply(cut);
    }
    case "text":
      return truncator.apply({ ...part, text: truncator.text("text", part.text, limitOf(part.open)) });
    case "tool_call":
      return truncator.apply(truncateCall(part, truncator));
    case "tool_result":
      return truncator.apply(truncateResult(part, part.id, truncator));
    case "image":
    case "file":
      return wholePart(part);
    case "prompt":
      return truncator.apply({ ...part, parts: truncateParts(part.parts, part.id, truncator) });
    case "marker": {
      const cut = { ...part };
      if (part.text !== undefined) cut.text = truncator.text("text", part.text, TEXT_LIMIT);
      if (part.data !== undefined) cut.data = truncator.value("data", part.data, OUTPUT_LIMIT);
      return truncator.apply(cut);
    }
    case "unknown":
      return truncator.apply({ ...part, raw: truncator.value("raw", part.raw, OUTPUT_LIMIT) });
    // What the user approves is never truncated.
    case "request":
    case "step_start":
    case "step_finish":
      return part;
    default:
      return truncator.apply(truncateFields(part, truncator, TEXT_LIMIT, OUTPUT_LIMIT));
  }
}

/**
 * A part for views of a whole session that is too large for memory: its first lines, the last lines of an output, and small
 * values. The copy shares no text with the part.
 */
export function truncateForOverview(part: TranscriptPart): TranscriptPart {
  const truncator = createTruncator(part.truncated);
  const sent = truncatePart(part);
  const cut = truncateFields(sent, truncator, OVERVIEW_TEXT, OVERVIEW_VALUE);
  if (sent.type === "tool_result" && cut.type === "tool_result") {
    const end = sent.output_end ?? sent.output_text;
    if (end.length > OVERVIEW_TEXT) cut.output_end = endOf(end, end.length - OVERVIEW_TEXT);
  }
  // A truncated string would keep the whole text in memory.
  return JSON.parse(JSON.stringify(truncator.apply(cut)));
}

/** Truncates each text and each value of a part, by name. Limits in UTF-16 code units. */
function truncateFields(
  part: TranscriptPart,
  truncator: Truncator,
  text_limit: number,
  value_limit: number,
): TranscriptPart {
  const cut = Object.entries(part).map(([field, value]: [string, unknown]) => [
    field,
    typeof value === "string"
      ? field === "arguments_json"
        ? truncator.json(field, value, value_limit)
        : truncator.text(field, value, text_limit)
      : truncator.typed(field, value, value_limit),
  ]);
  // Each field keeps its type: texts and lists only become shorter.
  return Object.fromEntries(cut) as TranscriptPart;
}

const limitOf = (grows: boolean | undefined): number => (grows === true ? GROWING_LIMIT : TEXT_LIMIT);

function truncateParts(parts: readonly Part[], part_id: string, truncator: Truncator): Part[] {
  return refer(parts, part_id).map((part, position) => {
    const field = `parts.${position}`;
    switch (part.type) {
      case "text":
      case "thinking_text":
        return { ...part, text: truncator.text(field, part.text, TEXT_LIMIT) };
      case "tool_call":
        return { ...part, arguments_json: truncator.json(field, part.arguments_json, OUTPUT_LIMIT) };
      case "unknown":
        return { ...part, raw: truncator.value(field, part.raw, OUTPUT_LIMIT) };
      case "thinking_signature":
        return { ...part, signature: truncateText(part.signature, SIGNATURE_LIMIT) };
      case "image_url":
      case "image_file":
      case "file":
        return part;
      default:
        return part satisfies never;
    }
  });
}

/** Truncates a result's text and payload, in a part or a frame. */
function truncateResult<
  Result extends { output_text: string; output_end?: string; parts: MediaPart[]; ui_extra?: UiExtra },
>(result: Result, part_id: string, truncator: Truncator): Result {
  const cut = {
    ...result,
    output_text: truncator.text("output_text", result.output_text, OUTPUT_LIMIT),
    parts: carriesData(result.parts) ? refer(result.parts, part_id) : result.parts,
  };
  if (cut.output_text.length < result.output_text.length)
    cut.output_end = endOf(result.output_text, cut.output_text.length);
  if (result.ui_extra) {
    const ui_extra = truncator.typed("ui_extra", result.ui_extra, TEXT_LIMIT);
    if (ui_extra) cut.ui_extra = ui_extra;
    else delete cut.ui_extra;
  }
  return cut;
}

function truncateCall(
  part: TranscriptPartOf<"tool_call">,
  truncator: Truncator,
): TranscriptPartOf<"tool_call"> {
  const arguments_json = truncator.json("arguments_json", part.arguments_json, OUTPUT_LIMIT);
  const cut = { ...part, arguments_json, state: truncateState(part, arguments_json, truncator) };
  if (part.progress !== undefined) {
    const grows = part.state.status === "pending" || part.state.status === "running";
    cut.progress = truncator.text("progress", part.progress, limitOf(grows));
  }
  return cut;
}

function truncateState(
  part: TranscriptPartOf<"tool_call">,
  arguments_json: string,
  truncator: Truncator,
): ToolState {
  const state = { ...part.state };
  const shortened = arguments_json !== part.arguments_json;
  if (shortened) state.input = parseArguments(arguments_json);
  if ("metadata" in state && state.metadata !== undefined) {
    state.metadata = truncator.typed("state.metadata", state.metadata, OUTPUT_LIMIT) ?? {};
  }
  // The result has the same output as its call's end, and is on every page with the call.
  const paired = part.result_index !== undefined;
  switch (state.status) {
    case "pending":
      return shortened ? { ...state, raw: arguments_json } : state;
    case "running":
      return state;
    case "completed": {
      const { attachments, ...rest } = state;
      if (paired) return { ...rest, output: "" };
      const output = truncator.text("state.output", state.output, OUTPUT_LIMIT);
      return attachments
        ? { ...rest, output, attachments: refer(attachments, part.id) }
        : { ...rest, output };
    }
    case "error":
      return { ...state, error: paired ? "" : truncator.text("state.error", state.error, OUTPUT_LIMIT) };
    case "aborted": {
      const { reason, ...rest } = state;
      if (paired || reason === undefined) return rest;
      return { ...rest, reason: truncator.text("state.reason", reason, OUTPUT_LIMIT) };
    }
    default:
      return state satisfies never;
  }
}
/**
 * A frame as it is sent to clients, from one that was addressed by the fold (`accumulateAndAddress`). Folding truncated frames
 * gives the same parts as truncating the folded ones.
 */
export function truncateFrame(frame: Frame): Frame {
  const truncator = createTruncator(frame.truncated);
  switch (frame.type) {
    case "message.part_end": {
      const cut = { ...frame };
      if (frame.text !== undefined) cut.text = truncator.text("text", frame.text, TEXT_LIMIT);
      if (frame.signature !== undefined) cut.signature = truncateText(frame.signature, SIGNATURE_LIMIT);
      return truncator.apply(cut);
    }
    case "message.tool_call":
      return truncator.apply({
        ...frame,
        arguments_json: truncator.json("arguments_json", frame.arguments_json, OUTPUT_LIMIT),
      });
    case "message.tool_result":
      return truncator.apply(truncateResult(frame, frame.part_id ?? frame.session_id, truncator));
    case "message.image":
    case "message.file":
      return frame.url?.startsWith("data:") ? { ...frame, url: `attachment:${frame.part_id}:0` } : frame;
    case "developer.message": {
      // The part shows one text, so the joined text is truncated.
      const text = textOf(frame.parts);
      const cut = truncator.text("text", text, TEXT_LIMIT);
      if (cut.length === text.length) return frame;
      const others = frame.parts.filter(({ type }) => type !== "text");
      return truncator.apply({ ...frame, parts: [{ type: "text", text: cut }, ...others] });
    }
    case "user.message":
      return truncator.apply({
        ...frame,
        parts: truncateParts(frame.parts, frame.part_id ?? partId(frame.message_id, 0), truncator),
      });
    case "message.legacy": {
      const message = { ...frame.message };
      message.content = truncator.text("content", message.content, TEXT_LIMIT);
      if (message.thinking !== undefined) {
        message.thinking = truncator.text("thinking", message.thinking, TEXT_LIMIT);
      }
      return truncator.apply({ ...frame, message });
    }
    case "marker": {
      const cut = { ...frame };
      if (frame.text !== undefined) cut.text = truncator.text("text", frame.text, TEXT_LIMIT);
      if (frame.data !== undefined) cut.data = truncator.value("data", frame.data, OUTPUT_LIMIT);
      return truncator.apply(cut);
    }
    case "error":
      return truncator.apply({ ...frame, message: truncator.text("message", frame.message, TEXT_LIMIT) });
    case "unknown":
      return truncator.apply({ ...frame, raw: truncator.value("raw", frame.raw, OUTPUT_LIMIT) });
    case "task.metadata":
      return truncator.apply({
        ...frame,
        metadata: truncator.value("metadata", frame.metadata, OUTPUT_LIMIT),
      });
    case "message.delta":
    case "message.tool_progress": {
      if (frame.offset === undefined) return frame;
      return truncator.apply({
        ...frame,
        text: truncator.continued("text", frame.text, frame.offset, GROWING_LIMIT),
      });
    }
    case "message.start":
    case "message.part_start":
    case "message.tool_call_start":
    case "message.end":
    case "message.record":
    case "message.retract":
    case "request.open":
    case "request.close":
    case "todo.change":
    case "turn.start":
    case "turn.end":
    case "turn.retract":
    case "task.start":
    case "task.finish":
    case "interrupt":
    case "context.usage":
    case "session.update":
    case "end":
      return frame;
    default:
      return frame satisfies never;
  }
}
