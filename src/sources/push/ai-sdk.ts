import type { StopReason, Usage } from "../../model/messages/message.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { newProgress } from "../../model/progress.ts";
import { isSameJson, partOf, restOf, STOP_REASONS, signatureOf, usageOf } from "./ai-sdk-values.ts";
import { endCut, endFailed, outputText } from "./endings.ts";
import type { EventReader, EventReaderOptions, StreamFormat } from "./format.ts";

/**
 * The AI SDK's UI message stream (`x-vercel-ai-ui-message-stream: v1`, https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol),
 * versions 5 to 7. Its message contains all steps of a turn; each step becomes a message. It contains no prompt.
 */
export const aiSdk: StreamFormat = {
  id: "ai-sdk",
  createReader: createAiSdkReader,
};

interface Call {
  name: string;
  input: string;
  /** The deltas of its input are text, not JSON. */
  is_text?: boolean;
  state: "started" | "called" | "ended";
  /** Its latest preliminary output, and the total length of shown preliminary outputs. */
  latest: string;
  shown: number;
}

function createAiSdkReader({ writer, idOf }: EventReaderOptions): EventReader {
  const calls = new Map<string, Call>();
  /** Waiting calls and the outcomes of their answers, by approval id. */
  const approvals = new Map<string, { call: string; outcome?: CallOutcome }>();
  let response_id: string | undefined;
  let model: string | undefined;
  let usage: Usage | undefined;
  let had_calls = false;
  /** The step has ended; the next events say how. */
  let isEnding = false;
  let isOver = false;
  /** The last event gave the reason for the stream's end. */
  let hasFailed = false;
  let began = false;

  const beginMessage = (): void => {
    writer.startMessage({
      ...(response_id === undefined ? {} : { response_id }),
      ...(model === undefined ? {} : { model }),
    });
    had_calls = false;
  };
  const ensureMessage = (): void => {
    if (isEnding) endStep();
    if (writer.message_id === undefined) beginMessage();
  };
  const endStep = (stop_reason?: StopReason, raw?: string): void => {
    isEnding = false;
    const reason = stop_reason ?? (had_calls ? "tool_use" : undefined);
    writer.endMessage({
      ...(reason === undefined ? {} : { stop_reason: reason }),
      ...(raw === undefined ? {} : { stop_reason_raw: raw }),
      ...(usage === undefined ? {} : { usage }),
    });
    usage = undefined;
    had_calls = false;
  };
  const note = (title: string, data: unknown, part_id = writer.nextPartId()): void => {
    writer.put({ type: "marker", kind: "note", part_id, title, data });
  };
  const putUnknown = (event: JsonObject): void => {
    const title = asText(event.type) ?? "An event without a type";
    writer.put({ type: "unknown", part_id: writer.nextPartId(), raw: event, title });
  };
  const readMetadata = (value: unknown): void => {
    const metadata = asObject(value);
    if (value === undefined || value === null) return;
    model = asText(metadata?.model) ?? asText(metadata?.modelId) ?? model;
    usage = usageOf(metadata?.totalUsage) ?? usageOf(metadata?.usage) ?? usage;
    note("Message metadata", value);
  };
  const callOf = (id: string, name: string | undefined) => {
    let call = calls.get(id);
    if (call === undefined) {
      call = { name: name ?? "tool", input: "", state: "started", latest: "", shown: 0 };
      calls.set(id, call);
    }
    return call;
  };
  /** Uses the streamed arguments if they are JSON: byte for byte what the model wrote. */
  const putCall = (id: string, name: string | undefined, input: unknown): void => {
    const call = callOf(id, name);
    if (name !== undefined) call.name = name;
    ensureMessage();
    had_calls = true;
    const streamed = call.is_text === true ? JSON.stringify(call.input) : call.input;
    const told = input === undefined ? streamed : (JSON.stringify(input) ?? "");
    writer.call(id, call.name, isSameJson(streamed, told) ? streamed : told);
    if (call.state === "started") call.state = "called";
  };
  const putResult = (
    id: string,
    status: "success" | "error" | "aborted",
    output_text: string,
    { metadata, outcome }: { metadata?: JsonObject | undefined; outcome?: CallOutcome | undefined } = {},
  ): void => {
    // A call of an earlier stream may end in this one.
    const call = calls.get(id);
    if (call?.state === "started" && call.input !== "") putCall(id, undefined, undefined);
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
  };
  /** Adds the other fields of an event to the call's metadata. */
  const putMetadata = (id: string, event: JsonObject): void => {
    const metadata = restOf(event);
    if (metadata !== undefined) writer.put({ type: "task.metadata", tool_call_id: id, metadata });
  };

  /** Each output replaces the previous one, but progress can only grow. An output that does not extend it is appended once. */
  const growProgress = (tool_call_id: string, call: Call, output: string): void => {
    const text = newProgress(call, output);
    if (text === "") return;
    writer.put({ type: "message.tool_progress", tool_call_id, text, offset: call.shown });
    call.latest = output;
    call.shown += text.length;
  };

  const say = (kind: "text" | "thinking", event: JsonObject, text: string | undefined): void => {
    const id = asString(event.id);
    if (text === undefined || id === undefined) {
      putUnknown(event);
      return;
    }
    ensureMessage();
    writer.say(kind, text, `${kind}:${id}`);
  };

  /** Reads the answer to an approval, which identifies the call. */
  const readApproval = (event: JsonObject): void => {
    const approval = approvals.get(asString(event.approvalId) ?? "");
    const reason = asText(event.reason);
    if (approval !== undefined && event.approved === false)
      approval.outcome = { kind: "refused", ...(reason === undefined ? {} : { reason }) };
    const words =
      event.approved === true
        ? "The call was approved"
        : event.approved === false
          ? "The call was refused"
          : "The approval was answered";
    note(words, event);
  };
  /** Reads a person's message to a working agent. */
  const steer = (event: JsonObject): void => {
    const id = asString(event.id);
    const items = asArray(event.parts).map(asObject);
    if (id === undefined || items.length === 0) {
      putUnknown(event);
      return;
    }
    if (isEnding) endStep();
    writer.endPart();
    writer.put({
      type: "user.message",
      message_id: idOf(`steering:${id}`),
      parts: items.map(partOf),
      queued: true,
    });
  };

  const pushCall = (event: JsonObject, id: string): boolean => {
    const name = asString(event.toolName);
    switch (event.type) {
      case "tool-input-start":
        ensureMessage();
        had_calls = true;
        callOf(id, name).is_text = event.inputEncoding === "text";
        writer.startCall(id, callOf(id, name).name);
        return true;
      case "tool-input-delta": {
        const delta = asString(event.inputTextDelta);
        if (delta === undefined) return false;
        callOf(id, name).input += delta;
        return true;
      }
      case "tool-input-available":
        putCall(id, name, event.input);
        putMetadata(id, event);
        return true;
      case "tool-input-error":
        putCall(id, name, event.input);
        putResult(id, "error", asString(event.errorText) ?? "The input could not be used", {
          metadata: restOf(event),
        });
        return true;
      case "tool-approval-request":
        approvals.set(asString(event.approvalId) ?? "", { call: id });
        note("The call waits for an approval", event);
        return true;
      case "tool-output-available": {
        const text = outputText(event.output);
        if (event.preliminary === true) growProgress(id, callOf(id, name), text);
        else putResult(id, "success", text, { metadata: restOf(event) });
        return true;
      }
      case "tool-output-error":
        putResult(id, "error", asString(event.errorText) ?? "", { metadata: restOf(event) });
        return true;
      case "tool-output-denied":
        putResult(id, "aborted", "Denied", {
          metadata: restOf(event),
          outcome: [...approvals.values()].find(({ call }) => call === id)?.outcome ?? { kind: "refused" },
        });
        return true;
      default:
        return false;
    }
  };

  const push = (event: JsonObject): void => {
    began = true;
    const type = asString(event.type) ?? "";
    hasFailed = type === "error";
    if (type === "tool-approval-response") {
      readApproval(event);
      return;
    }
    if (type.startsWith("tool-")) {
      const id = asString(event.toolCallId);
      if (id === undefined || !pushCall(event, id)) putUnknown(event);
      return;
    }
    if (type.startsWith("data-")) {
      // Data with an id replaces earlier data with that id.
      const id = asString(event.id);
      note(type, event.data, id === undefined ? undefined : idOf(`${type}:${id}`));
      return;
    }
    switch (type) {
      case "start":
        response_id = asText(event.messageId);
        readMetadata(event.messageMetadata);
        return;
      case "start-step":
        if (isEnding) endStep();
        beginMessage();
        return;
      case "finish-step":
        writer.endPart();
        isEnding = true;
        return;
      case "reset-step": {
        const message_id = writer.message_id;
        endStep();
        if (message_id !== undefined) {
          writer.put({ type: "message.retract", message_id, reason: "The step was begun again" });
        }
        return;
      }
      case "text-start":
        say("text", event, "");
        return;
      case "text-delta":
        say("text", event, asString(event.delta));
        return;
      case "reasoning-start":
        say("thinking", event, "");
        return;
      case "reasoning-delta":
        say("thinking", event, asString(event.delta));
        return;
      case "text-end":
      case "reasoning-end": {
        const kind = type === "text-end" ? "text" : "thinking";
        writer.endPart(`${kind}:${asString(event.id) ?? ""}`, kind === "thinking" ? signatureOf(event) : {});
        if (event.citations !== undefined) note("Citations", event.citations);
        return;
      }
      case "file":
      case "reasoning-file": {
        const url = asString(event.url);
        const mime = asString(event.mediaType);
        if (url === undefined || mime === undefined) putUnknown(event);
        else {
          ensureMessage();
          if (mime.startsWith("image/")) writer.image(url);
          else writer.file({ mime, url });
        }
        return;
      }
      case "source-url":
      case "source-document":
        note(
          `Source: ${asText(event.title) ?? asText(event.url) ?? asText(event.sourceId) ?? "unnamed"}`,
          event,
        );
        return;
      case "custom":
        note(asText(event.kind) ?? "Custom content", event);
        return;
      case "steering-message":
        steer(event);
        return;
      case "message-metadata":
        readMetadata(event.messageMetadata);
        return;
      case "error":
        writer.endPart();
        writer.put({ type: "error", message: asText(event.errorText) ?? "The stream says that it failed" });
        return;
      case "abort":
        isOver = true;
        for (const [id, call] of calls) if (call.state !== "ended") putResult(id, "aborted", "");
        writer.endPart();
        writer.dropMessage();
        writer.put({ type: "interrupt", reason: asText(event.reason) ?? "Aborted" });
        return;
      case "finish": {
        isOver = true;
        readMetadata(event.messageMetadata);
        const raw = asString(event.finishReason);
        endStep(raw === undefined ? "stop" : (STOP_REASONS.get(raw) ?? "stop"), raw);
        writer.put({ type: "turn.end" });
        return;
      }
      default:
        putUnknown(event);
    }
  };

  return {
    push,
    end() {
      if (isOver || !began) return;
      for (const [id, call] of calls) if (call.state === "started") putCall(id, undefined, undefined);
      if (hasFailed) endFailed(writer);
      else endCut(writer);
    },
    get isOver() {
      return isOver;
    },
    get hasFailed() {
      return hasFailed;
    },
  };
}
