import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { textFields } from "../../model/text/display-text.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { messageFields } from "../../model/text/titles.ts";
import { putResult } from "./ai-sdk-calls.ts";
import {
  type AiSdkStream,
  appendText,
  beginMessage,
  endStep,
  ensureMessage,
  note,
  putUnknown,
  readMetadata,
} from "./ai-sdk-stream.ts";
import { partOf, STOP_REASONS, signatureOf } from "./ai-sdk-values.ts";

/** Reads an event that belongs neither to a call nor to data. */
export function pushEvent(stream: AiSdkStream, type: string, event: JsonObject): void {
  const { writer } = stream;
  switch (type) {
    case "start":
      stream.response_id = asText(event.messageId);
      readMetadata(stream, event.messageMetadata);
      return;
    case "start-step":
      if (stream.isEnding) endStep(stream);
      beginMessage(stream);
      return;
    case "finish-step":
      writer.endPart();
      stream.isEnding = true;
      return;
    case "reset-step":
      resetStep(stream);
      return;
    case "text-start":
      appendText(stream, "text", event, "");
      return;
    case "text-delta":
      appendText(stream, "text", event, asString(event.delta));
      return;
    case "reasoning-start":
      appendText(stream, "thinking", event, "");
      return;
    case "reasoning-delta":
      appendText(stream, "thinking", event, asString(event.delta));
      return;
    case "text-end":
    case "reasoning-end": {
      const kind = type === "text-end" ? "text" : "thinking";
      writer.endPart(`${kind}:${asString(event.id) ?? ""}`, kind === "thinking" ? signatureOf(event) : {});
      if (event.citations !== undefined) note(stream, sourceTitle("citations"), event.citations);
      return;
    }
    case "file":
    case "reasoning-file":
      readFile(stream, event);
      return;
    case "source-url":
    case "source-document":
      note(
        stream,
        sourceTitle("source", { source: asText(event.title) ?? asText(event.url) ?? asText(event.sourceId) }),
        event,
      );
      return;
    case "custom":
      note(stream, asText(event.kind) ?? sourceTitle("custom_content"), event);
      return;
    case "steering-message":
      steer(stream, event);
      return;
    case "message-metadata":
      readMetadata(stream, event.messageMetadata);
      return;
    case "error":
      writer.endPart();
      writer.put({
        type: "error",
        ...messageFields(asText(event.errorText) ?? sourceTitle("stream_failed")),
      });
      return;
    case "abort":
      abort(stream, event);
      return;
    case "finish":
      finish(stream, event);
      return;
    default:
      putUnknown(stream, event);
  }
}

/** Retracts the message of a step that starts over. */
function resetStep(stream: AiSdkStream): void {
  const { writer } = stream;
  const message_id = writer.message_id;
  endStep(stream);
  if (message_id !== undefined) {
    const reason = textFields("reason", retractionReason("step_restarted"));
    writer.put({ type: "message.retract", message_id, ...reason });
  }
}

function readFile(stream: AiSdkStream, event: JsonObject): void {
  const { writer } = stream;
  const url = asString(event.url);
  const mime = asString(event.mediaType);
  if (url === undefined || mime === undefined) putUnknown(stream, event);
  else {
    ensureMessage(stream);
    if (mime.startsWith("image/")) writer.image(url);
    else writer.file({ mime, url });
  }
}

function abort(stream: AiSdkStream, event: JsonObject): void {
  const { writer } = stream;
  stream.isOver = true;
  for (const [id, call] of stream.calls) if (call.state !== "ended") putResult(stream, id, "aborted", "");
  writer.endPart();
  writer.dropMessage();
  writer.put({ type: "interrupt", reason: asText(event.reason) ?? "Aborted" });
}

function finish(stream: AiSdkStream, event: JsonObject): void {
  const { writer } = stream;
  stream.isOver = true;
  readMetadata(stream, event.messageMetadata);
  const raw = asString(event.finishReason);
  endStep(stream, raw === undefined ? "stop" : (STOP_REASONS.get(raw) ?? "stop"), raw);
  writer.put({ type: "turn.end" });
}

/** Reads a person's message to a working agent. */
function steer(stream: AiSdkStream, event: JsonObject): void {
  const { writer } = stream;
  const id = asString(event.id);
  const items = asArray(event.parts).map(asObject);
  if (id === undefined || items.length === 0) {
    putUnknown(stream, event);
    return;
  }
  if (stream.isEnding) endStep(stream);
  writer.endPart();
  writer.put({
    type: "user.message",
    message_id: stream.idOf(`steering:${id}`),
    parts: items.map(partOf),
    queued: true,
  });
}
