import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { partId } from "../../model/uuid.ts";
import { startsRuns } from "../conversation/tool-payload.ts";
import { itemWithId } from "../recent-items.ts";
import { mediaOf } from "./fields.ts";
import { OpenCodeFrames } from "./frames.ts";
import { resultFrame } from "./tool.ts";

/** opencode's text for a command that a person ran in shell mode. */
const SHELL_MODE = "The following tool was executed by the user";
/** Maximum number of run calls that are remembered for linking. */
const MAX_RUNS = 1_000;

/** Reads the parts of messages. */
export class PartReading extends OpenCodeFrames {
  /** The place of a call's arguments in the record. */
  protected inputPath: readonly (string | number)[] = ["data", "state", "input"];

  protected part(id: string, message: string, data: JsonObject | undefined, reverted: boolean): void {
    if (data === undefined) {
      this.unknown(`part:${id}`, this.record.value);
      return;
    }
    const { state } = this;
    const known = itemWithId(state.messages, message);
    const time = asObject(data.time) ?? asObject(asObject(data.state)?.time);
    const at = asNumber(time?.start) ?? asNumber(time?.created);
    if (at !== undefined) state.at = at;
    if (known?.role === "user") this.userPart(id, message, data);
    else this.assistantPart(id, message, data);
    if (reverted) this.retract(message, id, known?.role ?? "assistant");
  }

  private userPart(id: string, message: string, data: JsonObject): void {
    const text = asString(data.text);
    switch (data.type) {
      case "text": {
        if (data.synthetic !== true) {
          const origin = data.shell === true ? "command" : undefined;
          this.prompt(id, message, { type: "text", text: text ?? "" }, origin);
          return;
        }
        if (text === SHELL_MODE) {
          this.prompt(id, message, { type: "text", text }, "command");
          return;
        }
        this.context(id, message, text ?? "", contextTitle(data));
        return;
      }
      case "file": {
        const media = mediaOf(data);
        if (media === undefined) this.unknown(`part:${id}`, data);
        else this.prompt(id, message, media);
        return;
      }
      case "compaction":
        // Requested by a person, so it is a separate turn.
        if (data.auto !== true) this.put({ type: "turn.start", turn_id: this.messageId(message) });
        this.notice(id, message, data);
        return;
      case "agent":
      case "subtask":
      case "skill":
        this.notice(id, message, data);
        return;
      default:
        this.unknown(`part:${id}`, data);
        return;
    }
  }

  /** Emits the prompt with all its parts so far. */
  private prompt(id: string, message: string, part: Part, origin?: "command"): void {
    const { state } = this;
    if (state.prompt?.message !== message)
      state.prompt = { message, parts: [], at: state.at, ...(origin !== undefined && { origin }) };
    const { prompt } = state;
    const before = prompt.parts.find(({ key }) => key === id);
    if (before === undefined) prompt.parts.push({ key: id, part });
    else before.part = part;
    const message_id = this.messageId(message);
    this.emitShown(
      {
        type: "user.message",
        message_id,
        part_id: partId(message_id, 0),
        parts: prompt.parts.map((each) => each.part),
        ...(prompt.origin !== undefined && { origin: prompt.origin }),
        // The agent is still working on another prompt.
        ...(state.open !== undefined && { queued: true }),
      },
      prompt.at,
    );
    if (state.switches !== message) return;
    delete state.switches;
    const title = titleFields(sourceTitle("agent", { agent: state.agent }));
    this.put({ type: "marker", message_id, part_id: partId(message_id, 1), kind: "note", ...title });
  }

  private context(
    id: string,
    message: string,
    text: string,
    title: DisplayText = sourceTitle("context"),
  ): void {
    this.emitShown({
      type: "developer.message",
      message_id: this.messageId(message),
      part_id: this.partId(id),
      parts: [{ type: "text", text }],
      ...titleFields(title),
    });
  }

  private notice(id: string, message: string, data: JsonObject): void {
    const type = String(data.type);
    const error = asText(asObject(asObject(data.error)?.data)?.message);
    this.emitShown({
      type: "marker",
      message_id: this.messageId(message),
      part_id: this.partId(id),
      kind: type === "compaction" ? "compaction" : type === "retry" ? "retry" : "note",
      ...titleFields(noticeTitle(type, data)),
      ...(error !== undefined && { text: error }),
      data,
    });
  }

