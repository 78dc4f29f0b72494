import type { StopReason, Usage } from "../../model/messages/message.ts";
import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { usageOf } from "./ai-sdk-values.ts";
import type { EventReaderOptions } from "./format.ts";

/** A tool call of a stream. */
export interface AiSdkCall {
  name: string;
  input: string;
  /** The deltas of its input are text, not JSON. */
  is_text?: boolean;
  state: "started" | "called" | "ended";
  /** Its latest preliminary output, and the total length of shown preliminary outputs. */
  latest: string;
  shown: number;
}

/** What is known of the stream so far, and where its frames go. */
export interface AiSdkStream extends Pick<EventReaderOptions, "writer" | "idOf"> {
  readonly calls: Map<string, AiSdkCall>;
  /** Waiting calls and the outcomes of their answers, by approval id. */
  readonly approvals: Map<string, { call: string; outcome?: CallOutcome }>;
  response_id: string | undefined;
  model: string | undefined;
  usage: Usage | undefined;
  had_calls: boolean;
  /** The step has ended; the next events say how. */
  isEnding: boolean;
  isOver: boolean;
}

/** Begins the message of a step. */
export function beginMessage(stream: AiSdkStream): void {
  stream.writer.startMessage({
    ...(stream.response_id === undefined ? {} : { response_id: stream.response_id }),
    ...(stream.model === undefined ? {} : { model: stream.model }),
  });
  stream.had_calls = false;
}

/** Makes sure that a message is open for the content that follows. */
export function ensureMessage(stream: AiSdkStream): void {
  if (stream.isEnding) endStep(stream);
  if (stream.writer.message_id === undefined) beginMessage(stream);
}

/** Ends the message of a step. */
export function endStep(stream: AiSdkStream, stop_reason?: StopReason, raw?: string): void {
  stream.isEnding = false;
  const reason = stop_reason ?? (stream.had_calls ? "tool_use" : undefined);
  stream.writer.endMessage({
    ...(reason === undefined ? {} : { stop_reason: reason }),
    ...(raw === undefined ? {} : { stop_reason_raw: raw }),
    ...(stream.usage === undefined ? {} : { usage: stream.usage }),
  });
  stream.usage = undefined;
  stream.had_calls = false;
}

/** Writes a note. `part_id`: that of the note that it replaces. */
export function note(
  stream: AiSdkStream,
  title: DisplayText,
  data: unknown,
  part_id = stream.writer.nextPartId(),
): void {
  stream.writer.put({ type: "marker", kind: "note", part_id, ...titleFields(title), data });
}

/** Shows an unknown event. */
export function putUnknown(stream: AiSdkStream, event: JsonObject): void {
  const { writer } = stream;
  const title = titleFields(asText(event.type) ?? sourceTitle("event_without_type"));
  writer.put({ type: "unknown", part_id: writer.nextPartId(), raw: event, ...title });
}

/** Reads the metadata of a message, which may name the model and the usage. */
export function readMetadata(stream: AiSdkStream, value: unknown): void {
  const metadata = asObject(value);
  if (value === undefined || value === null) return;
  stream.model = asText(metadata?.model) ?? asText(metadata?.modelId) ?? stream.model;
  stream.usage = usageOf(metadata?.totalUsage) ?? usageOf(metadata?.usage) ?? stream.usage;
  note(stream, sourceTitle("message_metadata"), value);
}

/** Appends to a text or thought. */
export function appendText(
  stream: AiSdkStream,
  kind: "text" | "thinking",
  event: JsonObject,
  text: string | undefined,
): void {
  const id = asString(event.id);
  if (text === undefined || id === undefined) {
    putUnknown(stream, event);
    return;
  }
  ensureMessage(stream);
  stream.writer.appendText(kind, text, `${kind}:${id}`);
}
