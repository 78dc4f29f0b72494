import type { SessionPatch } from "../../model/session.ts";
import { isUuid, uuidFrom } from "../../model/uuid.ts";
import type { Disposition, LinkFacts, Reader, ReaderOptions, ReadRecord, RecordPlace } from "../format.ts";
import { createLineReader, type LineRecord } from "../lines.ts";
import { asArray, asNumber, asObject, asString, asStrings, asText, type JsonObject } from "../narrow.ts";
import { type Call, Calls, commandFacts, commandText, mcpFacts, patchFacts } from "./calls.ts";
import { type Base, Copies, type Copy, type Log } from "./copies.ts";
import { imageUrl, type Output, readContent, readOutput, toolNames } from "./output.ts";
import { readChanges } from "./patch.ts";
import { argument, parseArguments, RUN_CALLS, webFacts } from "./tool-extra.ts";
import { type Moment, TurnWriter } from "./turns.ts";
import { readUsage } from "./usage.ts";
import {
  authorByKinds,
  injectedTitle,
  isSamePrompt,
  readUserContent,
  readUserEvent,
  titleByKinds,
  type UserContent,
} from "./user-message.ts";

/** A record of the file with what is the same in all versions taken apart. */
interface Line {
  place: RecordPlace;
  moment: Moment;
  type: string;
  payload: JsonObject;
  value: JsonObject;
}

const SHOWN: Disposition = { kind: "shown" };
const hidden = (rule: string): Disposition => ({ kind: "hidden", rule });
const folded = (into: string): Disposition => ({ kind: "folded", into });

const COPIED = "history copied from another session";
/** What says nothing that a reader of the transcript would miss, by record type or payload type. */
const NOISE = new Set([
  "world_state",
  "retained_context",
  "inter_agent_communication_metadata",
  "additional_tools",
  "ghost_snapshot",
  "thread_settings_applied",
  "turn_diff",
  "background_event",
  "shutdown_complete",
  "session_configured",
  "mcp_startup_update",
  "mcp_startup_complete",
  "account/rateLimits/updated",
  "state",
]);
/** May stand between a user message and the event that confirms it. */
const NEUTRAL = new Set(["turn_context", "world_state", "token_count", "thread_settings_applied"]);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/**
 * Reads one rollout file of any version. Two or three logs interleave in it: `response_item` (what the model sees) is the
 * base, the events and completed items are copies of it, and are shown only where they tell what the base does not.
 */
export class CodexReader implements Reader {
  private readonly lines = createLineReader();
  private readonly path: string;
  /** Codex's id of this thread, by the file's name; without one there, the first `session_meta` gives it. */
  private own: string | undefined;
  private readonly named: string | undefined;
  private readonly threadIds = new Set<string>();
  private state: Session | undefined;
  /** Lines that wait for the one that tells what they are. */
  private held: Line[] = [];
  private at = 0;
  /** The last timestamp up to its seconds, and its time. */
  private minute = "-";
  private minuteAt = 0;

  constructor(options: ReaderOptions) {
    this.path = options.path;
    this.named = options.path.split("/").at(-1)?.match(UUID)?.at(-1)?.toLowerCase();
    this.own = this.named;
    if (this.own !== undefined) this.threadIds.add(this.own);
  }

  push(chunk: Uint8Array): ReadRecord[] {
    return this.readAll(this.lines.push(chunk));
  }

  settle(): ReadRecord[] {
    const out = this.readAll(this.lines.settle());
    this.release(out, undefined);
    return out;
  }

  close(): ReadRecord[] {
    const out = this.readAll(this.lines.close());
    this.release(out, undefined);
    return out;
  }

  readSide(): ReadRecord[] {
    return [];
  }

  linkFacts(): LinkFacts {
    return { sessions: this.state === undefined ? [] : [this.state.linkFacts()] };
  }

  private readAll(records: LineRecord[]): ReadRecord[] {
    const out: ReadRecord[] = [];
    for (const record of records) this.read(record, out);
    return out;
  }

  private read(record: LineRecord, out: ReadRecord[]): void {
    const { place } = record;
    if (record.blank) {
      this.release(out, undefined);
      out.push({ place, disposition: hidden("blank line"), frames: [] });
      return;
    }
    if (record.error !== undefined) {
      this.release(out, undefined);
      const session = this.session(undefined);
      session.writer.begin(this.moment(place, undefined));
      session.writer.unknown(record.text, "A line that cannot be read", record.error);
      out.push({ place, disposition: { kind: "unreadable" }, frames: session.writer.take() });
      return;
    }
    const line = this.lineOf(place, record.value);
    if (line.type === "session_meta") this.learnOwn(line.payload);
    const session = this.session(line.payload);
    if (this.held.length > 0) {
      if (session.mayWait(this.held, line)) {
        this.held.push(line);
        return;
      }
      this.release(out, line);
    }
    if (session.mustWait(line)) this.held.push(line);
    else this.show(line, out, session.process(line));
  }

  /** Shows the lines that waited; `next` is the one that tells what they are, `undefined`: none came. */
  private release(out: ReadRecord[], next: Line | undefined): void {
    const { held } = this;
    if (held.length === 0) return;
    this.held = [];
    const session = this.session(undefined);
    session.release(held, next, (line, disposition) => this.show(line, out, disposition));
  }

  private show(line: Line, out: ReadRecord[], disposition: Disposition): void {
    out.push({ place: line.place, disposition, frames: this.session(undefined).writer.take() });
  }

  private moment(place: RecordPlace, timestamp: unknown): Moment {
    const at = typeof timestamp === "string" ? this.readTime(timestamp) : Number.NaN;
    if (!Number.isNaN(at)) this.at = at;
    const { line, byte, length } = place;
    return { source: { file: this.path, line, byte, length }, at: this.at };
  }

  /** Most lines are of the same minute as the line before: only their seconds are read. */
  private readTime(text: string): number {
    if (text.length !== 24 || !text.endsWith("Z")) return Date.parse(text);
    if (!text.startsWith(this.minute)) {
      this.minute = text.slice(0, 17);
      this.minuteAt = Date.parse(`${this.minute}00.000Z`);
    }
    return this.minuteAt + Math.round(Number(text.slice(17, 23)) * 1000);
  }

  private lineOf(place: RecordPlace, value: JsonObject): Line {
    const moment = this.moment(place, value.timestamp);
    const type = asString(value.type);
    const payload = asObject(value.payload);
    if (type !== undefined && payload !== undefined) return { place, moment, type, payload, value };
    // Files of mid 2025 have no payloads: the meta, then bare items, then lines of state.
    if (value.record_type !== undefined) return { place, moment, type: "state", payload: value, value };
    if (type === undefined && asString(value.id) !== undefined && asString(value.timestamp) !== undefined) {
      return { place, moment, type: "session_meta", payload: value, value };
    }
    if (type !== undefined && LEGACY_ITEMS.has(type)) {
      return { place, moment, type: "response_item", payload: value, value };
    }
    return { place, moment, type: type ?? "unknown", payload: payload ?? value, value };
  }

