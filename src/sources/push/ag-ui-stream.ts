import type { Usage } from "../../model/messages/message.ts";
import type { JsonObject } from "../../model/narrow.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { titleFields } from "../../model/text/titles.ts";
import { contentOf } from "./ag-ui-values.ts";
import type { EventReaderOptions } from "./format.ts";

/** A tool call of a stream. */
export interface AgUiCall {
  name: string;
  input: string;
  state: "started" | "called" | "ended";
}

/** What is known of the stream so far, and where its frames go. */
export interface AgUiStream extends Pick<EventReaderOptions, "writer" | "lastingIdOf"> {
  readonly calls: Map<string, AgUiCall>;
  /** Ids of calls without a result. */
  readonly open: Set<string>;
  /** The parts of streamed content in order, by `keyOf`: a thought may have the id of its message. */
  readonly shown: Map<string, { part_id: string; text: string }[]>;
  /** Text of open messages that are not the agent's. */
  readonly others: Map<string, { role: string; text: string }>;
  /** The activity of running sub-agents. */
  readonly sub_agents: Map<string, { name: string | undefined; text: string; events: JsonObject[] }>;
  readonly activities: Set<string>;
  /** The target of the current chunks. Only the first chunk names it. */
  chunk: { kind: "text" | "thinking" | "call"; id: string } | undefined;
  /** The source's id of the open message, once a text or call has named it. */
  message_key: string | undefined;
  had_calls: boolean;
  isRunning: boolean;
  had_run: boolean;
}

/** Writes a note. `part_id`: that of the note that it replaces. */
export function note(stream: AgUiStream, title: DisplayText, data: unknown, part_id?: string): void {
  const { writer } = stream;
  const fields = titleFields(title);
  writer.put({ type: "marker", kind: "note", part_id: part_id ?? writer.nextPartId(), ...fields, data });
}

/** Ends the open message. */
export function endStep(
  stream: AgUiStream,
  ending: { usage?: Usage; stop_reason?: "stop" | "error" } = {},
): void {
  const { usage, stop_reason = stream.had_calls ? "tool_use" : "stop" } = ending;
  stream.writer.endMessage({ stop_reason, ...(usage === undefined ? {} : { usage }) });
  stream.had_calls = false;
  stream.message_key = undefined;
}

/** A model call ends when text follows after all of its calls have ended, or when another message starts. */
export function beginStep(stream: AgUiStream, key?: string): void {
  if (stream.writer.message_id !== undefined) {
    const waits = stream.open.size > 0;
    const isOther = key !== undefined && stream.message_key !== undefined && key !== stream.message_key;
    if (isOther || (stream.had_calls && !waits)) endStep(stream);
  }
  if (key !== undefined) stream.message_key = key;
}

/** Appends to a text or thought of the agent. */
export function appendText(stream: AgUiStream, kind: "text" | "thinking", id: string, text: string): void {
  const { shown } = stream;
  beginStep(stream, kind === "text" ? id : undefined);
  const key = keyOf(kind, id);
  const part_id = stream.writer.appendText(kind, text, key);
  const parts = shown.get(key) ?? [];
  const last = parts.at(-1);
  if (last?.part_id === part_id) last.text += text;
  else shown.set(key, [...parts, { part_id, text }]);
}

/** `message`: the call's message id. Calls without one share a message until all of them have ended. */
export function startCall(stream: AgUiStream, id: string, name: string, message: string | undefined): void {
  beginStep(stream, message);
  stream.calls.set(id, { name, input: "", state: "started" });
  stream.open.add(id);
  stream.had_calls = true;
  stream.writer.startCall(id, name);
}

/** Ends the input of a call. */
export function endCall(stream: AgUiStream, id: string): void {
  const call = stream.calls.get(id);
  if (call?.state !== "started") return;
  call.state = "called";
  stream.writer.call(id, call.name, call.input);
}

/** Writes the result of a call. `error`: the reason why it failed. */
export function putResult(stream: AgUiStream, id: string, content: unknown, error?: string): void {
  const { writer } = stream;
  endCall(stream, id);
  const call = stream.calls.get(id);
  if (call !== undefined) call.state = "ended";
  stream.open.delete(id);
  writer.endPart();
  const { text, parts } = contentOf(content);
  writer.put({
    type: "message.tool_result",
    tool_call_id: id,
    ...(call === undefined ? {} : { tool_name: call.name }),
    is_error: error !== undefined,
    status: error === undefined ? "success" : "error",
    output_text: error === undefined || text.includes(error) ? text : `${text}\n${error}`.trim(),
    parts,
  });
}

/** Ends a call that was cancelled. */
export function abortCall(stream: AgUiStream, id: string, call: AgUiCall): void {
  call.state = "ended";
  stream.open.delete(id);
  stream.writer.put({
    type: "message.tool_result",
    tool_call_id: id,
    tool_name: call.name,
    is_error: false,
    status: "aborted",
    output_text: "",
    parts: [],
  });
}

/** Shows a message that is not the agent's. */
export function endOther(stream: AgUiStream, id: string): void {
  const { others } = stream;
  const other = others.get(id);
  others.delete(id);
  if (other !== undefined) putOther(stream, id, other.role, other.text);
}

/** Ends the target of the chunks before. */
export function endChunk(stream: AgUiStream): void {
  const last = stream.chunk;
  stream.chunk = undefined;
  if (last === undefined) return;
  if (last.kind === "call") endCall(stream, last.id);
  else if (stream.others.has(last.id)) endOther(stream, last.id);
  else stream.writer.endPart(keyOf(last.kind, last.id));
}

function putOther(stream: AgUiStream, id: string, role: string, text: string): void {
  const { writer } = stream;
  writer.endPart();
  const message_id = stream.lastingIdOf(`message:${id}`);
  const parts = [{ type: "text" as const, text }];
  if (role === "user") writer.put({ type: "user.message", message_id, parts, queued: true });
  else writer.put({ type: "developer.message", message_id, parts });
}

/** The key of content in `shown`. */
export function keyOf(kind: "text" | "thinking", id: string): string {
  return `${kind}:${id}`;
}