  private assistantPart(id: string, message: string, data: JsonObject): void {
    const message_id = this.messageId(message);
    switch (data.type) {
      case "text":
      case "reasoning": {
        if (data.synthetic === true) {
          this.context(id, message, asString(data.text) ?? "");
          return;
        }
        this.begin(message);
        const part_id = this.partId(id);
        const kind = data.type === "text" ? "text" : "thinking";
        this.emitShown({ type: "message.part_start", part_id, kind, message_id });
        const text = asString(data.text) ?? "";
        const ended = asNumber(asObject(data.time)?.end);
        this.emitShown({ type: "message.part_end", part_id, text }, ended);
        return;
      }
      case "tool":
        this.begin(message);
        this.tool(id, message_id, data);
        return;
      case "file": {
        const media = mediaOf(data);
        if (media === undefined) {
          this.unknown(`part:${id}`, data);
          return;
        }
        const part_id = this.partId(id);
        if (media.type === "image_url")
          this.emitShown({ type: "message.image", part_id, message_id, url: media.url });
        else {
          const { mime, url, filename } = media;
          const named = filename === undefined ? {} : { filename };
          this.emitShown({ type: "message.file", part_id, message_id, mime, url, ...named });
        }
        return;
      }
      case "step-start":
      case "step-finish":
        this.fold("its message's step");
        return;
      case "snapshot":
        this.disposition = { kind: "hidden", rule: "snapshot of the files" };
        return;
      case "patch":
      case "retry":
      case "agent":
      case "subtask":
      case "compaction":
        this.notice(id, message, data);
        return;
      default:
        this.unknown(`part:${id}`, data);
        return;
    }
  }

  private tool(id: string, message_id: string, data: JsonObject): void {
    const { state } = this;
    const part_id = this.partId(id);
    const call = asObject(data.state) ?? {};
    const tool_call_id = asText(data.callID) ?? id;
    const input = asObject(call.input);
    // For an unknown tool name, opencode runs a tool of its own that reports it.
    const tool_name =
      data.tool === "invalid" ? (asText(input?.tool) ?? "invalid") : (asText(data.tool) ?? "unknown");
    if (call.status === "pending" && (input === undefined || Object.keys(input).length === 0)) {
      this.emitShown({ type: "message.tool_call_start", tool_call_id, tool_name, part_id, message_id });
      return;
    }
    const arguments_json = new RawJson(this.record).of(call.input ?? {}, this.inputPath);
    this.emitShown({
      type: "message.tool_call",
      tool_call_id,
      tool_name,
      arguments_json,
      part_id,
      message_id,
    });
    const run = asText(asObject(call.metadata)?.sessionId);
    if (startsRuns(tool_name) && !state.calls.some((each) => each.tool_call_id === tool_call_id)) {
      const prompt = asText(input?.prompt);
      state.calls.push({
        tool_call_id,
        at: state.at,
        ...(run !== undefined && { agent_key: run }),
        ...(prompt !== undefined && { prompt }),
      });
      if (state.calls.length > MAX_RUNS) state.calls.shift();
    } else if (run !== undefined) {
      const known = state.calls.find((each) => each.tool_call_id === tool_call_id);
      if (known !== undefined) known.agent_key = run;
    }
    const output = asString(asObject(call.metadata)?.output);
    if (call.status === "running" && output !== undefined)
      this.put({ type: "message.tool_progress", tool_call_id, text: output, offset: 0 });
    const result = resultFrame(tool_name, tool_call_id, call, data.tool === "invalid");
    if (result === undefined) return;
    this.put(
      { ...result, part_id: partId(part_id, 1), message_id: partId(part_id, 2) },
      asNumber(asObject(call.time)?.end),
    );
  }
}

/** The title of text that no person wrote. opencode 2 describes it. */
const contextTitle = (data: JsonObject): DisplayText =>
  asText(data.skill) !== undefined
    ? sourceTitle("skill", { skill: asText(data.skill) })
    : (asText(data.description) ?? sourceTitle("context"));

function noticeTitle(type: string, data: JsonObject): DisplayText {
  switch (type) {
    case "agent":
      return sourceTitle("agent", { agent: asText(data.name) });
    case "skill":
      return sourceTitle("skill", { skill: asText(data.name) ?? asText(data.id) });
    case "subtask":
      return sourceTitle("sub_task", { task: asText(data.description) ?? asText(data.prompt) });
    case "retry":
      return sourceTitle("attempt_failed", { attempt: asNumber(data.attempt) });
    case "compaction":
      return data.auto === true
        ? sourceTitle("context_compacted_by_agent")
        : sourceTitle("context_compacted", {});
    case "patch":
      return sourceTitle("files_changed", { files: Array.isArray(data.files) ? data.files.length : 0 });
    default:
      return type;
  }
}
