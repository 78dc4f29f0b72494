import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
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
import { blocksIn, imageOf } from "../conversation/content.ts";
import { parsedTime } from "../parsed-time.ts";
import { addName, hasName, takeNames } from "../recent-names.ts";
import { promptParts, textOf, usageOf } from "./content.ts";
import { responseOf, resultOf, unwrapped } from "./tool.ts";

/** Part indexes of a message: thoughts start at 0, content here. */
const CONTENT = 1_000;
/** The tool with which a sub-agent returns its result. */
const COMPLETE_TASK = "complete_task";
/** Maximum number of remembered calls, and of messages that a rewind can retract. */
const MAX_CALLS = 1_000;
const MAX_MESSAGES = 2_000;
const SHELL_MODE = "I ran the following shell command:";
const COMPRESSED_ANSWER = "Got it. Thanks for the additional context!";
/** The first folder in the context that Gemini CLI gives the model. The main session's file names it nowhere else. */
const WORKSPACE = /^- \*\*Workspace Directories:\*\*\n {2}- (.+)$/m;

interface State {
  session_id?: string;
  /** From the file's path: the session that started this run, and the run's name. */
  parent?: string;
  stem: string;
  isRun: boolean;
  at: number;
  started_at?: number;
  /** `type:id` of the messages so far, newest last. */
  messages: string[];
  /** Messages that a rewind retracted. The agent may write them again. */
  rewound: string[];
  /** The model of the last message that names one. */
  model?: string;
  /** The model's last message, which is the step of its calls. */
  last?: string;
  /** Recently emitted calls, and recently ended ones. */
  started: string[];
  ended: string[];
  calls: SessionLinkFacts["calls"];
  /** The last part is an interrupt. */
  interrupted?: boolean;
  context_told?: boolean;
  /** Length and start of the summary that last replaced the model's context. Later mirrors of the context begin with it too. */
  compressed?: string;
  /** Frames buffered before the first message of the conversation, without which the file is not a session. Absent after it. */
  held?: Frame[];
}

/**
 * Reads Gemini CLI's messages from lines and documents. A message is written again when its calls have ended. All ids are
 * derived from the message's id, so the second version revises the first. `$set.messages` mirrors the model's context, not the
 * session, and retracts nothing.
 *
 * Each start of the program writes a file, even a start that continues an earlier session: that file has the session's id and no
 * message. A file without a message of the conversation is not a session, nor does Gemini CLI list it.
 */
export const geminiReader: RecordReader<State> = {
  initialState({ path }) {
    const segments = path.split("/");
    const at = segments.lastIndexOf("chats");
    const parent = at !== -1 && at < segments.length - 2 ? segments[at + 1] : undefined;
    const stem = (segments.at(-1) ?? "").replace(/(?:\.records)?\.jsonl?$/, "");
    return {
      ...(parent !== undefined && { parent }),
      stem,
      isRun: parent !== undefined,
      at: 0,
      messages: [],
      rewound: [],
      started: [],
      ended: [],
      calls: [],
      held: [],
    };
  },
  sessionId: ({ session_id }) => session_id,
  read: (state, record) => new RecordReading(state, record).read(),
  end: () => [],
  linkFacts({ session_id, isRun, parent, stem, calls, started_at = 0, held }) {
    if (session_id === undefined || held !== undefined) return { sessions: [] };
    const parent_id = isRun && parent !== undefined ? sessionIdOf(parent) : undefined;
    const run =
      parent_id === undefined ? undefined : { agent_key: stem, parent_session_id: parent_id, at: started_at };
    return {
      sessions: [{ session_id, group: parent_id ?? session_id, calls, ...(run !== undefined && { run }) }],
    };
  },
};

const sessionIdOf = (name: string): string =>
  isUuid(name) ? name.toLowerCase() : uuidFrom("gemini-cli", name);

// Optional fields of frequent frames are assigned one by one: spreading objects is slow.
type Body<Type extends FrameBody["type"]> = Extract<FrameBody, { type: Type }>;

class RecordReading {
  private readonly state: State;
  private readonly record: SessionRecord;
  private readonly frames: Frame[] = [];
  private disposition: Disposition = { kind: "folded", into: "the session" };
  /** The message was read before. Its frames revise parts, which keep the position of the first record. */
  private revises = false;

  constructor(state: State, record: SessionRecord) {
    this.state = state;
    this.record = record;
  }