  private learnOwn(payload: JsonObject): void {
    const id = asString(payload.id)?.toLowerCase();
    if (id === undefined || this.state !== undefined) return;
    this.own ??= id;
    // The first meta is the file's own also where the file was renamed.
    this.threadIds.add(id);
  }

  private session(payload: JsonObject | undefined): Session {
    if (this.state === undefined) {
      const name = this.own ?? asString(payload?.id) ?? this.path;
      const session_id = isUuid(name) ? name : uuidFrom("codex", name);
      this.state = new Session(session_id, this.own ?? session_id, this.threadIds);
    }
    return this.state;
  }
}

/** What stands before the text of a message between agents. */
const ENVELOPE = /^Message Type: (\w+)\n(?:[A-Z][\w ]*: .*\n)*?Payload:\n?/;
const LEGACY_ITEMS = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "web_search_call",
]);

/** The state of one thread while its file is read. */
class Session {
  readonly writer: TurnWriter;
  private readonly calls: Calls;
  private readonly own: string;
  private readonly ownIds: ReadonlySet<string>;
  private readonly copies = new Copies();
  /** Told by events: then turns have explicit borders, and prompts confirmations. */
  private hasTasks = false;
  private hasConfirmations = false;
  /** A record of tokens ends each answer of the model; without them an output does. */
  private hasUsageRecords = false;
  private patch: SessionPatch = {};
  private metaSeen = false;
  private group: string | undefined;
  private parent: string | undefined;
  private isRun = false;
  private startedAt: number | undefined;
  private firstPrompt: string | undefined;
  private readonly spawned: { tool_call_id: string; agent_key?: string; prompt?: string; at: number }[] = [];
  private readonly runNames = new Map<string, string>();
  private readonly runCalls = new Map<string, Call>();
  private ownPath: string | undefined;
  /** Copied history: where it began, whose it is, how many records; `on` while it lasts. */
  private copied:
    | { on: boolean; from: string | undefined; at: Moment; count: number; ids: boolean }
    | undefined;
  private firstOwnOrdinal = 0;
  /** The thread was forked or spawned: its file may begin with another's history. */
  private mayCopy = false;
  /** A line of the thread's own was read. */
  private began = false;
  private compaction: Set<string> | undefined;
  private interrupted = false;
  private totals = "";
  /** A thought that events told, while nothing else came: the next summary belongs to it. */
  private growing: { part_id: string; texts: string[] } | undefined;
  /** Prompts shown since the model last said something, for copies of them that come late. */
  private asked: { text: string; logs: Set<Log> }[] = [];

  constructor(session_id: string, own: string, ownIds: ReadonlySet<string>) {
    this.own = own;
    this.ownIds = ownIds;
    this.writer = new TurnWriter(session_id);
    this.calls = new Calls(this.writer);
  }

  linkFacts() {
    const { session_id } = this.writer;
    return {
      session_id,
      group: this.group ?? this.parent ?? session_id,
      calls: this.spawned,
      ...(this.isRun
        ? {
            run: {
              agent_key: this.own,
              at: this.startedAt ?? 0,
              ...(this.parent === undefined ? {} : { parent_session_id: this.parent }),
              ...(this.firstPrompt === undefined ? {} : { prompt: this.firstPrompt }),
            },
          }
        : {}),
    };
  }

  // --- Waiting ---

  /** Whether a line cannot be shown before the next one is known. */
  mustWait(line: Line): boolean {
    if (this.isCopied(line)) return false;
    if (isUserMessage(line)) {
      return authorByKinds(line.payload) === undefined && !isTurnAborted(line.payload);
    }
    const copy = copyOf(line);
    return copy !== undefined && !this.copies.wasShown(copy);
  }

  mayWait(held: readonly Line[], line: Line): boolean {
    const [first] = held;
    if (first === undefined || held.length > 64) return false;
    if (isUserMessage(first)) {
      return NEUTRAL.has(line.type) || NEUTRAL.has(asString(line.payload.type) ?? "");
    }
    const copy = copyOf(line);
    return copy !== undefined && !this.copies.wasShown(copy);
  }

  release(
    held: readonly Line[],
    next: Line | undefined,
    done: (line: Line, disposition: Disposition) => void,
  ): void {
    const [first] = held;
    if (first !== undefined && isUserMessage(first)) {
      const content = readUserContent(first.payload.content);
      const confirmed = next !== undefined && confirms(next, content);
      this.writer.begin(first.moment);
      done(first, this.userMessage(first, content, confirmed, next === undefined));
      for (const line of held.slice(1)) done(line, this.process(line));
      return;
    }
    // Copies: those that the next line tells again are folded into it, the others are all there is.
    const base = next === undefined ? undefined : this.baseOf(next);
    for (const line of held) {
      const copy = copyOf(line);
      this.writer.begin(line.moment);
      if (copy === undefined) done(line, this.process(line));
      else if (base !== undefined && this.copies.belongsTo(copy, base)) {
        this.copies.expect(copy);
        done(line, folded(copy.kind === "thinking" ? "the reasoning item" : "the message item"));
      } else done(line, this.showCopy(copy));
    }
  }

  // --- Records ---

  process(line: Line): Disposition {
    const { writer } = this;
    writer.begin(line.moment);
    if (line.type === "session_meta") return this.sessionMeta(line);
    if (this.isCopied(line)) {
      if (this.copied !== undefined) this.copied.count += 1;
      return hidden(COPIED);
    }
    this.began = true;
    switch (line.type) {
      case "turn_context":
        return this.turnContext(line.payload);
      case "response_item":
        return this.responseItem(line);
      case "event_msg":
        return this.event(line);
      case "compacted":
        return this.compact("compacted", asText(line.payload.message), line.payload);
      case "token_usage_record":
        return this.usageRecord(line.payload);
      default:
        if (NOISE.has(line.type)) return hidden(line.type.replaceAll("_", " "));
        writer.unknown(line.value, line.type);
        return { kind: "unknown" };
    }
  }

  /** Steps end where an output stands only in files that have no better border. */
  private get byOutputs(): boolean {
    return !this.hasUsageRecords;
  }

  // --- The session's own facts ---

