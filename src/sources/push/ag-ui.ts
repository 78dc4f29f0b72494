import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { contentOf, usageOf } from "./ag-ui-values.ts";
import { endCut } from "./endings.ts";
import type { EventReader, EventReaderOptions, StreamFormat } from "./format.ts";

/**
 * AG-UI, the Agent User Interaction Protocol (https://docs.ag-ui.com/concepts/events), 1.0 and its earlier event names. One run
 * is one turn. Its prompt is the last message of the run's input, if it is a person's. Results at the end of the input are from
 * tools that the front end ran.
 */
export const agUi: StreamFormat = { id: "ag-ui", createReader: createAgUiReader };

/** Events that only enclose others. */
const SILENT = new Set([
  "STEP_FINISHED",
  "REASONING_START",
  "REASONING_END",
  "THINKING_START",
  "THINKING_END",
]);

interface Call {
  name: string;
  input: string;
  state: "started" | "called" | "ended";
}

function createAgUiReader({ writer, lastingIdOf, setTime }: EventReaderOptions): EventReader {
  const calls = new Map<string, Call>();
  /** Ids of calls without a result. */
  const open = new Set<string>();
  /** The parts of streamed content in order, by `keyOf`: a thought may have the id of its message. */
  const shown = new Map<string, { part_id: string; text: string }[]>();
  /** Text of open messages that are not the agent's. */
  const others = new Map<string, { role: string; text: string }>();
  /** The activity of running sub-agents. */
  const helpers = new Map<string, { name: string; text: string; events: JsonObject[] }>();
  const activities = new Set<string>();
  /** The target of the current chunks. Only the first chunk names it. */
  let chunk: { kind: "text" | "thinking" | "call"; id: string } | undefined;
  /** The source's id of the open message, once a text or call has named it. */
  let message_key: string | undefined;
  let had_calls = false;
  let isRunning = false;
  let had_run = false;
  let began = false;

  const note = (title: string, data: unknown, part_id?: string): void => {
    writer.put({ type: "marker", kind: "note", part_id: part_id ?? writer.nextPartId(), title, data });
  };
  const putUnknown = (event: JsonObject): void => {
    const title = asText(event.type) ?? "An event without a type";
    writer.put({ type: "unknown", part_id: writer.nextPartId(), raw: event, title });
  };

  const endStep = (ending: { usage?: Usage; stop_reason?: "stop" | "error" } = {}): void => {
    const { usage, stop_reason = had_calls ? "tool_use" : "stop" } = ending;
    writer.endMessage({ stop_reason, ...(usage === undefined ? {} : { usage }) });
    had_calls = false;
    message_key = undefined;
  };
  /** A model call ends when text follows after all of its calls have ended, or when another message starts. */
  const beginStep = (key?: string): void => {
    if (writer.message_id !== undefined) {
      const waits = open.size > 0;
      const isOther = key !== undefined && message_key !== undefined && key !== message_key;
      if (isOther || (had_calls && !waits)) endStep();
    }
    if (key !== undefined) message_key = key;
  };

  const say = (kind: "text" | "thinking", id: string, text: string): void => {
    beginStep(kind === "text" ? id : undefined);
    const key = keyOf(kind, id);
    const part_id = writer.say(kind, text, key);
    const parts = shown.get(key) ?? [];
    const last = parts.at(-1);
    if (last?.part_id === part_id) last.text += text;
    else shown.set(key, [...parts, { part_id, text }]);
  };
  /** `message`: the call's message id. Calls without one share a message until all of them have ended. */
  const startCall = (id: string, name: string, message: string | undefined): void => {
    beginStep(message);
    calls.set(id, { name, input: "", state: "started" });
    open.add(id);
    had_calls = true;
    writer.startCall(id, name);
  };
  const endCall = (id: string): void => {
    const call = calls.get(id);
    if (call?.state !== "started") return;
    call.state = "called";
    writer.call(id, call.name, call.input);
  };
  const endChunk = (): void => {
    const last = chunk;
    chunk = undefined;
    if (last === undefined) return;
    if (last.kind === "call") endCall(last.id);
    else if (others.has(last.id)) endOther(last.id);
    else writer.endPart(keyOf(last.kind, last.id));
  };
  const putOther = (id: string, role: string, text: string): void => {
    writer.endPart();
    const message_id = lastingIdOf(`message:${id}`);
    const parts = [{ type: "text" as const, text }];
    if (role === "user") writer.put({ type: "user.message", message_id, parts, queued: true });
    else writer.put({ type: "developer.message", message_id, parts });
  };
  const endOther = (id: string): void => {
    const other = others.get(id);
    others.delete(id);
    if (other !== undefined) putOther(id, other.role, other.text);
  };
  const putResult = (id: string, content: unknown, error?: string): void => {
    endCall(id);
    const call = calls.get(id);
    if (call !== undefined) call.state = "ended";
    open.delete(id);
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
  };
  const flushHelper = (id: string, ending: string): void => {
    const helper = helpers.get(id);
    helpers.delete(id);
    if (helper === undefined) return;
    writer.endPart();
    writer.put({
      type: "marker",
      kind: "note",
      part_id: writer.nextPartId(),
      title: `${helper.name} ${ending}`,
      ...(helper.text === "" ? {} : { text: helper.text }),
      data: helper.events,
    });
  };

  /** Shows incomplete content. */
  const showWaiting = (): void => {
    endChunk();
    for (const id of calls.keys()) endCall(id);
    for (const id of others.keys()) endOther(id);
    for (const id of helpers.keys()) flushHelper(id, "did not end");
  };
  /** Ends a run. Usage is added to its last message. */
  const endRun = (event: JsonObject, stop_reason?: "error"): void => {
    showWaiting();
    const usage = usageOf(event.usage);
    if (writer.message_id === undefined && usage !== undefined) writer.startMessage();
    endStep({ ...(usage === undefined ? {} : { usage }), stop_reason: stop_reason ?? "stop" });
    isRunning = false;
  };

  const startRun = (event: JsonObject): void => {
    isRunning = true;
    had_run = true;
    const messages = asArray(asObject(event.input)?.messages).map(asObject);
    const last = messages.at(-1);
    const before = last?.role === "user" ? messages.slice(0, -1) : messages;
    const firstResult = 1 + before.findLastIndex((message) => message?.role !== "tool");
    for (const message of before.slice(firstResult)) if (!isKnown(message)) showMessage(message);
    for (const item of asArray(asObject(event.input)?.resume).map(asObject))
      note(
        `Answer to ${asText(item?.interruptId) ?? "an interrupt"}: ${asText(item?.status) ?? "unknown"}`,
        item,
      );
    const id = asString(last?.id);
    if (last?.role !== "user" || id === undefined) return;
    const { text, parts } = contentOf(last.content);
    writer.put({ type: "turn.start", turn_id: lastingIdOf(`run:${asString(event.runId) ?? ""}`) });
    writer.put({
      type: "user.message",
      message_id: lastingIdOf(`message:${id}`),
      parts: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...parts],
    });
  };

  /**
   * Reads the source's current list of messages. Streamed content is revised where the list differs. Messages after the last
   * prompt that were never streamed are shown now.
   */
  const readSnapshot = (event: JsonObject): void => {
    const messages = asArray(event.messages).map(asObject);
    const firstFresh = 1 + messages.findLastIndex((message) => message?.role === "user" || isKnown(message));
    for (const message of messages.slice(0, firstFresh)) {
      const parts = shown.get(keyOfMessage(message));
      const text = asString(message?.content);
      if (parts !== undefined && text !== undefined) revise(parts, text);
    }
    for (const message of messages.slice(firstFresh)) showMessage(message);
    note(`All ${messages.length} messages, as the source has them`, event.messages);
  };
  /** Revises the parts of a text. Earlier parts stay in place; the last part gets the missing text. */
  const revise = (parts: { part_id: string; text: string }[], text: string): void => {
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
  };
  const isKnown = (message: JsonObject | undefined): boolean => {
    const result = asString(message?.toolCallId);
    return shown.has(keyOfMessage(message)) || (result !== undefined && calls.get(result)?.state === "ended");
  };
  const showMessage = (message: JsonObject | undefined): void => {
    const id = asString(message?.id) ?? "";
    const content = asString(message?.content);
    switch (message?.role) {
      case "assistant":
        if (content !== undefined && content !== "") {
          say("text", id, content);
          writer.endPart();
        }
        for (const item of asArray(message.toolCalls).map(asObject)) {
          const call_id = asString(item?.id);
          const called = asObject(item?.function);
          const name = asString(called?.name);
          if (call_id === undefined || name === undefined || calls.has(call_id)) continue;
          beginStep(id);
          calls.set(call_id, { name, input: "", state: "called" });
          open.add(call_id);
          had_calls = true;
          writer.call(call_id, name, asString(called?.arguments) ?? "");
        }
        return;
      case "reasoning":
        if (content !== undefined) {
          say("thinking", id, content);
          writer.endPart();
        }
        return;
      case "tool":
        putResult(asString(message.toolCallId) ?? "", message.content, asString(message.error));
        return;
      default:
        // The note contains the complete list.
        return;
    }
  };

  /** A repeated activity replaces the earlier one, unless it says otherwise. */
  const readActivity = (event: JsonObject, id: string): void => {
    const isKnownActivity = activities.has(id);
    activities.add(id);
    const title = asText(event.activityType) ?? "Activity";
    if (event.replace === false && isKnownActivity)
      note(`${title}, not in the place of what it was`, event.content);
    else note(title, event.content, lastingIdOf(`activity:${id}`));
  };

  const pushHelper = (event: JsonObject, id: string): void => {
    const name = asText(event.name) ?? "A sub-agent";
    const helper = helpers.get(id) ?? { name, text: "", events: [] };
    helpers.set(id, helper);
    if (event.type === "TEXT_MESSAGE_CONTENT" || event.type === "TEXT_MESSAGE_CHUNK") {
      helper.text += asString(event.delta) ?? "";
    }
    helper.events.push(event);
    if (event.type === "SUBAGENT_FINISHED") {
      const isSuspended = asObject(event.outcome)?.type === "suspended";
      flushHelper(id, isSuspended ? "waits for a person" : "ended");
    }
    if (event.type === "SUBAGENT_ERROR")
      flushHelper(id, `failed: ${asString(event.message) ?? "no reason given"}`);
  };

  const push = (event: JsonObject): void => {
    began = true;
    setTime(asNumber(event.timestamp));
    const type = asString(event.type) ?? "";
    const helper = asString(event.subagentRunId);
    if (helper !== undefined) {
      pushHelper(event, helper);
      return;
    }
    const isChunk =
      type === "TEXT_MESSAGE_CHUNK" || type === "REASONING_MESSAGE_CHUNK" || type === "TOOL_CALL_CHUNK";
    if (isChunk ? !pushChunk(type, event) : !pushEvent(type, event)) putUnknown(event);
  };

  const pushChunk = (type: string, event: JsonObject): boolean => {
    const kind = type === "TOOL_CALL_CHUNK" ? "call" : type === "TEXT_MESSAGE_CHUNK" ? "text" : "thinking";
    const named = asString(kind === "call" ? event.toolCallId : event.messageId);
    if (chunk !== undefined && (chunk.kind !== kind || (named !== undefined && named !== chunk.id)))
      endChunk();
    const id = named ?? chunk?.id;
    if (id === undefined) return false;
    const delta = asString(event.delta) ?? "";
    if (kind === "call") {
      if (!calls.has(id))
        startCall(id, asString(event.toolCallName) ?? "tool", asString(event.parentMessageId));
      const call = calls.get(id);
      if (call !== undefined) call.input += delta;
    } else {
      const role = asString(event.role) ?? "assistant";
      const other = others.get(id) ?? (role === "assistant" ? undefined : { role, text: "" });
      if (kind === "text" && other !== undefined) {
        other.text += delta;
        others.set(id, other);
      } else say(kind, id, delta);
    }
    chunk = { kind, id };
    return true;
  };

  /** Reads an event. Returns whether it is known. */
  const pushEvent = (type: string, event: JsonObject): boolean => {
    endChunk();
    if (SILENT.has(type)) return true;
    const message = asString(event.messageId);
    const call_id = asString(event.toolCallId);
    const delta = asString(event.delta);
    switch (type) {
      case "RUN_STARTED":
        startRun(event);
        return true;
      case "RUN_FINISHED": {
        const outcome = asObject(event.outcome);
        if (event.result !== undefined && event.result !== null) note("Result of the run", event.result);
        if (outcome?.type === "interrupt") note("The run waits for a person", outcome.interrupts);
        if (outcome?.type === "cancelled") {
          showWaiting();
          for (const [id, call] of calls) if (call.state !== "ended") abortCall(id, call);
          writer.endPart();
          writer.dropMessage();
          isRunning = false;
          writer.put({ type: "interrupt", reason: "Cancelled" });
          return true;
        }
        endRun(event);
        writer.put({ type: "turn.end" });
        return true;
      }
      case "RUN_ERROR": {
        endRun(event, "error");
        const code = asText(event.code);
        const words = asText(event.message) ?? "The run failed";
        writer.put({ type: "error", message: code === undefined ? words : `${words} (${code})` });
        writer.put({ type: "turn.end" });
        return true;
      }
      case "STEP_STARTED":
        note(`Step: ${asText(event.stepName) ?? "unnamed"}`, event);
        return true;
      case "TEXT_MESSAGE_START": {
        const role = asString(event.role) ?? "assistant";
        if (message === undefined) return false;
        if (role === "assistant") say("text", message, "");
        else others.set(message, { role, text: "" });
        return true;
      }
      case "TEXT_MESSAGE_CONTENT": {
        if (message === undefined || delta === undefined) return false;
        const other = others.get(message);
        if (other === undefined) say("text", message, delta);
        else other.text += delta;
        return true;
      }
      case "TEXT_MESSAGE_END":
        if (message === undefined) return false;
        if (others.has(message)) endOther(message);
        else writer.endPart(keyOf("text", message));
        return true;
      case "REASONING_MESSAGE_START":
      case "THINKING_TEXT_MESSAGE_START":
        say("thinking", message ?? "thinking", "");
        return true;
      case "REASONING_MESSAGE_CONTENT":
      case "THINKING_TEXT_MESSAGE_CONTENT":
        if (delta === undefined) return false;
        say("thinking", message ?? "thinking", delta);
        return true;
      case "REASONING_MESSAGE_END":
      case "THINKING_TEXT_MESSAGE_END":
        writer.endPart(keyOf("thinking", message ?? "thinking"));
        return true;
      case "REASONING_ENCRYPTED_VALUE": {
        const signature = asString(event.encryptedValue);
        const entity = asString(event.entityId) ?? "";
        const part_id = shown.get(keyOf("thinking", entity))?.at(-1)?.part_id;
        if (signature === undefined) return false;
        if (event.subtype === "tool-call" && calls.has(entity)) {
          const metadata = { encryptedValue: signature };
          writer.put({ type: "task.metadata", tool_call_id: entity, metadata });
        } else if (part_id !== undefined) {
          writer.endPart();
          writer.put({ type: "message.part_end", part_id, signature, format: "ag-ui" });
        } else return false;
        return true;
      }
      case "TOOL_CALL_START": {
        const name = asString(event.toolCallName);
        if (call_id === undefined || name === undefined) return false;
        startCall(call_id, name, asString(event.parentMessageId));
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
        endCall(call_id);
        return true;
      case "TOOL_CALL_RESULT":
        if (call_id === undefined) return false;
        putResult(call_id, event.content);
        return true;
      case "STATE_SNAPSHOT":
        note("State", event.snapshot);
        return true;
      case "STATE_DELTA":
        note("State changed", event.delta);
        return true;
      case "MESSAGES_SNAPSHOT":
        readSnapshot(event);
        return true;
      case "ACTIVITY_SNAPSHOT":
        readActivity(event, message ?? "");
        return true;
      case "ACTIVITY_DELTA":
        note(`${asText(event.activityType) ?? "Activity"} changed`, event.patch);
        return true;
      case "CUSTOM":
        note(asText(event.name) ?? "Custom event", event.value);
        return true;
      // RAW is another protocol's event. It is not interpreted, but kept.
      default:
        return false;
    }
  };
  const abortCall = (id: string, call: Call): void => {
    call.state = "ended";
    open.delete(id);
    writer.put({
      type: "message.tool_result",
      tool_call_id: id,
      tool_name: call.name,
      is_error: false,
      status: "aborted",
      output_text: "",
      parts: [],
    });
  };

  return {
    push,
    end() {
      if (!began) return;
      showWaiting();
      if (isRunning) endCut(writer);
      else endStep();
    },
    get isOver() {
      const isWaiting = others.size > 0 || helpers.size > 0 || writer.message_id !== undefined;
      return had_run && !isRunning && !isWaiting;
    },
  };
}

function keyOf(kind: "text" | "thinking", id: string): string {
  return `${kind}:${id}`;
}

function keyOfMessage(message: JsonObject | undefined): string {
  return keyOf(message?.role === "reasoning" ? "thinking" : "text", asString(message?.id) ?? "");
}
