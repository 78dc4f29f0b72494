import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { completeFrame } from "../complete-frame.ts";
import type {
  Disposition,
  RecordReader,
  RecordResult,
  SessionLinkFacts,
  SessionRecord,
} from "../contract.ts";
import { addItem, itemWithId } from "../recent-items.ts";
import { mediaOf, stopOf, usageOf } from "./fields.ts";
import { resultFrame } from "./tool.ts";

/** opencode's text for a command that a person ran in shell mode. */
const SHELL_MODE = "The following tool was executed by the user";
const PLACEHOLDER_TITLE = /^(?:New|Child) session - \d{4}-\d{2}-\d{2}T/;
/** Number of messages whose role is remembered: later parts refer to them. */
const MAX_MESSAGES = 64;
/** The agent of a session that has not switched. */
const DEFAULT_AGENT = "build";
/** Maximum number of run calls that are remembered for linking. */
const MAX_RUNS = 1_000;

interface Message {
  id: string;
  /** The id in frames. */
  message_id: string;
  role: "user" | "assistant";
  mode?: string;
  /** Not emitted yet, because the message has started no step. */
  model?: string;
  begun?: boolean;
}

interface State {
  session_id?: string;
  name: string;
  parent?: string;
  /** Time of the last record with a time, in milliseconds. */
  at: number;
  /** Newest last. */
  messages: Message[];
  /** The open prompt. Its parts arrive one by one. */
  prompt?: { message: string; parts: { key: string; part: Part }[]; at: number; origin?: "command" };
  /** The agent of the last prompt (build, plan), and the message whose prompt has yet to name a different one. */
  agent: string;
  switches?: string;
  /** The model of the last assistant message that names one. */
  model?: string;
  /** The last assistant message without an end. */
  open?: string;
  version?: string;
  calls: SessionLinkFacts["calls"];
  run_at?: number;
}

/** Reads the records of `stores.ts`. Part ids are derived from rows, so a revision changes its part in place. */
export const openCodeReader: RecordReader<State> = {
  initialState: () => ({ name: "", at: 0, messages: [], calls: [], agent: DEFAULT_AGENT }),
  sessionId: ({ session_id }) => session_id,
  read: (state, record) => new RecordReading(state, record).read(),
  end: () => [],
  linkFacts({ session_id, name, parent, calls, run_at = 0 }) {
    if (session_id === undefined) return { sessions: [] };
    const group = parent === undefined ? session_id : openCodeSessionId(parent);
    const run =
      parent === undefined
        ? undefined
        : { agent_key: name, parent_session_id: openCodeSessionId(parent), at: run_at };
    return { sessions: [{ session_id, group, calls, ...(run !== undefined && { run }) }] };
  },
};

/** A session's id in Verbatim, derived from opencode's (`ses_…`). */
export const openCodeSessionId = (name: string): string => uuidFrom("opencode", name);

/** A part's id in Verbatim. `session_id`: its session's id in Verbatim; `id`: opencode's id of the part (`prt_…`). */
export const openCodePartId = (session_id: string, id: string): string => uuidFrom(session_id, `part:${id}`);

class RecordReading {
  private readonly state: State;
  private readonly record: SessionRecord;
  private readonly frames: Frame[] = [];
  private disposition: Disposition = { kind: "folded", into: "the session" };

  constructor(state: State, record: SessionRecord) {
    this.state = state;
    this.record = record;
  }

  read(): RecordResult {
    const { key, value, deleted } = this.record;
    const colon = key.indexOf(":");
    const kind = colon === -1 ? key : key.slice(0, colon);
    const id = colon === -1 ? "" : key.slice(colon + 1);
    if (kind === "session") this.session(value);
    else if (deleted === true) this.deleted(kind, id);
    else if (kind === "message") this.message(id, asObject(value.data), value.reverted === true);
    else if (kind === "part")
      this.part(id, asString(value.messageID) ?? "", asObject(value.data), value.reverted === true);
    else if (kind === "finish") this.finish(id, value);
    else this.unknown(key, value);
    return { disposition: this.disposition, frames: this.frames };
  }

  private get session_id(): string {
    this.state.session_id ??= openCodeSessionId(this.state.name);
    return this.state.session_id;
  }

  private put(body: FrameBody, at = this.state.at): void {
    const { session_id, record } = this;
    this.frames.push(completeFrame(body, session_id, at, record.place));
  }

