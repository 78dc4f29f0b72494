import { asArray, asObject, asString, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { type AgUiStream, appendText, beginStep, keyOf, note, putResult } from "./ag-ui-stream.ts";

/**
 * Reads the source's current list of messages. Streamed content is revised where the list differs. Messages after the last
 * prompt that were never streamed are shown now.
 */
export function readSnapshot(stream: AgUiStream, event: JsonObject): void {
  const messages = asArray(event.messages).map(asObject);
  const firstFresh =
    1 + messages.findLastIndex((message) => message?.role === "user" || isKnown(stream, message));
  for (const message of messages.slice(0, firstFresh)) {
    const parts = stream.shown.get(keyOfMessage(message));
    const text = asString(message?.content);
    if (parts !== undefined && text !== undefined) revise(stream, parts, text);
  }
  for (const message of messages.slice(firstFresh)) showMessage(stream, message);
  note(stream, sourceTitle("all_messages", { messages: messages.length }), event.messages);
}

/** Revises the parts of a text. Earlier parts stay in place; the last part gets the missing text. */
function revise(stream: AgUiStream, parts: { part_id: string; text: string }[], text: string): void {
  const { writer } = stream;
  let rest = text;
  for (const part of parts) {
    const isLast = part === parts.at(-1);
    const whole = isLast ? rest : rest.startsWith(part.text) ? part.text : "";
    rest = rest.slice(whole.length);
    if (whole === part.text) continue;
    part.text = whole;
    writer.endPart();
    writer.put({ type: "message.part_end", part_id: part.part_id, text: whole });
  }
}

/** Whether a message of a list was shown. */
export function isKnown(stream: AgUiStream, message: JsonObject | undefined): boolean {
  const result = asString(message?.toolCallId);
  return (
    stream.shown.has(keyOfMessage(message)) ||
    (result !== undefined && stream.calls.get(result)?.state === "ended")
  );
}

/** Shows a message of a list. */
export function showMessage(stream: AgUiStream, message: JsonObject | undefined): void {
  const { writer, calls } = stream;
  const id = asString(message?.id) ?? "";
  const content = asString(message?.content);
  switch (message?.role) {
    case "assistant":
      if (content !== undefined && content !== "") {
        appendText(stream, "text", id, content);
        writer.endPart();
      }
      for (const item of asArray(message.toolCalls).map(asObject)) {
        const call_id = asString(item?.id);
        const called = asObject(item?.function);
        const name = asString(called?.name);
        if (call_id === undefined || name === undefined || calls.has(call_id)) continue;
        beginStep(stream, id);
        calls.set(call_id, { name, input: "", state: "called" });
        stream.open.add(call_id);
        stream.had_calls = true;
        writer.call(call_id, name, asString(called?.arguments) ?? "");
      }
      return;
    case "reasoning":
      if (content !== undefined) {
        appendText(stream, "thinking", id, content);
        writer.endPart();
      }
      return;
    case "tool":
      putResult(stream, asString(message.toolCallId) ?? "", message.content, asString(message.error));
      return;
    default:
      // The note contains the complete list.
      return;
  }
}

function keyOfMessage(message: JsonObject | undefined): string {
  return keyOf(message?.role === "reasoning" ? "thinking" : "text", asString(message?.id) ?? "");
}
