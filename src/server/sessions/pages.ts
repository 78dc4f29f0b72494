import type { Frame } from "../../model/frames/frame.ts";
import type { MediaPart, Part } from "../../model/messages/part.ts";
import { textOf } from "../../model/parts/content.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { SessionSummary } from "../../model/session.ts";
import { unpairedOf } from "../../model/transcript/accumulate.ts";
import { parseArguments, type ToolState } from "../../model/transcript/tool-state.ts";
import type { TranscriptPart, TranscriptPartOf, Truncated } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { partId } from "../../model/uuid.ts";
import {
  GROWING_LIMIT,
  OUTPUT_END,
  OUTPUT_LIMIT,
  PAGE_SIZE,
  type PlacedPart,
  type SessionPage,
  TEXT_LIMIT,
} from "../../protocol.ts";

/** Approximate maximum of JSON bytes per page. A page has at least `PAGE_MINIMUM` parts. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_MINIMUM = 8;
/** A signature is only meaningful to its provider, so only its start is shown. */
const SIGNATURE_LIMIT = 256;

/** A part without truncation. Media are still replaced by references. */
export function wholePart(part: TranscriptPart): TranscriptPart {
  switch (part.type) {
    case "image":
      return { ...part, media: refer([part.media], part.id)[0] ?? part.media };
    case "file":
      return { ...part, media: refer([part.media], part.id)[0] ?? part.media };
    case "prompt":
      return { ...part, parts: refer(part.parts, part.id) };
    case "tool_result":
      return { ...part, parts: refer(part.parts, part.id) };
    case "tool_call": {
      const { state } = part;
      if (state.status !== "completed" || !state.attachments) return part;
      return { ...part, state: { ...state, attachments: refer(state.attachments, part.id) } };
    }
    default:
      return part;
  }
}

/** The media of a part, in order: `n` in `attachment:<part id>:<n>` is an index into them. */
export function mediaOf(part: TranscriptPart): Exclude<MediaPart, { type: "unknown" }>[] {
  switch (part.type) {
    case "image":
    case "file":
      return [part.media];
    case "prompt":
    case "tool_result":
      return (part.parts as readonly Part[]).filter(isMedia);
    case "tool_call":
      return part.state.status === "completed" ? [...(part.state.attachments ?? [])] : [];
    default:
      return [];
  }
}

function isMedia(part: Part): part is Exclude<MediaPart, { type: "unknown" }> {
  return part.type === "image_url" || part.type === "image_file" || part.type === "file";
}

/** Replaces data URLs of media with references. Clients fetch the bytes when they show them. */
function refer<Item extends Part>(parts: readonly Item[], part_id: string): Item[] {
  let n = -1;
  return parts.map((part) => {
    if (!isMedia(part)) return part;
    n++;
    return "url" in part && part.url.startsWith("data:")
      ? { ...part, url: `attachment:${part_id}:${n}` }
      : part;
  });
}

function carriesData(parts: readonly Part[]): boolean {
  return parts.some((part) => isMedia(part) && "url" in part && part.url.startsWith("data:"));
}

