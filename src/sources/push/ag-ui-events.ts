import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { messageFields } from "../../model/text/titles.ts";
import { isKnown, readSnapshot, showMessage } from "./ag-ui-messages.ts";
import {
  type AgUiStream,
  abortCall,
  appendText,
  endCall,
  endChunk,
  endOther,
  endStep,
  keyOf,
  note,
  putResult,
  startCall,
} from "./ag-ui-stream.ts";
import { flushSubAgent } from "./ag-ui-sub-agents.ts";
import { contentOf, usageOf } from "./ag-ui-values.ts";

/** Events that only enclose others. */
const SILENT = new Set([
  "STEP_FINISHED",
  "REASONING_START",
  "REASONING_END",
  "THINKING_START",
  "THINKING_END",
]);

/** Reads an event. Returns whether it is known. */
export function pushEvent(stream: AgUiStream, type: string, event: JsonObject): boolean {
  endChunk(stream);
  if (SILENT.has(type)) return true;
  switch (type) {
    case "RUN_STARTED":
      startRun(stream, event);
      return true;
    case "RUN_FINISHED":
      finishRun(stream, event);
      return true;
    case "RUN_ERROR":
      failRun(stream, event);
      return true;
    case "STEP_STARTED":
      note(stream, sourceTitle("step_named", { step: asText(event.stepName) }), event);
      return true;
    case "TEXT_MESSAGE_START":
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
      return readText(stream, type, event);
    case "REASONING_MESSAGE_START":
    case "THINKING_TEXT_MESSAGE_START":
    case "REASONING_MESSAGE_CONTENT":
    case "THINKING_TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_END":
    case "THINKING_TEXT_MESSAGE_END":
      return readThought(stream, type, event);
    case "REASONING_ENCRYPTED_VALUE":
      return readSignature(stream, event);
    case "TOOL_CALL_START":
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
    case "TOOL_CALL_RESULT":
      return readCall(stream, type, event);
    case "STATE_SNAPSHOT":
      note(stream, sourceTitle("state"), event.snapshot);
      return true;
    case "STATE_DELTA":
      note(stream, sourceTitle("state_changed"), event.delta);
      return true;
    case "MESSAGES_SNAPSHOT":
      readSnapshot(stream, event);
      return true;
    case "ACTIVITY_SNAPSHOT":
      readActivity(stream, event, asString(event.messageId) ?? "");
      return true;
    case "ACTIVITY_DELTA":
      note(stream, sourceTitle("activity_changed", { activity: asText(event.activityType) }), event.patch);
      return true;
    case "CUSTOM":
      note(stream, asText(event.name) ?? sourceTitle("custom_event"), event.value);
      return true;
    // RAW is another protocol's event. It is not interpreted, but kept.
    default:
      return false;
  }
}

function finishRun(stream: AgUiStream, event: JsonObject): void {
  const { writer } = stream;
  const outcome = asObject(event.outcome);
  if (event.result !== undefined && event.result !== null)
    note(stream, sourceTitle("result_of_run"), event.result);
  if (outcome?.type === "interrupt") note(stream, sourceTitle("run_waits"), outcome.interrupts);
  if (outcome?.type === "cancelled") {
    showWaiting(stream);
    for (const [id, call] of stream.calls) if (call.state !== "ended") abortCall(stream, id, call);
    writer.endPart();
    writer.dropMessage();
    stream.isRunning = false;
    writer.put({ type: "interrupt", reason: "Cancelled" });
    return;
  }
  endRun(stream, event);
  writer.put({ type: "turn.end" });
}

function failRun(stream: AgUiStream, event: JsonObject): void {
  const { writer } = stream;
  endRun(stream, event, "error");
  const code = asText(event.code);
  const message = asText(event.message);
  const failure =
    message === undefined
      ? sourceTitle("run_failed", { code })
      : code === undefined
        ? message
        : `${message} (${code})`;
  writer.put({ type: "error", ...messageFields(failure) });
  writer.put({ type: "turn.end" });
}

/** Reads an event of a message. Returns whether its fields are known. */
function readText(stream: AgUiStream, type: string, event: JsonObject): boolean {
  const { others } = stream;
  const message = asString(event.messageId);
  const delta = asString(event.delta);
  switch (type) {
    case "TEXT_MESSAGE_START": {
      const role = asString(event.role) ?? "assistant";
      if (message === undefined) return false;
      if (role === "assistant") appendText(stream, "text", message, "");
      else others.set(message, { role, text: "" });
      return true;
    }
    case "TEXT_MESSAGE_CONTENT": {
      if (message === undefined || delta === undefined) return false;
      const other = others.get(message);
      if (other === undefined) appendText(stream, "text", message, delta);
      else other.text += delta;
      return true;
    }
    case "TEXT_MESSAGE_END":
      if (message === undefined) return false;
      if (others.has(message)) endOther(stream, message);
      else stream.writer.endPart(keyOf("text", message));
      return true;
    default:
      return false;
  }
}

/** Reads an event of a thought. Returns whether its fields are known. */
function readThought(stream: AgUiStream, type: string, event: JsonObject): boolean {
  const message = asString(event.messageId) ?? "thinking";
  const delta = asString(event.delta);
  switch (type) {
    case "REASONING_MESSAGE_START":
    case "THINKING_TEXT_MESSAGE_START":
      appendText(stream, "thinking", message, "");
      return true;
    case "REASONING_MESSAGE_CONTENT":
    case "THINKING_TEXT_MESSAGE_CONTENT":
      if (delta === undefined) return false;
      appendText(stream, "thinking", message, delta);
      return true;
    case "REASONING_MESSAGE_END":
    case "THINKING_TEXT_MESSAGE_END":
      stream.writer.endPart(keyOf("thinking", message));
      return true;
    default:
      return false;
  }
}