  private emitShown(body: FrameBody, at?: number): void {
    this.disposition = { kind: "shown" };
    this.put(body, at);
  }

  private fold(into: string): void {
    this.disposition = { kind: "folded", into };
  }

  private session(value: JsonObject): void {
    const { state } = this;
    if (this.record.deleted === true) return;
    const name = asText(value.id);
    if (state.name === "" && name !== undefined) state.name = name;
    const parent = asText(value.parent_id) ?? asText(value.parentID);
    if (parent !== undefined) state.parent = parent;
    const title = asText(value.title);
    const version = asText(value.version);
    const cwd = asText(value.directory);
    const created = asNumber(value.time_created) ?? asNumber(asObject(value.time)?.created);
    if (created !== undefined) {
      state.run_at ??= created;
      if (state.at === 0) state.at = created;
    }
    const name_of_run = /\(@(.+) subagent\)$/.exec(title ?? "")?.[1];
    this.put({
      type: "session.update",
      patch: {
        agent: "opencode",
        ...(version !== undefined && { agent_version: version }),
        ...(title !== undefined && !PLACEHOLDER_TITLE.test(title) && { title }),
        ...(cwd !== undefined && { cwd }),
        ...(parent !== undefined && {
          parent: { session_id: openCodeSessionId(parent) },
          run: {
            ...(name_of_run !== undefined && { name: name_of_run }),
            ...(title !== undefined && { task: title.replace(/ \(@.+ subagent\)$/, "") }),
          },
        }),
      },
    });
  }

  private message(id: string, data: JsonObject | undefined, reverted: boolean): void {
    const { state } = this;
    const role = data?.role === "user" ? "user" : "assistant";
    const created = asNumber(asObject(data?.time)?.created);
    if (data === undefined) {
      this.unknown(`message:${id}`, this.record.value);
      return;
    }
    this.fold("its parts");
    const known = itemWithId(state.messages, id);
    if (reverted) this.retract(id, undefined, role);
    // Later changes of a message concern its end, which is a separate record.
    if (known !== undefined) return;
    if (created !== undefined) state.at = created;
    const model = asText(data.modelID);
    const mode = asText(data.mode);
    const message: Message = { id, role, message_id: this.messageId(id) };
    if (mode !== undefined) message.mode = mode;
    if (model !== undefined) message.model = model;
    addItem(state.messages, message, MAX_MESSAGES);
    delete state.prompt;
    if (role === "user") {
      this.agentOf(id, data);
      return;
    }
    if (model !== undefined && model !== state.model) {
      state.model = model;
      this.put({ type: "session.update", patch: { model } });
    }
    this.open(id);
  }

  private agentOf(id: string, data: JsonObject): void {
    const { state } = this;
    delete state.switches;
    const agent = asText(data.agent) ?? asText(data.mode);
    if (agent === undefined || agent === state.agent) return;
    state.agent = agent;
    // The agent of a sub-agent's session is its name.
    if (state.parent === undefined) state.switches = id;
  }

  /** Starts an assistant message, and ends the one before: a killed process leaves a message whose end is not recorded. */
  private open(id: string): void {
    const { state } = this;
    if (state.open !== undefined) this.put({ type: "message.end", message_id: this.messageId(state.open) });
    this.begin(id);
    state.open = id;
  }

  /** Starts the step of an assistant message. */
  private begin(id: string): void {
    const message = itemWithId(this.state.messages, id);
    if (message === undefined || message.begun === true) return;
    message.begun = true;
    this.put({
      type: "message.start",
      message_id: this.messageId(id),
      ...(message.model !== undefined && { model: message.model }),
    });
  }

  private messageId(id: string): string {
    const known = itemWithId(this.state.messages, id);
    return known?.message_id ?? uuidFrom(this.session_id, `message:${id}`);
  }
  private partId(id: string): string {
    return openCodePartId(this.session_id, id);
  }

  private retract(message: string, part: string | undefined, role: "user" | "assistant"): void {
    const reason = "undone in opencode";
    const message_id = this.messageId(message);
    if (part !== undefined)
      this.put({ type: "message.retract", message_id, part_id: this.partId(part), reason });
    else {
      this.put({ type: "message.retract", message_id, reason });
      if (role === "user") this.put({ type: "turn.retract", turn_id: message_id, reason });
    }
  }