/** The first `limit` UTF-16 code units, or one fewer so as not to split a surrogate pair. */
export function truncateText(text: string, limit: number): string {
  if (text.length < limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/**
 * The last complete lines of a text that begin at `from` or later, of at most `OUTPUT_END` code units. If no line begins there,
 * the end of the last line. Does not split a surrogate pair.
 */
function endOf(text: string, from: number): string {
  const start = Math.max(from, text.length - OUTPUT_END);
  const line = text.indexOf("\n", start - 1) + 1;
  if (line > 0 && line < text.length) return text.slice(line);
  return text.slice((text.codePointAt(start - 1) ?? 0) > 0xffff ? start + 1 : start);
}

/**
 * A JSON value of the same shape whose text has at most `limit` code units: long strings, lists and objects are shortened at the
 * end. `undefined`: it still does not fit.
 */
function shrink(value: unknown, limit: number): unknown {
  for (let strings = limit / 2, members = 400; strings >= 16; strings /= 4, members /= 3) {
    const smaller = shrinkOnce(value, Math.floor(strings), Math.max(2, Math.floor(members)), 0);
    if (jsonLength(smaller) <= limit) return smaller;
  }
  return undefined;
}

function shrinkOnce(value: unknown, strings: number, members: number, depth: number): unknown {
  if (typeof value === "string") return truncateText(value, strings);
  if (typeof value !== "object" || value === null) return value;
  if (depth > 64) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) {
    return value.slice(0, members).map((item) => shrinkOnce(item, strings, members, depth + 1));
  }
  const entries = Object.entries(value).slice(0, members);
  return Object.fromEntries(
    entries.map(([key, item]) => [truncateText(key, strings), shrinkOnce(item, strings, members, depth + 1)]),
  );
}

/** Length of a value's JSON; `Infinity` if it is nested too deeply to serialize. */
function jsonLength(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Records what is truncated in a part or frame. Keeps the records of an earlier truncation. */
function createTruncator(known: Truncated | undefined) {
  const lengths: Record<string, number> = {};
  return {
    text(field: string, text: string, limit: number): string {
      const cut = truncateText(text, limit);
      if (cut.length < text.length) lengths[field] = text.length;
      return cut;
    },
    /** Truncates text that continues a text of `offset` code units. `limit` applies to the whole. */
    continued(field: string, text: string, offset: number, limit: number): string {
      const end = offset + text.length;
      if (end < limit) return text;
      const cut = offset < limit ? truncateText(text, limit - offset) : "";
      if (cut.length < text.length) lengths[field] = end;
      return cut;
    },
    /** Truncates JSON text so that it stays valid JSON. */
    json(field: string, text: string, limit: number): string {
      if (text.length <= limit) return text;
      lengths[field] = text.length;
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return truncateText(text, limit);
      }
      return JSON.stringify(shrink(value, limit) ?? (Array.isArray(value) ? [] : {}));
    },
    value(field: string, value: unknown, limit: number): unknown {
      const length = jsonLength(value);
      if (length <= limit) return value;
      lengths[field] = Number.isFinite(length) ? length : limit;
      return shrink(value, limit) ?? null;
    },
    /** Truncates a typed value. The result still fits its schema, since only texts and lists are shortened. */
    typed<Value>(field: string, value: Value, limit: number): Value | undefined {
      const length = jsonLength(value);
      if (length <= limit) return value;
      lengths[field] = Number.isFinite(length) ? length : limit;
      return shrink(value, limit) as Value | undefined;
    },
    apply<Item extends { truncated?: Truncated }>(item: Item): Item {
      return Object.keys(lengths).length > 0 ? { ...item, truncated: { ...lengths, ...known } } : item;
    },
  };
}
type Truncator = ReturnType<typeof createTruncator>;

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
      return truncator.apply(truncateFields(part, truncator));
  }
}

/** Truncates a part whose kind has no limits of its own: each text and each value, by name. */
function truncateFields(part: TranscriptPart, truncator: Truncator): TranscriptPart {
  const cut = Object.entries(part).map(([field, value]: [string, unknown]) => [
    field,
    typeof value === "string"
      ? truncator.text(field, value, TEXT_LIMIT)
      : truncator.typed(field, value, OUTPUT_LIMIT),
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

/** Truncated parts `[from, to)`, up to about a megabyte, with the results of their calls wherever they are. */
export function placedParts(transcript: Transcript, from: number, to: number): PlacedPart[] {
  const start = Math.max(0, from);
  const end = Math.min(transcript.parts.length, to, start + PAGE_SIZE);
  const page: PlacedPart[] = [];
  let bytes = 0;
  let index = start;
  for (; index < end && (bytes < PAGE_BYTES || page.length < PAGE_MINIMUM); index++) {
    const part = transcript.parts.at(index);
    if (!part) continue;
    const placed = { index, part: truncatePart(part) };
    bytes += jsonLength(placed);
    page.push(placed);
  }
  return withResults(transcript, page, start, index);
}

function withResults(transcript: Transcript, page: PlacedPart[], start: number, end: number): PlacedPart[] {
  const elsewhere: PlacedPart[] = [];
  for (const { part } of page) {
    if (part.type !== "tool_call" || part.result_index === undefined) continue;
    const index = part.result_index;
    if (index >= start && index < end) continue;
    const result = transcript.parts.at(index);
    if (result) elsewhere.push({ index, part: truncatePart(result) });
  }
  return elsewhere.length > 0 ? [...page, ...elsewhere].sort((one, other) => one.index - other.index) : page;
}

/** The state of a session with its last parts: at most `PAGE_SIZE` parts and about a megabyte. */
export function sessionPage(session: SessionSummary, transcript: Transcript): SessionPage {
  const tail: PlacedPart[] = [];
  let bytes = 0;
  let from = transcript.parts.length;
  while (from > 0 && tail.length < PAGE_SIZE && (bytes < PAGE_BYTES || tail.length < PAGE_MINIMUM)) {
    from--;
    const part = transcript.parts.at(from);
    if (!part) continue;
    const placed = { index: from, part: truncatePart(part) };
    bytes += jsonLength(placed);
    tail.push(placed);
  }
  const page: SessionPage = {
    session,
    turns: [...transcript.turns].filter((turn) => turn !== undefined),
    part_count: transcript.parts.length,
    parts: withResults(transcript, tail.reverse(), from, transcript.parts.length),
    ...unpairedOf(transcript),
    open: { ...transcript.open },
  };
  if (transcript.usage) page.usage = transcript.usage;
  if (transcript.todos) page.todos = [...transcript.todos];
  if (transcript.context) page.context = { ...transcript.context };
  return page;
}
