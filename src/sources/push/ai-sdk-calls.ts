import { asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { newProgress } from "../../model/progress.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { type AiSdkCall, type AiSdkStream, ensureMessage, note } from "./ai-sdk-stream.ts";
import { isSameJson, restOf } from "./ai-sdk-values.ts";
import { outputText } from "./endings.ts";

/** Reads an event of a call. Returns whether it is known. */
export function pushCall(stream: AiSdkStream, event: JsonObject, id: string): boolean {
  const name = asString(event.toolName);
  switch (event.type) {
    case "tool-input-start":
      ensureMessage(stream);
      stream.had_calls = true;
      callOf(stream, id, name).is_text = event.inputEncoding === "text";
      stream.writer.startCall(id, callOf(stream, id, name).name);
      return true;
    case "tool-input-delta": {
      const delta = asString(event.inputTextDelta);
      if (delta === undefined) return false;
      callOf(stream, id, name).input += delta;
      return true;
    }
    case "tool-input-available":
      putCall(stream, id, name, event.input);
      putMetadata(stream, id, event);
      return true;
    case "tool-input-error":
      putCall(stream, id, name, event.input);
      putResult(stream, id, "error", asString(event.errorText) ?? "The input could not be used", {
        metadata: restOf(event),
      });
      return true;
    case "tool-approval-request":
      stream.approvals.set(asString(event.approvalId) ?? "", { call: id });
      note(stream, sourceTitle("call_waits"), event);
      return true;
    case "tool-output-available": {
      const text = outputText(event.output);
      if (event.preliminary === true) growProgress(stream, id, callOf(stream, id, name), text);
      else putResult(stream, id, "success", text, { metadata: restOf(event) });
      return true;
    }
    case "tool-output-error":
      putResult(stream, id, "error", asString(event.errorText) ?? "", { metadata: restOf(event) });
      return true;
    case "tool-output-denied":
      putResult(stream, id, "aborted", "Denied", {
        metadata: restOf(event),
        outcome: [...stream.approvals.values()].find(({ call }) => call === id)?.outcome ?? {
          kind: "refused",
        },
      });
      return true;
    default:
      return false;
  }
}

function callOf(stream: AiSdkStream, id: string, name: string | undefined): AiSdkCall {
  const { calls } = stream;
  let call = calls.get(id);
  if (call === undefined) {
    call = { name: name ?? "tool", input: "", state: "started", latest: "", shown: 0 };
    calls.set(id, call);
  }
  return call;
}

/** Uses the streamed arguments if they are JSON: byte for byte what the model wrote. */
export function putCall(stream: AiSdkStream, id: string, name: string | undefined, input: unknown): void {
  const call = callOf(stream, id, name);
  if (name !== undefined) call.name = name;
  ensureMessage(stream);
  stream.had_calls = true;
  const streamed = call.is_text === true ? JSON.stringify(call.input) : call.input;
  const complete = input === undefined ? streamed : (JSON.stringify(input) ?? "");
  stream.writer.call(id, call.name, isSameJson(streamed, complete) ? streamed : complete);
  if (call.state === "started") call.state = "called";
}

/** Writes the result of a call. */
export function putResult(
  stream: AiSdkStream,
  id: string,
  status: "success" | "error" | "aborted",
  output_text: string,
  { metadata, outcome }: { metadata?: JsonObject | undefined; outcome?: CallOutcome | undefined } = {},
): void {
  const { writer } = stream;
  // A call of an earlier stream may end in this one.
  const call = stream.calls.get(id);
  if (call?.state === "started" && call.input !== "") putCall(stream, id, undefined, undefined);
  if (call !== undefined) call.state = "ended";
  writer.endPart();
  writer.put({
    type: "message.tool_result",
    tool_call_id: id,
    ...(call === undefined ? {} : { tool_name: call.name }),
    is_error: status === "error",
    status,
    output_text,
    parts: [],
    ...(metadata === undefined ? {} : { ui_extra: { type: "output", metadata } }),
    ...(outcome === undefined ? {} : { outcome }),
  });
}

/** Adds the other fields of an event to the call's metadata. */
function putMetadata(stream: AiSdkStream, id: string, event: JsonObject): void {
  const metadata = restOf(event);
  if (metadata !== undefined) stream.writer.put({ type: "task.metadata", tool_call_id: id, metadata });
}

/** Each output replaces the previous one, but progress can only grow. An output that does not extend it is appended once. */
function growProgress(stream: AiSdkStream, tool_call_id: string, call: AiSdkCall, output: string): void {
  const text = newProgress(call, output);
  if (text === "") return;
  stream.writer.put({ type: "message.tool_progress", tool_call_id, text, offset: call.shown });
  call.latest = output;
  call.shown += text.length;
}

/** Reads the answer to an approval, which identifies the call. */
export function readApproval(stream: AiSdkStream, event: JsonObject): void {
  const approval = stream.approvals.get(asString(event.approvalId) ?? "");
  const reason = asText(event.reason);
  if (approval !== undefined && event.approved === false)
    approval.outcome = { kind: "refused", ...(reason === undefined ? {} : { reason }) };
  const title =
    event.approved === true
      ? "call_approved"
      : event.approved === false
        ? "call_refused"
        : "approval_answered";
  note(stream, sourceTitle(title), event);
}