  private deleted(kind: string, id: string): void {
    const reason = "deleted in opencode";
    this.fold("what it had shown");
    const message_id = this.messageId(id);
    if (kind === "message") this.put({ type: "message.retract", message_id, reason });
    else if (kind === "part")
      this.put({ type: "message.retract", message_id, part_id: this.partId(id), reason });
  }

  private part(id: string, message: string, data: JsonObject | undefined, reverted: boolean): void {
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
          this.prompt(id, message, { type: "text", text: text ?? "" });
          return;
        }
        if (text === SHELL_MODE) {
          this.prompt(id, message, { type: "text", text }, "command");
          return;
        }
        this.context(id, message, "Context", text ?? "");
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
    const title = `Agent: ${state.agent}`;
    this.put({ type: "marker", message_id, part_id: partId(message_id, 1), kind: "note", title });
  }

  private context(id: string, message: string, title: string, text: string): void {
    this.emitShown({
      type: "developer.message",
      message_id: this.messageId(message),
      part_id: this.partId(id),
      parts: [{ type: "text", text }],
      title,
    });
  }

  private notice(id: string, message: string, data: JsonObject): void {
    const titles: Readonly<Record<string, string>> = {
      agent: `Agent: ${asText(data.name) ?? "unknown"}`,
      subtask: `Sub-task: ${asText(data.description) ?? asText(data.prompt) ?? ""}`,
      retry: `Attempt ${asNumber(data.attempt) ?? ""} failed`,
      compaction: data.auto === true ? "Context compacted by the agent" : "Context compacted",
      snapshot: "File snapshot",
      patch: `Files changed: ${Array.isArray(data.files) ? data.files.length : 0}`,
    };
    const type = String(data.type);
    const error = asText(asObject(asObject(data.error)?.data)?.message);
    this.emitShown({
      type: "marker",
      message_id: this.messageId(message),
      part_id: this.partId(id),
      kind: type === "compaction" ? "compaction" : type === "retry" ? "retry" : "note",
      title: titles[type] ?? type,
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
          this.context(id, message, "Context", asString(data.text) ?? "");
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
    const arguments_json = new RawJson(this.record).of(call.input ?? {}, ["data", "state", "input"]);
    this.emitShown({
      type: "message.tool_call",
      tool_call_id,
      tool_name,
      arguments_json,
      part_id,
      message_id,
    });
    const run = asText(asObject(call.metadata)?.sessionId);
    if (data.tool === "task" && !state.calls.some((each) => each.tool_call_id === tool_call_id)) {
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

  private finish(id: string, value: JsonObject): void {
    const { state } = this;
    this.fold("its message's end");
    // The record of its message could not be read. While the list is not full, no message was forgotten.
    const isUnread = state.messages.length < MAX_MESSAGES && itemWithId(state.messages, id) === undefined;
    if (isUnread) {
      addItem(state.messages, { id, role: "assistant", message_id: this.messageId(id) }, MAX_MESSAGES);
      this.open(id);
    } else this.begin(id);
    const error = asObject(value.error);
    const stop = stopOf(value);
    const usage = usageOf(value.tokens, value.cost);
    const message = asText(asObject(error?.data)?.message) ?? asText(error?.name);
    const completed = asNumber(asObject(value.time)?.completed);
    if (completed !== undefined) state.at = completed;
    // The message after it has ended it: only its tokens are new.
    if (state.open !== id && usage === undefined) return;
    this.put({
      type: "message.end",
      message_id: this.messageId(id),
      ...(stop !== undefined && { stop_reason: stop }),
      ...(usage !== undefined && { usage }),
      ...(asText(value.finish) !== undefined && { stop_reason_raw: asText(value.finish) ?? "" }),
      ...(stop === "error" && { error: message ?? "The agent failed" }),
    });
    if (state.open !== id) return;
    delete state.open;
    // A summary ends no turn: the agent may continue with it.
    if (stop === "stop" && value.summary !== true) this.put({ type: "turn.end", status: "completed" });
    if (stop === "error") this.put({ type: "turn.end", status: "failed" });
    // A shell command ends with its message.
    if (stop === undefined && error === undefined) this.put({ type: "turn.end", status: "completed" });
  }

  private unknown(key: string, raw: unknown): void {
    this.disposition = { kind: "unknown" };
    const part_id = uuidFrom(this.session_id, `unknown:${key}`);
    this.put({ type: "unknown", part_id, raw });
  }
}