  read(): RecordResult {
    const { value, deleted, key } = this.record;
    if (deleted === true) this.deleted(key.replace(/^message:/, "").replace(/#\d+$/, ""));
    else if (asText(value.type) !== undefined && asText(value.id) !== undefined) this.message(value, []);
    else if (asObject(value.$set) !== undefined) this.set(asObject(value.$set) ?? {});
    else if (asText(value.$rewindTo) !== undefined) this.rewind(asText(value.$rewindTo) ?? "");
    else if (asText(value.sessionId) !== undefined) this.header(value);
    else this.unknown(value);
    return { disposition: this.disposition, frames: this.released() };
  }

  /** The frames of the record. Before the conversation begins, they are buffered and then emitted with its first record. */
  private released(): Frame[] {
    const { state, frames, disposition } = this;
    const { held } = state;
    if (held === undefined) return frames;
    if (disposition.kind === "folded" || disposition.kind === "hidden") {
      state.held = [...held, ...frames];
      return [];
    }
    delete state.held;
    return [...held, ...frames];
  }

  /** Emits a frame that may precede the conversation. It does not count as a message of the conversation. */
  private preface(body: FrameBody): void {
    if (this.state.held === undefined) {
      this.emitShown(body);
      return;
    }
    this.fold("the first message");
    this.put(body);
  }

  private get session_id(): string {
    this.state.session_id ??= sessionIdOf(this.state.stem);
    return this.state.session_id;
  }

  private put(body: FrameBody): void {
    this.putAt(this.state.at, body);
  }

  private putAt(at: number, body: FrameBody): void {
    const source = this.revises ? undefined : this.record.place;
    this.frames.push(completeFrame(body, this.session_id, at, source));
  }

  private emitShown(body: FrameBody): void {
    if (this.revises) this.fold("the message before it");
    else {
      this.disposition = { kind: "shown" };
      delete this.state.interrupted;
    }
    this.put(body);
  }

  private fold(into: string): void {
    if (this.disposition.kind !== "shown") this.disposition = { kind: "folded", into };
  }

  private unknown(raw: unknown, id = this.record.key): void {
    if (this.revises) this.fold("the message before it");
    else this.disposition = { kind: "unknown" };
    this.put({ type: "unknown", part_id: uuidFrom(this.session_id, `unknown:${id}`), raw });
  }

  private timeOf(value: unknown): void {
    const at = parsedTime(asString(value) ?? "");
    if (!Number.isNaN(at)) this.state.at = at;
  }

  private header(value: JsonObject): void {
    const { state } = this;
    const name = asText(value.sessionId);
    if (name !== undefined) state.session_id ??= sessionIdOf(name);
    if (value.kind === "subagent") state.isRun = true;
    this.timeOf(value.startTime);
    if (state.at > 0) state.started_at ??= state.at;
    this.facts(value);
    this.put({
      type: "session.update",
      patch: {
        agent: "gemini-cli",
        ...(state.isRun &&
          state.parent !== undefined && { parent: { session_id: sessionIdOf(state.parent) }, run: {} }),
      },
    });
  }

  private facts(value: JsonObject): void {
    const cwd = asText(asArray(value.directories)[0]);
    // A sub-agent's summary is its answer.
    const title = this.state.isRun ? undefined : asText(value.summary);
    if (cwd === undefined && title === undefined) return;
    this.put({
      type: "session.update",
      patch: { ...(cwd !== undefined && { cwd }), ...(title !== undefined && { title }) },
    });
  }

  private set(patch: JsonObject): void {
    const { state } = this;
    this.facts(patch);
    if (!Array.isArray(patch.messages)) return;
    this.disposition = { kind: "folded", into: "what the model is given" };
    const messages = asArray(patch.messages)
      .map(asObject)
      .filter((message) => message !== undefined);
    const isContext = (message: JsonObject) => textOf(message.content).startsWith("<session_context>");
    // The file of a continued session starts with the earlier messages.
    const isFirst = state.messages.length === 0;
    for (const [index, message] of messages.entries()) {
      if (isContext(message) ? state.context_told !== true : isFirst)
        this.message(message, ["$set", "messages", index]);
    }
    const [summary, answer] = messages.filter((message) => !isContext(message));
    if (textOf(answer?.content) !== COMPRESSED_ANSWER) return;
    const text = textOf(summary?.content);
    const compressed = `${text.length}:${text.slice(0, 80)}`;
    if (state.compressed === compressed) return;
    state.compressed = compressed;
    if (isFirst) return;
    this.timeOf(asObject(patch)?.lastUpdated);
    this.emitShown({
      type: "marker",
      part_id: uuidFrom(this.session_id, `compressed:${this.record.key}`),
      kind: "compaction",
      title: "Context compressed",
      text,
    });
  }

  private rewind(id: string): void {
    const { state } = this;
    const at = state.messages.findIndex((key) => key.endsWith(`:${id}`));
    for (const key of takeNames(state.messages, Math.max(0, at))) {
      this.retract(key, "rewound");
      addName(state.rewound, key, MAX_MESSAGES);
    }
    this.emitShown({
      type: "marker",
      part_id: uuidFrom(this.session_id, `rewind:${this.record.key}`),
      kind: "rewind",
      title: "Rewound",
    });
  }

  private deleted(key: string): void {
    this.fold("what it had shown");
    this.retract(key, "deleted in Gemini CLI");
  }

  private retract(key: string, reason: string): void {
    const message_id = uuidFrom(this.session_id, key);
    this.put({ type: "message.retract", message_id, reason });
    if (key.startsWith("user:")) this.put({ type: "turn.retract", turn_id: message_id, reason });
  }

  /** `path`: position of the message in the record. */
  private message(value: JsonObject, path: readonly (string | number)[]): void {
    const { state } = this;
    const type = asString(value.type) ?? "";
    const key = `${type}:${asText(value.id) ?? ""}`;
    const message_id = uuidFrom(this.session_id, key);
    const before = state.at;
    this.timeOf(value.timestamp);
    const isNew = !hasName(state.messages, key) && !hasName(state.rewound, key);
    if (isNew) addName(state.messages, key, MAX_MESSAGES);
    this.revises = !isNew;
    switch (type) {
      case "user":
        this.user(value, message_id, before);
        break;
      case "gemini":
        this.gemini(value, message_id, isNew, path);
        break;
      case "info":
      case "warning":
      case "error":
        this.notice(value, type, message_id);
        break;
      default:
        this.unknown(value, key);
    }
    this.revises = false;
  }

  /** `before`: time of the record before it. */
  private user(value: JsonObject, message_id: string, before: number): void {
    const { state } = this;
    const blocks = blocksIn(value.content);
    const answers = blocks.filter((block) => block.functionResponse !== undefined);
    if (answers.length > 0 && answers.length === blocks.length) {
      this.answers(answers);
      return;
    }
    const text = textOf(value.content);
    if (text.startsWith("<session_context>")) {
      state.context_told = true;
      const cwd = WORKSPACE.exec(text)?.[1];
      if (cwd !== undefined) this.put({ type: "session.update", patch: { cwd } });
      this.preface({
        type: "developer.message",
        message_id,
        parts: [{ type: "text", text }],
        title: "Session context",
      });
      return;
    }
    if (text.startsWith("System: Please continue")) {
      this.emitShown({
        type: "developer.message",
        message_id,
        parts: [{ type: "text", text }],
        title: "Continue",
      });
      return;
    }
    const parts = promptParts(value.displayContent ?? value.content);
    // Nothing records the end of a turn. The time until the next prompt is not part of it.
    if (!this.revises && state.last !== undefined && before > 0) this.putAt(before, { type: "turn.end" });
    this.emitShown({
      type: "user.message",
      message_id,
      parts,
      ...(text.startsWith(SHELL_MODE) && { origin: "command" as const }),
      ...(state.isRun && { origin: "agent" as const }),
    });
  }

  /** Reads call results as the model received them. They are part of the calls, except those without a call. */
  private answers(blocks: readonly JsonObject[]): void {
    this.fold("the results of its calls");
    for (const block of blocks) {
      const answer = asObject(block.functionResponse);
      const id = asText(answer?.id) ?? `${this.record.key}:${blocks.indexOf(block)}`;
      if (hasName(this.state.ended, id)) continue;
      const { text = "", parts } = responseOf([block]);
      const failed = asString(asObject(answer?.response)?.error) !== undefined;
      this.emitShown({
        type: "message.tool_result",
        tool_call_id: id,
        ...(asText(answer?.name) !== undefined && { tool_name: asText(answer?.name) ?? "" }),
        is_error: failed,
        status: failed ? "error" : "success",
        output_text: unwrapped(text),
        parts,
        ...this.resultIds(id),
      });
      addName(this.state.ended, id, MAX_CALLS);
    }
  }

  private resultIds(call: string) {
    const part_id = uuidFrom(this.session_id, `result:${call}`);
    return { part_id, message_id: part_id };
  }

  private gemini(
    value: JsonObject,
    message_id: string,
    isNew: boolean,
    path: readonly (string | number)[],
  ): void {
    const { state } = this;
    const model = asText(value.model);
    if (isNew) {
      state.last = message_id;
      const start: Body<"message.start"> = { type: "message.start", message_id };
      if (model !== undefined) start.model = model;
      this.put(start);
      this.nameModel(model);
    }
    for (const [index, each] of asArray(value.thoughts).entries()) {
      const thought = asObject(each);
      const thoughtTexts = [asText(thought?.subject), asText(thought?.description)].filter(
        (text) => text !== undefined,
      );
      const part_id = partId(message_id, index);
      this.emitShown({ type: "message.part_start", part_id, kind: "thinking", message_id });
      this.emitShown({ type: "message.part_end", part_id, text: thoughtTexts.join("\n\n") });
    }
    for (const [index, block] of blocksIn(value.content).entries()) {
      const part_id = partId(message_id, CONTENT + index);
      const text = asString(block.text);
      const media = imageOf(block);
      if (text !== undefined && text.trim() !== "") {
        const kind = block.thought === true ? "thinking" : "text";
        this.emitShown({ type: "message.part_start", part_id, kind, message_id });
        this.emitShown({ type: "message.part_end", part_id, text });
      } else if (media?.type === "image_url") {
        this.emitShown({ type: "message.image", part_id, message_id, url: media.url });
      } else if (text === undefined && block.functionCall === undefined && media === undefined) {
        this.unknown(block, `${this.record.key}:${index}`);
      }
    }
    // Its calls follow later and belong to it.
    const usage = usageOf(value.tokens);
    if (isNew || usage !== undefined) {
      const end: Body<"message.end"> = { type: "message.end", message_id };
      if (usage !== undefined) end.usage = usage;
      this.put(end);
    }
    this.fold("its message");
    for (const [index, each] of asArray(value.toolCalls).entries())
      this.call(asObject(each) ?? {}, [...path, "toolCalls", index, "args"], message_id, isNew);
  }

  private nameModel(model: string | undefined): void {
    if (model === undefined || model === this.state.model) return;
    this.state.model = model;
    this.put({ type: "session.update", patch: { model } });
  }

  private call(
    call: JsonObject,
    path: readonly (string | number)[],
    message_id: string,
    isNew: boolean,
  ): void {
    const { state } = this;
    const id = asText(call.id) ?? `${message_id}:${path.join(".")}`;
    if (hasName(state.ended, id)) return;
    this.revises = hasName(state.started, id);
    if (!this.revises) addName(state.started, id, MAX_CALLS);
    const before = state.at;
    this.timeOf(call.timestamp);
    const arguments_json = new RawJson(this.record).of(call.args ?? {}, path);
    this.emitShown({
      type: "message.tool_call",
      tool_call_id: id,
      tool_name: asText(call.name) ?? "unknown",
      arguments_json,
      part_id: uuidFrom(this.session_id, `call:${id}`),
      // One record may contain the calls of all steps. A new call belongs to the last step.
      message_id: isNew ? message_id : (state.last ?? message_id),
    });
    this.link(call, id);
    const result = resultOf(call, id);
    if (result !== undefined) {
      this.put(Object.assign(result, this.resultIds(id)));
      addName(state.ended, id, MAX_CALLS);
      // A sub-agent's result. Its file has no other end.
      if (call.name === COMPLETE_TASK && result.status === "success")
        this.put({ type: "turn.end", status: "completed" });
    }
    state.at = Math.max(before, state.at);
  }

  private link(call: JsonObject, tool_call_id: string): void {
    const { calls, at } = this.state;
    const agent_key = asText(call.agentId);
    const prompt = call.name === "invoke_agent" ? asText(asObject(call.args)?.prompt) : undefined;
    if (agent_key === undefined && prompt === undefined) return;
    const known = calls.find((each) => each.tool_call_id === tool_call_id);
    if (known !== undefined) {
      if (agent_key !== undefined) known.agent_key = agent_key;
      return;
    }
    calls.push({
      tool_call_id,
      at,
      ...(agent_key !== undefined && { agent_key }),
      ...(prompt !== undefined && { prompt }),
    });
    if (calls.length > MAX_CALLS) calls.shift();
  }

  private notice(value: JsonObject, type: "info" | "warning" | "error", message_id: string): void {
    const text = textOf(value.content);
    const part_id = partId(message_id, 0);
    // Recorded for notices that the terminal composes, such as the sizes before and after a compression.
    if (text.trim() === "" && !this.revises) {
      this.disposition = { kind: "hidden", rule: "empty notice" };
      return;
    }
    if (text.startsWith("Request cancelled")) {
      // A repeated interrupt adds no part to the transcript.
      if (this.state.interrupted && !this.revises) {
        this.fold("the interrupt before it");
        return;
      }
      this.emitShown({ type: "interrupt", part_id, reason: text });
      if (!this.revises) this.state.interrupted = true;
      return;
    }
    const [title = type] = text.split("\n", 1);
    this.preface({
      type: "marker",
      part_id,
      kind: type === "error" ? "error" : "note",
      title: title.slice(0, 200),
      ...(text !== title && { text }),
    });
  }
}