  private sessionMeta(line: Line): Disposition {
    const { payload } = line;
    const id = asString(payload.id)?.toLowerCase();
    if (id !== undefined && !this.ownIds.has(id) && this.metaSeen) {
      // Copied history stands before all that is the thread's own.
      if (this.began) return hidden("another session's facts");
      this.mayCopy = true;
      if (this.copied === undefined) {
        this.copied = { on: true, from: id, at: line.moment, count: 0, ids: false };
        this.noteCopies();
      }
      this.copied.from ??= id;
      this.copied.on = true;
      this.copied.count += 1;
      return hidden(COPIED);
    }
    const git = asObject(payload.git);
    const spawn = asObject(asObject(asObject(payload.source)?.subagent)?.thread_spawn);
    const kind = asObject(payload.source)?.subagent;
    const parent = asString(payload.parent_thread_id) ?? asString(spawn?.parent_thread_id);
    const base = asObject(payload.history_base);
    const forked = asString(base?.thread_id) ?? asString(payload.forked_from_id);
    const name =
      asString(payload.agent_nickname) ?? asString(spawn?.agent_nickname) ?? asString(spawn?.agent_path);
    const depth = asNumber(spawn?.depth);
    const at_byte = asNumber(base?.end_byte_offset);
    const cwd = asString(payload.cwd);
    const branch = asString(git?.branch);
    const version = asString(payload.cli_version);
    this.startedAt ??= line.moment.at;
    this.group ??= asString(payload.session_id);
    if (payload.history_mode === "paginated") this.hasUsageRecords = true;
    this.firstOwnOrdinal = asNumber(payload.subagent_history_start_ordinal) ?? this.firstOwnOrdinal;
    this.ownPath ??= asString(payload.agent_path) ?? asString(spawn?.agent_path);
    this.isRun ||= kind !== undefined;
    this.mayCopy ||= this.isRun || parent !== undefined || asString(payload.forked_from_id) !== undefined;
    if (parent !== undefined && isUuid(parent)) this.parent = parent;
    const role = asString(kind) ?? asString(asObject(kind)?.other);
    this.update({
      agent: "codex",
      ...(version === undefined ? {} : { agent_version: version }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(branch === undefined ? {} : { git_branch: branch }),
      ...(this.parent === undefined ? {} : { parent: { session_id: this.parent } }),
      ...(this.isRun
        ? {
            run: {
              ...((name ?? role) === undefined ? {} : { name: name ?? role ?? "" }),
              ...(depth === undefined ? {} : { depth }),
            },
          }
        : {}),
      ...(forked !== undefined && isUuid(forked) && this.parent === undefined
        ? { forked_from: { session_id: forked, ...(at_byte === undefined ? {} : { at_byte }) } }
        : {}),
    });
    const first = !this.metaSeen;
    this.metaSeen = true;
    if (!first || base === undefined || forked === undefined) return folded("the session");
    const ordinal = asNumber(base.end_ordinal_exclusive);
    const records = ordinal === undefined ? "The records" : `${ordinal} records`;
    this.writer.marker(
      "note",
      `${records} before this stand in the session that this one continues`,
      undefined,
      {
        session_id: forked,
        at_byte,
      },
    );
    return SHOWN;
  }

  private update(patch: SessionPatch): void {
    const before = this.patch;
    const after = { ...before, ...patch };
    if (this.metaSeen && JSON.stringify(before) === JSON.stringify(after)) return;
    this.patch = after;
    const { session_id, now } = this.writer;
    this.writer.push({ type: "session.update", session_id, at: now.at, patch });
  }

  /** Whether a line is another thread's history, copied into this file when it was forked or spawned. */
  private isCopied(line: Line): boolean {
    if (line.type === "session_meta") return false;
    const { copied } = this;
    const ordinal = asNumber(line.value.ordinal);
    if (ordinal !== undefined && this.firstOwnOrdinal > 0) {
      if (ordinal < this.firstOwnOrdinal) return this.startCopied(line);
      if (copied !== undefined) copied.on = false;
      return false;
    }
    if (metadataOf(line).inherited_user_message === true) return this.startCopied(line);
    if (!this.mayCopy) return false;
    const turn = turnIdOf(line);
    const turnTime = turn === undefined ? undefined : timeOfId(turn);
    const ownTime = timeOfId(this.own);
    if (turnTime !== undefined && ownTime !== undefined) {
      if (turnTime < ownTime) {
        const on = this.startCopied(line);
        if (this.copied !== undefined) this.copied.ids = true;
        return on;
      }
      if (copied !== undefined) copied.on = false;
      return false;
    }
    if (copied?.on !== true) return false;
    // Copied lines have the time of the copying; without turn ids the first later one is the thread's own.
    const gap = line.moment.at - copied.at.at;
    if (gap > 1000 && !copied.ids) copied.on = false;
    return copied.on;
  }

  private startCopied(line: Line): boolean {
    if (this.copied === undefined) {
      this.copied = { on: false, from: undefined, at: line.moment, count: 0, ids: false };
      this.noteCopies();
    }
    this.copied.on = true;
    return true;
  }

  private noteCopies(): void {
    this.writer.beforePart = () => {
      const { copied } = this;
      if (copied === undefined) return;
      const from = copied.from ?? this.parent ?? this.patch.forked_from?.session_id;
      const whose = from === undefined ? "another session" : from;
      const title = `${copied.count} records copied from ${whose}`;
      this.writer.markerOf(copied.at, "note", title, { records: copied.count, session_id: from });
    };
  }

  private turnContext(payload: JsonObject): Disposition {
    const model = asString(payload.model);
    const cwd = asString(payload.cwd);
    const turn = asString(payload.turn_id);
    const { writer } = this;
    if (turn !== undefined && writer.turn !== undefined && !writer.turn.explicit) {
      writer.turn.codex_id = turn;
    }
    const before = writer.model;
    if (model === undefined || model === before) return folded("the turn");
    writer.model = model;
    this.update({ model, ...(this.patch.cwd === undefined && cwd !== undefined ? { cwd } : {}) });
    if (before === undefined) return folded("the session");
    writer.marker("model_switch", `${before} → ${model}`);
    return SHOWN;
  }

  // --- Usage ---

  private usageRecord(payload: JsonObject): Disposition {
    this.hasUsageRecords = true;
    const usage = readUsage(asObject(payload.usage));
    if (usage === undefined) return hidden("empty usage");
    if (!this.writer.countUsage(usage)) return hidden("usage without a step");
    return folded("the step");
  }

  private tokenCount(payload: JsonObject): Disposition {
    const info = asObject(payload.info);
    if (info === undefined) return hidden("rate limits");
    const last = asObject(info.last_token_usage);
    const sum = asObject(info.total_token_usage);
    const total = `${asNumber(sum?.total_tokens)}/${asNumber(sum?.input_tokens)}/${asNumber(sum?.output_tokens)}`;
    const tokens = asNumber(last?.total_tokens);
    const limit = asNumber(info.model_context_window);
    const { session_id, now } = this.writer;
    if (tokens !== undefined && tokens > 0) {
      this.writer.push({
        type: "context.usage",
        session_id,
        at: now.at,
        tokens,
        ...(limit === undefined || limit === 0 ? {} : { limit }),
      });
    }
    const changed = total !== this.totals;
    this.totals = total;
    if (!changed || this.hasUsageRecords) return folded("the session's usage");
    const usage = readUsage(last);
    if (usage === undefined || usage.input + usage.output + (usage.cache_read ?? 0) === 0) {
      return folded("the session's usage");
    }
    return this.writer.countUsage(usage) ? folded("the step") : hidden("usage without a step");
  }

  // --- Response items ---

  private responseItem(line: Line): Disposition {
    const { payload } = line;
    const type = asString(payload.type) ?? "";
    switch (type) {
      case "message":
        return this.message(line);
      case "reasoning":
        return this.reasoning(payload);
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
      case "tool_search_call":
        return this.call(type, payload);
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
      case "mcp_tool_call_output":
        return this.output(payload, readOutput(payload.output));
      case "tool_search_output":
        return this.output(payload, readOutput(toolNames(payload.tools)));
      case "web_search_call":
        return this.webSearch(payload);
      case "image_generation_call":
        return this.imageGeneration(payload);
      case "agent_message":
        return this.agentMessage(payload);
      case "compaction":
      case "compaction_summary":
      case "context_compaction":
        return this.compact("response", undefined, payload);
      default:
        if (NOISE.has(type)) return hidden(type.replaceAll("_", " "));
        this.writer.unknown(line.value, type);
        return { kind: "unknown" };
    }
  }

  private message(line: Line): Disposition {
    const { payload } = line;
    if (payload.role === "assistant") return this.assistantMessage(line);
    if (isTurnAborted(payload)) return this.interrupt(undefined);
    if (payload.role !== "user") return hidden("developer instructions");
    return this.userMessage(line, readUserContent(payload.content), false, false);
  }

  private assistantMessage(line: Line): Disposition {
    const { payload } = line;
    const base = this.baseOf(line);
    const text = base?.texts.join("\n") ?? "";
    if (metadataOf(line).compaction_output === true) {
      // The summary is a model call of its own.
      this.writer.modelItem(this.byOutputs);
      return this.compact("summary", text, undefined);
    }
    const claimed = base === undefined ? undefined : this.copies.claim(base, "item");
    if (claimed !== undefined) {
      // A plan stands in it between marks.
      if (claimed.part_id !== undefined) this.writer.revise(claimed.part_id, text);
      return folded("the same message");
    }
    const phase = asText(payload.phase);
    let shown = false;
    for (const entry of asArray(payload.content)) {
      const item = asObject(entry);
      const words = item === undefined ? undefined : (asString(item.text) ?? asString(item.refusal));
      const url = item === undefined ? undefined : imageUrl(item);
      if (words !== undefined && words.trim() !== "") {
        this.modelSpoke();
        this.writer.words("text", words, this.byOutputs, phase === undefined ? {} : { phase });
        shown = true;
      } else if (url !== undefined) {
        this.modelSpoke();
        this.writer.image({ url }, this.byOutputs);
        shown = true;
      }
    }
    if (typeof payload.content === "string" && payload.content.trim() !== "") {
      this.modelSpoke();
      this.writer.words("text", payload.content, this.byOutputs);
      shown = true;
    }
    if (!shown) return hidden("empty message");
    if (base !== undefined) this.copies.shown(base, "item");
    return SHOWN;
  }

  private reasoning(payload: JsonObject): Disposition {
    const base = baseThought(payload);
    const claimed = this.copies.claim(base, "item");
    const text = base.texts.join("\n\n");
    if (claimed !== undefined) {
      this.growing = undefined;
      if (claimed.part_id !== undefined) this.writer.revise(claimed.part_id, text);
      return folded("the same reasoning");
    }
    this.modelSpoke();
    const encrypted = asString(payload.encrypted_content) !== undefined;
    this.writer.words(
      "thinking",
      text,
      this.byOutputs,
      text === "" ? { hidden: encrypted ? "encrypted" : "empty" } : {},
    );
    this.copies.shown(base, "item");
    return SHOWN;
  }

  /** The model said or did something: what was asked before is not asked again by a later copy. */
  private modelSpoke(): void {
    this.growing = undefined;
    if (this.asked.length > 0) this.asked = [];
    this.compaction = undefined;
    this.interrupted = false;
  }

  // --- Calls ---

  private call(type: string, payload: JsonObject): Disposition {
    const { moment } = { moment: this.writer.now };
    const id = asText(payload.call_id) ?? asText(payload.id) ?? `line-${moment.source.byte}`;
    let name = asText(payload.name) ?? "unknown";
    let input: unknown = payload.arguments ?? payload.input;
    if (type === "local_shell_call") {
      name = "local_shell";
      input = payload.action;
    } else if (type === "tool_search_call") name = "tool_search";
    const text =
      typeof input === "string" ? input : input === undefined || input === null ? "" : JSON.stringify(input);
    this.modelSpoke();
    const call = this.calls.start(id, name, text, this.byOutputs);
    if (call === undefined) return folded(`call ${id}`);
    if (name === "spawn_agent") this.spawn(call, moment.at);
    return SHOWN;
  }

  private output(payload: JsonObject, output: Output): Disposition {
    const id = asText(payload.call_id) ?? asText(payload.id) ?? `line-${this.writer.now.source.byte}`;
    const call = this.calls.get(id);
    if (call?.name === "spawn_agent") this.spawned_(call, parseArguments(output.text));
    else if (call !== undefined && RUN_CALLS.has(call.name)) this.nameRun(call);
    return this.calls.answer(id, output) ? SHOWN : folded(`call ${id}`);
  }

  private webSearch(payload: JsonObject): Disposition {
    const id = asText(payload.id) ?? asText(payload.call_id) ?? `line-${this.writer.now.source.byte}`;
    this.modelSpoke();
    const known = this.calls.get(id);
    if (known !== undefined) {
      this.calls.enrich(known, webFacts(payload));
      return folded(`call ${id}`);
    }
    this.showWebSearch(id, payload);
    return SHOWN;
  }

  private showWebSearch(id: string, payload: JsonObject): void {
    const call = this.calls.start(id, "web_search", JSON.stringify(payload.action ?? {}), this.byOutputs);
    if (call === undefined) return;
    const ahead = this.ahead.get(id);
    this.ahead.delete(id);
    const facts = webFacts(ahead ?? payload);
    this.calls.enrich(call, facts);
    const status: Output["status"] = payload.status === "failed" ? "error" : "success";
    const text = facts.web?.results.map(({ title, url }) => `${title}\n${url}`).join("\n\n") ?? "";
    this.calls.answer(id, { text, media: [], status }, true);
  }

  /** Events about calls that come before their calls, by call id. */
  private readonly ahead = new Map<string, JsonObject>();

  private imageGeneration(payload: JsonObject): Disposition {
    const id = asText(payload.id) ?? `line-${this.writer.now.source.byte}`;
    this.modelSpoke();
    const prompt = asString(payload.revised_prompt);
    const call = this.calls.start(
      id,
      "image_generation",
      JSON.stringify(prompt === undefined ? {} : { prompt }),
      this.byOutputs,
    );
    if (call === undefined) return folded(`call ${id}`);
    const ahead = this.ahead.get(id);
    this.ahead.delete(id);
    this.calls.answer(id, imageOutput(ahead === undefined ? payload : { ...payload, ...ahead }), true);
    return SHOWN;
  }

  // --- Sub-agents ---

  private spawn(call: Call, at: number): void {
    const prompt = argument(call.input, "message") ?? argument(call.input, "prompt");
    this.spawned.push({ tool_call_id: call.id, at, ...(prompt === undefined ? {} : { prompt }) });
  }

  /** What `spawn_agent` answered: the new thread's id and nickname, or only the path of the task. */
  private spawned_(call: Call, answer: unknown): void {
    const object = asObject(answer);
    const id = asString(object?.agent_id) ?? asString(object?.thread_id);
    const path = asString(object?.task_name) ?? asString(object?.agent_path);
    const name = asString(object?.nickname);
    if (id !== undefined || path !== undefined) this.linkRun(call, id, path, name);
  }

  private linkRun(
    call: Call,
    thread: string | undefined,
    path: string | undefined,
    nickname: string | undefined,
    status?: string,
  ): void {
    const before = call.facts.run ?? {};
    const key = thread ?? before.session_id ?? path;
    const name = nickname ?? before.name ?? path?.split("/").at(-1);
    const task = argument(call.input, "message") ?? argument(call.input, "prompt");
    const session_id = thread !== undefined && isUuid(thread) ? thread : before.session_id;
    const run = {
      ...before,
      ...(key === undefined ? {} : { agent_key: key }),
      ...(session_id === undefined ? {} : { session_id }),
      ...(name === undefined ? {} : { name }),
      ...(task === undefined ? {} : { task }),
      ...(status === undefined ? {} : { status }),
    };
    this.calls.enrich(call, { run });
    for (const each of [thread, path, key]) {
      if (each === undefined) continue;
      this.runCalls.set(each, call);
      if (name !== undefined) this.runNames.set(each, name);
    }
    const fact = this.spawned.find(({ tool_call_id }) => tool_call_id === call.id);
    if (fact !== undefined && key !== undefined) fact.agent_key = key;
    if (session_id !== undefined && session_id !== before.session_id) {
      this.calls.linkRun(call, {
        session_id,
        ...(name === undefined ? {} : { name }),
        ...(task === undefined ? {} : { task }),
      });
    }
  }

  /** A later call to a run that is known: the card can name and open it. */
  private nameRun(call: Call): void {
    const target = argument(call.input, "target") ?? argument(call.input, "id");
    const spawned = target === undefined ? undefined : this.runCalls.get(target);
    const run = spawned?.facts.run;
    if (target === undefined || run === undefined) return;
    const { name, session_id } = run;
    this.calls.enrich(call, {
      run: {
        agent_key: target,
        ...(name === undefined ? {} : { name }),
        ...(session_id === undefined ? {} : { session_id }),
      },
    });
  }

  /** What one agent writes to another: a task for this one, or an answer to it. */
  private agentMessage(payload: JsonObject): Disposition {
    const content = readUserContent(payload.content);
    const envelope = ENVELOPE.exec(content.text);
    const text = content.text.slice(envelope?.[0].length ?? 0).trimStart();
    const author = asString(payload.author) ?? "another agent";
    const recipient = asString(payload.recipient) ?? "another agent";
    const { writer } = this;
    const fresh = writer.turn === undefined || (writer.turn.prompts === 0 && writer.turn.steps === 0);
    if (this.ownPath !== undefined && author === this.ownPath && recipient !== this.ownPath) {
      writer.marker("notification", `Message to ${recipient}`, text);
    } else if (fresh || envelope?.[1] === "NEW_TASK") {
      this.ask({ text, parts: [{ type: "text", text }] }, "agent", "item");
    } else {
      const what = envelope?.[1] === "FINAL_ANSWER" ? "Answer" : "Message";
      writer.marker("notification", `${what} from ${author}`, text);
      if (what === "Answer") this.runEnded(author, "completed");
    }
    return SHOWN;
  }

  private runEnded(key: string | undefined, status: string): void {
    const call = key === undefined ? undefined : this.runCalls.get(key);
    if (call === undefined) return;
    const { session_id, now } = this.writer;
    this.writer.push({
      type: "task.finish",
      session_id,
      at: now.at,
      tool_call_id: call.id,
      status: status === "completed" ? "completed" : status === "errored" ? "failed" : "interrupted",
    });
  }

  private notification(content: UserContent): Disposition {
    const inner = /<subagent_notification>\s*([\s\S]*?)\s*<\/subagent_notification>/.exec(content.text)?.[1];
    const told = asObject(inner === undefined ? undefined : parseArguments(inner));
    const key = asString(told?.agent_path) ?? asString(told?.agent_id);
    const status = asObject(told?.status);
    const state = asString(told?.status) ?? Object.keys(status ?? {})[0] ?? "reported";
    const text = asString(status?.[state]) ?? content.text;
    const name = key === undefined ? undefined : (this.runNames.get(key) ?? key);
    this.writer.marker("notification", `Sub-agent ${name ?? ""} ${state}`.replaceAll(/ +/g, " "), text);
    this.runEnded(key, state);
    return SHOWN;
  }

  // --- Prompts ---

  /**
   * A message of role `user`. `confirmed`: the next line says that a person wrote it. `last`: there is no next line, so
   * that only its beginning tells.
   */
  private userMessage(line: Line, content: UserContent, confirmed: boolean, last: boolean): Disposition {
    const author = confirmed ? "person" : authorByKinds(line.payload);
    const title = injectedTitle(content);
    const person =
      author === undefined ? title === undefined && (last || !this.hasConfirmations) : author === "person";
    // An event may have told it before, however many lines ago.
    const asked = author !== "agent" && title === undefined && this.claimAsked(content.text, "item");
    if (asked) return folded("the same prompt");
    if (person) {
      if (title !== undefined && this.claimAsked(content.text, "item")) return folded("the same prompt");
      this.ask(content, this.isRun && !this.byUser ? "agent" : undefined, "item");
      return SHOWN;
    }
    if (title === "Sub-agent") return this.notification(content);
    const { writer } = this;
    writer.marker("context", title ?? capitalised(titleByKinds(line.payload)), content.text);
    return SHOWN;
  }

  private ask(content: UserContent, origin: "agent" | undefined, log: Log): void {
    this.firstPrompt ??= content.text;
    this.asked.push({ text: content.text, logs: new Set([log]) });
    this.compaction = undefined;
    this.interrupted = false;
    this.growing = undefined;
    this.writer.prompt(content, origin, this.hasTasks);
  }

  private claimAsked(text: string, log: Log): boolean {
    const known = this.asked.find((each) => !each.logs.has(log) && isSamePrompt(each.text, text));
    known?.logs.add(log);
    return known !== undefined;
  }

  /** The turn was begun by a person, not by another agent. */
  private byUser = false;

  private userCopy(content: UserContent, log: Log): Disposition {
    this.hasConfirmations = true;
    if (this.claimAsked(content.text, log)) return folded("the same prompt");
    if (content.parts.length === 0) return hidden("empty message");
    this.ask(content, this.isRun && !this.byUser ? "agent" : undefined, log);
    return SHOWN;
  }

  // --- Events ---

  private event(line: Line): Disposition {
    const { payload, value } = line;
    const { writer } = this;
    const type = asString(payload.type) ?? "";
    const copy = copyOf(line);
    if (copy !== undefined) return this.showCopy(copy);
    if (type !== "token_count") this.growing = undefined;
    switch (type) {
      case "task_started":
      case "turn_started":
        this.hasTasks = true;
        this.compaction = undefined;
        this.interrupted = false;
        this.byUser = asObject(payload.turn_attribution)?.turn_trigger === "user";
        this.copies.clear();
        writer.openTurn(asString(payload.turn_id) ?? `at-${writer.now.source.byte}`);
        return folded("the turn");
      case "turn.completed":
        return this.turnCompleted(payload);
      case "task_complete":
      case "turn_complete":
        return this.taskComplete(payload);
      case "turn_aborted": {
        const reason = asString(payload.reason);
        return this.interrupt(reason === undefined || reason === "interrupted" ? undefined : reason);
      }
      case "user_message":
        return this.userCopy(readUserEvent(payload), "event");
      case "token_count":
        return this.tokenCount(payload);
      case "item_completed":
        return this.itemCompleted(line, asObject(payload.item) ?? {});
      case "exec_command_end":
        return this.commandEnded(asString(payload.call_id), payload);
      case "patch_apply_end":
        return this.patched(asString(payload.call_id), payload);
      case "mcp_tool_call_end":
        return this.mcpCalled(asString(payload.call_id), payload);
      case "web_search_end":
        return this.webSearched(asString(payload.call_id), payload);
      case "image_generation_end":
        return this.imageGenerated(asString(payload.call_id), payload);
      case "view_image_tool_call":
        return this.aboutCall(asString(payload.call_id), "view_image", payload);
      case "dynamic_tool_call_request":
      case "dynamic_tool_call_response":
        return this.dynamicCall(payload);
      case "collab_agent_spawn_end":
        return this.collabSpawned(payload);
      case "collab_agent_interaction_end":
      case "collab_waiting_end":
      case "collab_close_end":
      case "collab_resume_end":
        return this.aboutCall(asString(payload.call_id), type.replace(/_end$/, ""), payload);
      case "sub_agent_activity":
        return this.agentActivity(asString(payload.event_id) ?? asString(payload.call_id), payload);
      case "context_compacted":
        return this.compact("event", undefined, undefined);
      case "thread_rolled_back": {
        const count = asNumber(payload.num_turns) ?? 1;
        writer.marker(
          "rewind",
          count === 1 ? "The last turn was rolled back" : `The last ${count} turns were rolled back`,
        );
        writer.rollBack(count);
        return SHOWN;
      }
      case "undo_completed":
        writer.marker(
          "rewind",
          payload.success === false ? "Undo failed" : "Undone",
          asString(payload.message),
        );
        return SHOWN;
      case "entered_review_mode":
        writer.marker(
          "note",
          asText(payload.user_facing_hint) ? `Review: ${asString(payload.user_facing_hint)}` : "Review",
          asString(payload.prompt),
          payload.target,
        );
        return SHOWN;
      case "exited_review_mode":
        writer.marker(
          "note",
          "Review finished",
          reviewText(asObject(payload.review_output)),
          payload.review_output,
        );
        return SHOWN;
      case "thread_name_updated": {
        const title = asText(payload.thread_name);
        if (title === undefined) return hidden("empty name");
        this.update({ title });
        return folded("the session");
      }
      case "thread_goal_updated": {
        const goal = asObject(payload.goal);
        const status = asString(goal?.status);
        writer.marker(
          "note",
          status === undefined ? "Goal" : `Goal: ${status}`,
          asString(goal?.objective),
          goal,
        );
        return SHOWN;
      }
      case "guardian_assessment":
        return this.guardian(payload);
      case "error":
        writer.error(messageOf(payload) ?? "Error", false, payload);
        return SHOWN;
      case "stream_error":
        writer.marker("retry", messageOf(payload) ?? "The stream broke", undefined, payload);
        return SHOWN;
      case "warning":
      case "deprecation_notice":
        writer.marker(
          "note",
          messageOf(payload) ?? asString(payload.summary) ?? "Warning",
          asString(payload.details),
          payload,
        );
        return SHOWN;
      case "plan_update": {
        return hidden("plan update");
      }
      default:
        if (NOISE.has(type)) return hidden(type.replaceAll("_", " "));
        writer.unknown(value, type === "" ? undefined : type);
        return { kind: "unknown" };
    }
  }

  private taskComplete(payload: JsonObject): Disposition {
    const { writer } = this;
    const error = asObject(payload.error);
    const message = asText(error?.message) ?? asText(payload.error);
    const last = asText(payload.last_agent_message);
    let shown = false;
    // The answer stands above, unless nothing of this turn was written down.
    if (
      last !== undefined &&
      writer.turn !== undefined &&
      writer.turn.texts === 0 &&
      writer.turn.steps === 0
    ) {
      writer.words("text", last, this.byOutputs);
      shown = true;
    }
    if (message !== undefined) {
      writer.closeStep(undefined);
      writer.error(message, false, error);
      shown = true;
    }
    writer.closeTurn(message === undefined ? "completed" : "failed");
    return shown ? SHOWN : folded("the turn");
  }

  /** The end of a turn in files of late 2025. */
  private turnCompleted(payload: JsonObject): Disposition {
    const usage = readUsage(asObject(payload.usage));
    const counted = usage !== undefined && this.writer.countUsage(usage);
    if (this.writer.turn === undefined && !counted) return hidden("turn without content");
    this.writer.closeTurn("completed");
    return folded("the turn");
  }

  private interrupt(reason: string | undefined): Disposition {
    if (this.interrupted) return folded("the interrupt");
    this.interrupted = true;
    this.writer.interrupt(reason);
    return SHOWN;
  }

  private compact(log: string, text: string | undefined, payload: JsonObject | undefined): Disposition {
    if (this.compaction !== undefined && !this.compaction.has(log)) {
      this.compaction.add(log);
      return folded("the compaction");
    }
    const { writer } = this;
    this.asked = [];
    this.copies.clear();
    const window = asNumber(payload?.window_number);
    writer.marker(
      "compaction",
      window === undefined ? "Context compacted" : `Context compacted (window ${window})`,
      text,
    );
    this.compaction = new Set([log]);
    return SHOWN;
  }

  private guardian(payload: JsonObject): Disposition {
    const status = asString(payload.status) ?? "";
    if (!/denied|reject|abort|timed|fail/.test(status)) return hidden("guardian assessment");
    this.writer.marker(
      "note",
      `Guardian: ${status.replaceAll("_", " ")}`,
      asString(payload.rationale),
      payload.action,
    );
    return SHOWN;
  }

  // --- Copies of what the model said ---

  private baseOf(line: Line): Base | undefined {
    if (line.type !== "response_item" || this.isCopied(line)) return undefined;
    const { payload } = line;
    if (payload.type === "reasoning") return baseThought(payload);
    if (payload.type !== "message" || payload.role !== "assistant") return undefined;
    const texts = asArray(payload.content).flatMap((entry) => {
      const item = asObject(entry);
      const text = asString(item?.text) ?? asString(item?.refusal);
      return text === undefined ? [] : [text];
    });
    if (typeof payload.content === "string") texts.push(payload.content);
    return { kind: "text", id: asText(payload.id), texts };
  }

  private showCopy(copy: Copy): Disposition {
    const name = copy.kind === "thinking" ? "the same reasoning" : "the same message";
    if (this.copies.claim(copy, copy.log) !== undefined) return folded(name);
    const text = copy.texts.join("\n\n");
    if (text.trim() === "") return hidden("empty reasoning");
    const more = copy.phase === undefined ? {} : { phase: copy.phase };
    const { growing } = this;
    if (copy.kind === "thinking" && copy.log === "event" && growing !== undefined) {
      // One event for each summary of a thought.
      growing.texts.push(text);
      this.writer.revise(growing.part_id, growing.texts.join("\n\n"));
      this.copies.shown(copy, copy.log, growing.part_id);
      return folded("the reasoning before");
    }
    this.modelSpoke();
    const part_id = this.writer.words(copy.kind, text, this.byOutputs, more);
    this.copies.shown(copy, copy.log, part_id);
    if (copy.kind === "thinking" && copy.log === "event") this.growing = { part_id, texts: [text] };
    return SHOWN;
  }

  // --- Items and events about calls ---

  private itemCompleted(line: Line, item: JsonObject): Disposition {
    const id = asString(item.id);
    switch (item.type) {
      case "UserMessage":
        return this.userCopy(readUserContent(item.content), "completed");
      case "CommandExecution":
        return this.commandEnded(id, item);
      case "FileChange":
        return this.patched(id, item);
      case "McpToolCall":
        return this.mcpCalled(id, item);
      case "WebSearch":
      case "Extension":
        return this.webSearched(id, item);
      case "ImageView":
        return this.aboutCall(id, "view_image", item);
      case "ImageGeneration":
        return this.imageGenerated(id, item);
      case "CollabAgentToolCall":
        return this.collabCalled(id, item);
      case "SubAgentActivity":
        return this.agentActivity(id, item);
      case "ContextCompaction":
        return this.compact("completed", undefined, undefined);
      case "EnteredReviewMode":
      case "ExitedReviewMode":
        this.writer.marker(
          "note",
          item.type === "EnteredReviewMode" ? "Review" : "Review finished",
          asString(item.review),
        );
        return SHOWN;
      case "HookPrompt":
        this.writer.marker("hook", "Hook", readUserContent(item.fragments).text, item);
        return SHOWN;
      case "DynamicToolCall":
        return this.dynamicCall({ ...item, call_id: id });
      default:
        this.writer.unknown(line.value, asString(item.type));
        return { kind: "unknown" };
    }
  }

  /** The call with this id; of something that ran inside a code cell, the cell. */
  private callFor(id: string | undefined): { call: Call; inner: boolean } | undefined {
    if (id === undefined) return undefined;
    const call = this.calls.get(id);
    if (call !== undefined) return { call, inner: false };
    if (!id.startsWith("exec-")) return undefined;
    const cell = this.calls.cell();
    return cell === undefined ? undefined : { call: cell, inner: true };
  }

  private commandEnded(id: string | undefined, payload: JsonObject): Disposition {
    const facts = commandFacts(payload);
    const found = this.callFor(id);
    if (found === undefined) {
      const command = commandText(payload.command) ?? "";
      const args = JSON.stringify({ command, ...(facts.cwd === undefined ? {} : { workdir: facts.cwd }) });
      const status = facts.status ?? "success";
      const text = facts.output ?? "";
      return this.alone(
        id,
        "shell",
        args,
        facts,
        { text, media: [], status },
        payload.source === "user_shell",
      );
    }
    const { call, inner } = found;
    if (!inner) this.calls.enrich(call, facts);
    else {
      const { command = "", cwd, exit_code, duration_ms } = facts;
      this.calls.enrich(call, {
        commands: [
          {
            command,
            ...(cwd === undefined ? {} : { cwd }),
            ...(exit_code === undefined ? {} : { exit_code }),
            ...(duration_ms === undefined ? {} : { duration_ms }),
          },
        ],
      });
    }
    return folded(`call ${call.id}`);
  }

  private patched(id: string | undefined, payload: JsonObject): Disposition {
    const files = readChanges(payload.changes);
    const facts = patchFacts(payload, files);
    const found = this.callFor(id);
    if (found === undefined) {
      const args = JSON.stringify({ files: files.map(({ path }) => path) });
      const text = [asString(payload.stdout), asString(payload.stderr)].filter((part) => part).join("\n");
      return this.alone(id, "apply_patch", args, facts, {
        text,
        media: [],
        status: facts.status ?? "success",
      });
    }
    const { call, inner } = found;
    this.calls.enrich(call, inner ? { files } : facts);
    return folded(`call ${call.id}`);
  }

  private mcpCalled(id: string | undefined, payload: JsonObject): Disposition {
    const { facts, text, media, failed } = mcpFacts(payload);
    const found = this.callFor(id);
    if (found === undefined) {
      const invocation = asObject(payload.invocation) ?? payload;
      const name = `mcp__${facts.mcp?.server ?? ""}__${facts.mcp?.tool ?? ""}`;
      const args = JSON.stringify(invocation.arguments ?? {});
      return this.alone(id, name, args, facts, { text, media, status: failed ? "error" : "success" });
    }
    const { call, inner } = found;
    if (inner && facts.mcp !== undefined) {
      const { server, tool } = facts.mcp;
      this.calls.enrich(call, { cellTools: [{ server, tool }] });
    } else this.calls.enrich(call, facts);
    return folded(`call ${call.id}`);
  }

  private webSearched(id: string | undefined, payload: JsonObject): Disposition {
    const found = this.callFor(id);
    if (found !== undefined) {
      this.calls.enrich(found.call, webFacts(payload));
      return folded(`call ${found.call.id}`);
    }
    // The call itself follows; inside a code cell it does not.
    if (id?.startsWith("ws_")) {
      this.ahead.set(id, payload);
      return folded(`call ${id}`);
    }
    const cell = this.calls.cell();
    if (cell !== undefined && cell.output === undefined) {
      this.calls.enrich(cell, webFacts(payload));
      return folded(`call ${cell.id}`);
    }
    if (id === undefined) return hidden("web search without an id");
    this.ahead.set(id, payload);
    return folded(`call ${id}`);
  }

  private imageGenerated(id: string | undefined, payload: JsonObject): Disposition {
    const call = id === undefined ? undefined : this.calls.get(id);
    if (id !== undefined && call === undefined) {
      this.ahead.set(id, payload);
      return folded(`call ${id}`);
    }
    if (id === undefined || call === undefined) return hidden("image without an id");
    this.calls.answer(id, imageOutput(payload), true);
    return folded(`call ${id}`);
  }

  private dynamicCall(payload: JsonObject): Disposition {
    const id = asText(payload.call_id) ?? asText(payload.callId);
    if (id === undefined) return hidden("call without an id");
    if (payload.type !== "dynamic_tool_call_response" && payload.content_items === undefined) {
      return folded(`call ${id}`);
    }
    const found = this.callFor(id);
    const content = readContent(asArray(payload.content_items));
    const failed = payload.success === false;
    if (found === undefined) {
      const args = JSON.stringify(payload.arguments ?? {});
      const name = asText(payload.tool) ?? "dynamic_tool";
      return this.alone(id, name, args, {}, { ...content, status: failed ? "error" : content.status });
    }
    this.calls.enrich(found.call, failed && !found.inner ? { status: "error" } : {});
    return folded(`call ${found.call.id}`);
  }

  private aboutCall(id: string | undefined, name: string, payload: JsonObject): Disposition {
    const found = this.callFor(id);
    if (found !== undefined) return folded(`call ${found.call.id}`);
    const { type: _, call_id: __, id: ___, ...rest } = payload;
    return this.alone(id, name, JSON.stringify(rest), {}, { text: "", media: [], status: "success" });
  }

  private collabSpawned(payload: JsonObject): Disposition {
    const call = this.calls.get(asString(payload.call_id) ?? "");
    if (call === undefined) return this.aboutCall(asString(payload.call_id), "spawn_agent", payload);
    this.linkRun(
      call,
      asString(payload.new_thread_id),
      undefined,
      asString(payload.new_agent_nickname),
      asString(payload.status),
    );
    return folded(`call ${call.id}`);
  }

  private collabCalled(id: string | undefined, item: JsonObject): Disposition {
    const call = this.calls.get(id ?? "");
    if (call === undefined) return this.aboutCall(id, asString(item.tool) ?? "collab", item);
    if (call.name === "spawn_agent") {
      const thread = asStrings(item.receiver_thread_ids)[0];
      const nickname = asString(asObject(asArray(item.receiver_agents)[0])?.agent_nickname);
      this.linkRun(call, thread, undefined, nickname);
    }
    if (item.status === "failed") this.calls.enrich(call, { status: "error" });
    return folded(`call ${call.id}`);
  }

  private agentActivity(id: string | undefined, item: JsonObject): Disposition {
    const thread = asString(item.agent_thread_id);
    const path = asString(item.agent_path);
    const call = this.calls.get(id ?? "") ?? (thread === undefined ? undefined : this.runCalls.get(thread));
    if (call === undefined) return hidden("sub-agent activity");
    if (call.name === "spawn_agent") this.linkRun(call, thread, path, undefined);
    const kind = asString(item.kind) ?? "";
    if (/completed|errored|shutdown|interrupted/.test(kind)) this.runEnded(thread, kind);
    return folded(`call ${call.id}`);
  }

  /** An event about a call that no other log has: it is shown from the event. */
  private alone(
    id: string | undefined,
    name: string,
    args: string,
    facts: Call["facts"],
    output: Output,
    byPerson = false,
  ): Disposition {
    const call_id = id ?? `line-${this.writer.now.source.byte}`;
    this.modelSpoke();
    const call = this.calls.start(call_id, name, args, this.byOutputs);
    if (call === undefined) return folded(`call ${call_id}`);
    this.calls.enrich(call, facts);
    this.calls.answer(call_id, output);
    // No model asked for what a person ran: the step that holds it has no figures.
    if (byPerson) this.writer.closeStep();
    return SHOWN;
  }
}

// --- Lines --------------------------------------------------------------------------------------------------------------

function isUserMessage(line: Line): boolean {
  return line.type === "response_item" && line.payload.type === "message" && line.payload.role === "user";
}

function isTurnAborted(payload: JsonObject): boolean {
  const first = asString(asObject(asArray(payload.content)[0])?.text);
  return first?.startsWith("<turn_aborted>") === true && payload.role !== "assistant";
}

/** Whether a line is the event or the item that follows a prompt directly. */
function confirms(line: Line, content: UserContent): boolean {
  if (line.type !== "event_msg") return false;
  const { payload } = line;
  if (payload.type === "user_message") return isSamePrompt(readUserEvent(payload).text, content.text);
  const item = asObject(payload.item);
  return (
    payload.type === "item_completed" &&
    item?.type === "UserMessage" &&
    isSamePrompt(readUserContent(item.content).text, content.text)
  );
}

/** What an event copies of what the model said; `undefined`: it is no copy. */
function copyOf(line: Line): Copy | undefined {
  if (line.type !== "event_msg") return undefined;
  const { payload } = line;
  switch (payload.type) {
    case "agent_message": {
      const phase = asText(payload.phase);
      const texts = [asString(payload.message) ?? ""];
      return { kind: "text", log: "event", texts, id: undefined, ...(phase === undefined ? {} : { phase }) };
    }
    case "agent_reasoning":
    case "agent_reasoning_raw_content":
      return { kind: "thinking", log: "event", texts: [asString(payload.text) ?? ""], id: undefined };
    case "item_completed":
      break;
    default:
      return undefined;
  }
  const item = asObject(payload.item);
  const id = asText(item?.id);
  switch (item?.type) {
    case "AgentMessage": {
      const phase = asText(item.phase);
      const texts = asArray(item.content).flatMap((entry) => asString(asObject(entry)?.text) ?? []);
      return { kind: "text", log: "completed", texts, id, ...(phase === undefined ? {} : { phase }) };
    }
    case "Reasoning":
      return {
        kind: "thinking",
        log: "completed",
        texts: [...asStrings(item.summary_text), ...asStrings(item.raw_content)],
        id,
      };
    case "Plan":
      return { kind: "text", log: "plan", texts: [asString(item.text) ?? ""], id: undefined };
    default:
      return undefined;
  }
}

function baseThought(payload: JsonObject): Base {
  const texts: string[] = [];
  for (const entry of [...asArray(payload.summary), ...asArray(payload.content)]) {
    const text = asString(asObject(entry)?.text) ?? asString(entry);
    if (text !== undefined && text !== "") texts.push(text);
  }
  return { kind: "thinking", id: asText(payload.id), texts };
}

function metadataOf(line: Line): JsonObject {
  return asObject(line.value.metadata) ?? asObject(line.payload.metadata) ?? {};
}

/** The turn that a record says it belongs to. */
function turnIdOf(line: Line): string | undefined {
  const { payload } = line;
  return (
    asString(payload.turn_id) ??
    asString(asObject(payload.internal_chat_message_metadata_passthrough)?.turn_id) ??
    asString(asObject(payload.metadata)?.turn_id)
  );
}

/** The time in a UUID of version 7, in milliseconds. */
function timeOfId(id: string): number | undefined {
  if (id[14] !== "7" || !isUuid(id)) return undefined;
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function messageOf(payload: JsonObject): string | undefined {
  return asText(payload.message) ?? asText(asObject(payload.error)?.message) ?? asText(payload.error);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function reviewText(review: JsonObject | undefined): string | undefined {
  if (review === undefined) return undefined;
  const findings = asArray(review.findings).flatMap((entry) => {
    const finding = asObject(entry);
    const title = asString(finding?.title);
    const body = asString(finding?.body);
    return title === undefined && body === undefined ? [] : [`- ${title ?? ""}\n  ${body ?? ""}`];
  });
  return [asText(review.overall_explanation), ...findings].filter((part) => part !== undefined).join("\n\n");
}

function imageOutput(payload: JsonObject): Output {
  const path = asText(payload.saved_path);
  const data = asText(payload.result);
  const failed = payload.status === "failed";
  const url = data === undefined || /^(?:https?|data):/.test(data) ? data : `data:image/png;base64,${data}`;
  return {
    text: asString(payload.revised_prompt) ?? "",
    media:
      path !== undefined
        ? [{ type: "image_file", file_path: path }]
        : url === undefined
          ? []
          : [{ type: "image_url", url }],
    status: failed ? "error" : "success",
  };
}