/** Reads the signature of a call or a thought. Returns whether it is known. */
function readSignature(stream: AgUiStream, event: JsonObject): boolean {
  const { writer } = stream;
  const signature = asString(event.encryptedValue);
  const entity = asString(event.entityId) ?? "";
  const part_id = stream.shown.get(keyOf("thinking", entity))?.at(-1)?.part_id;
  if (signature === undefined) return false;
  if (event.subtype === "tool-call" && stream.calls.has(entity)) {
    const metadata = { encryptedValue: signature };
    writer.put({ type: "task.metadata", tool_call_id: entity, metadata });
  } else if (part_id !== undefined) {
    writer.endPart();
    writer.put({ type: "message.part_end", part_id, signature, format: "ag-ui" });
  } else return false;
  return true;
}

/** Reads an event of a call. Returns whether its fields are known. */
function readCall(stream: AgUiStream, type: string, event: JsonObject): boolean {
  const { calls } = stream;
  const call_id = asString(event.toolCallId);
  const delta = asString(event.delta);
  switch (type) {
    case "TOOL_CALL_START": {
      const name = asString(event.toolCallName);
      if (call_id === undefined || name === undefined) return false;
      startCall(stream, call_id, name, asString(event.parentMessageId));
      return true;
    }
    case "TOOL_CALL_ARGS": {
      const call = calls.get(call_id ?? "");
      if (call === undefined || delta === undefined) return false;
      call.input += delta;
      return true;
    }
    case "TOOL_CALL_END":
      if (call_id === undefined || !calls.has(call_id)) return false;
      endCall(stream, call_id);
      return true;
    case "TOOL_CALL_RESULT":
      if (call_id === undefined) return false;
      putResult(stream, call_id, event.content);
      return true;
    default:
      return false;
  }
}

function startRun(stream: AgUiStream, event: JsonObject): void {
  const { writer } = stream;
  stream.isRunning = true;
  stream.had_run = true;
  const messages = asArray(asObject(event.input)?.messages).map(asObject);
  const last = messages.at(-1);
  const before = last?.role === "user" ? messages.slice(0, -1) : messages;
  const firstResult = 1 + before.findLastIndex((message) => message?.role !== "tool");
  for (const message of before.slice(firstResult))
    if (!isKnown(stream, message)) showMessage(stream, message);
  for (const item of asArray(asObject(event.input)?.resume).map(asObject))
    note(
      stream,
      sourceTitle("answer_to", { question: asText(item?.interruptId), status: asText(item?.status) }),
      item,
    );
  const id = asString(last?.id);
  if (last?.role !== "user" || id === undefined) return;
  const { text, parts } = contentOf(last.content);
  writer.put({ type: "turn.start", turn_id: stream.lastingIdOf(`run:${asString(event.runId) ?? ""}`) });
  writer.put({
    type: "user.message",
    message_id: stream.lastingIdOf(`message:${id}`),
    parts: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...parts],
  });
}

/** Ends a run. Usage is added to its last message. */
function endRun(stream: AgUiStream, event: JsonObject, stop_reason?: "error"): void {
  const { writer } = stream;
  showWaiting(stream);
  const usage = usageOf(event.usage);
  if (writer.message_id === undefined && usage !== undefined) writer.startMessage();
  endStep(stream, { ...(usage === undefined ? {} : { usage }), stop_reason: stop_reason ?? "stop" });
  stream.isRunning = false;
}

/** Shows incomplete content. */
export function showWaiting(stream: AgUiStream): void {
  endChunk(stream);
  for (const id of stream.calls.keys()) endCall(stream, id);
  for (const id of stream.others.keys()) endOther(stream, id);
  for (const id of stream.sub_agents.keys()) flushSubAgent(stream, id, "sub_agent_run_did_not_end");
}

/** Reads an activity. A repeated one replaces the earlier one, unless the event says otherwise. */
function readActivity(stream: AgUiStream, event: JsonObject, id: string): void {
  const isKnownActivity = stream.activities.has(id);
  stream.activities.add(id);
  const activity = asText(event.activityType);
  if (event.replace === false && isKnownActivity)
    note(stream, sourceTitle("activity_added", { activity }), event.content);
  else note(stream, activity ?? sourceTitle("activity"), event.content, stream.lastingIdOf(`activity:${id}`));
}

/** Reads a chunk, which begins its target itself. Returns whether its fields are known. */
export function pushChunk(stream: AgUiStream, type: string, event: JsonObject): boolean {
  const { calls, others } = stream;
  const kind = type === "TOOL_CALL_CHUNK" ? "call" : type === "TEXT_MESSAGE_CHUNK" ? "text" : "thinking";
  const named = asString(kind === "call" ? event.toolCallId : event.messageId);
  if (
    stream.chunk !== undefined &&
    (stream.chunk.kind !== kind || (named !== undefined && named !== stream.chunk.id))
  )
    endChunk(stream);
  const id = named ?? stream.chunk?.id;
  if (id === undefined) return false;
  const delta = asString(event.delta) ?? "";
  if (kind === "call") {
    if (!calls.has(id))
      startCall(stream, id, asString(event.toolCallName) ?? "tool", asString(event.parentMessageId));
    const call = calls.get(id);
    if (call !== undefined) call.input += delta;
  } else {
    const role = asString(event.role) ?? "assistant";
    const other = others.get(id) ?? (role === "assistant" ? undefined : { role, text: "" });
    if (kind === "text" && other !== undefined) {
      other.text += delta;
      others.set(id, other);
    } else appendText(stream, kind, id, delta);
  }
  stream.chunk = { kind, id };
  return true;
}
