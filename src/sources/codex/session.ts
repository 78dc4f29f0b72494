import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { Disposition, SessionLinkFacts } from "../contract.ts";
import { CallRecords } from "./call-records.ts";
import { Calls } from "./calls.ts";
import { CopiedHistory } from "./copied-history.ts";
import { type Base, Copies, type Copy, type Log } from "./copies.ts";
import { folded, hidden, SHOWN } from "./disposition.ts";
import {
  baseOf,
  baseThought,
  confirms,
  copyOf,
  forerunnerOf,
  isInjectedEvent,
  isTurnAborted,
  isUserMessage,
  type Line,
  metadataOf,
  turnIdOf,
} from "./line.ts";
import { messageOf, readGuardian, readNotice } from "./notices.ts";
import { imageUrl, readOutput, toolNames } from "./output.ts";
import {
  inSeconds,
  outputBlock,
  outputFacts,
  outputTitle,
  type PersonCommand,
  personCommandIn,
  personCommandOf,
} from "./person-command.ts";
import { Runs } from "./runs.ts";
import { ThreadFacts } from "./thread-facts.ts";
import { jsonOrText } from "./tool-extra.ts";
import { TurnWriter } from "./turns.ts";
import { readUsage } from "./usage.ts";
import { UsageRecords } from "./usage-records.ts";
import {
  authorByKinds,
  injectedTitle,
  isSamePrompt,
  readUserContent,
  readUserEvent,
  titleByKinds,
  type UserContent,
} from "./user-message.ts";

const COPIED = "history copied from another session";
/** Records without content for the transcript, by record type or payload type. */
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
/** Events that begin a turn. */
const BEGINNINGS = new Set(["task_started", "turn_started"]);
/** Records that may occur between a user message and the event that confirms it. */
const NEUTRAL = new Set(["turn_context", "world_state", "token_count", "thread_settings_applied"]);

/** Maximum number of unanswered prompts that are searched for a copy. */
const MAX_ASKED = 256;

const NOTIFICATION = "<subagent_notification>";
const NOTIFICATION_END = "</subagent_notification>";
/** The header of a message between agents. */
const ENVELOPE = /^Message Type: (\w+)\n(?:[A-Z][\w ]*: .*\n)*?Payload:\n?/;

/** The state of one thread while reading its file. */
export class Session {
  readonly writer: TurnWriter;
  private readonly runs: Runs;
  private readonly records: CallRecords;
  private readonly usage: UsageRecords;
  private readonly facts: ThreadFacts;
  private readonly copied: CopiedHistory;
  private readonly own: string;
  private readonly thread: string | undefined;
  private readonly ownIds: ReadonlySet<string>;
  private readonly copies = new Copies();
  /** The file has events, so turns have explicit boundaries and prompts are confirmed. */
  private hasTasks = false;
  private hasConfirmations = false;
  private firstPrompt: string | undefined;
  /** A line of the thread itself (not copied) was read. */
  private began = false;
  private compaction: Set<string> | undefined;
  private interrupted = false;
  /** The turn was started by a person, not by another agent. */
  private byUser = false;
  /** The error that was shown in the open turn. */
  private lastError: string | undefined;
  /** A thought from events, while nothing else was read: the next summary belongs to it. */
  private growing: { part_id: string; texts: string[] } | undefined;
  /** Prompts since the model's last output, to recognize late copies. */
  private asked: { text: string; logs: Set<Log> }[] = [];
  /** Commands that the person ran in this turn. Both an event and a message record each. */
  private ran: { command: string; logs: Set<Log> }[] = [];
  /** Reading started inside the file, and no record has named the turn that is open there. */
  private joins: boolean;
  private readonly isInside: boolean;

  /** `thread`: the thread of a segment, which continues it in a separate file. `isInside`: reading starts inside the file. */
  constructor(
    session_id: string,
    own: string,
    thread: string | undefined,
    ownIds: ReadonlySet<string>,
    isInside: boolean,
  ) {
    this.isInside = isInside;
    this.joins = isInside;
    this.own = own;
    this.thread = thread;
    this.ownIds = ownIds;
    this.copied = new CopiedHistory(own);
    this.writer = new TurnWriter(session_id);
    this.usage = new UsageRecords(this.writer);
    this.facts = new ThreadFacts(this.writer, thread !== undefined);
    const calls = new Calls(this.writer);
    this.runs = new Runs(this.writer, calls);
    this.records = new CallRecords(this.writer, calls, this.runs);
    this.writer.onModelItem = () => this.modelSpoke();
  }

  private countCopied(): Disposition {
    this.copied.count += 1;
    if (this.copied.count === 1) this.writer.beforePart = () => this.noteCopies();
    return hidden(COPIED);
  }

  /** Writes the note about copied history before the thread's first own part, when its length is known. */
  private noteCopies(): void {
    const { begin, count } = this.copied;
    if (begin === undefined) return;
    const from = this.copied.from ?? this.facts.parent ?? this.facts.forkedFrom;
    const title = `${count === 1 ? "1 record" : `${count} records`} copied from another session`;
    this.writer.markerOf(begin, "note", title, {
      records: count,
      ...(from === undefined ? {} : { session_id: from }),
    });
  }

  linkFacts(): SessionLinkFacts {
    const { session_id } = this.writer;
    return {
      session_id,
      group: this.facts.group ?? this.facts.parent ?? session_id,
      ...(this.thread === undefined ? {} : { registered_as: this.thread }),
      calls: this.runs.spawned,
      ...(this.facts.isRun
        ? {
            run: {
              agent_key: this.thread ?? this.own,
              at: this.facts.startedAt ?? 0,
              ...(this.facts.parent === undefined ? {} : { parent_session_id: this.facts.parent }),
              ...(this.firstPrompt === undefined ? {} : { prompt: this.firstPrompt }),
            },
          }
        : {}),
    };
  }

  // --- Waiting ---

  /** Whether a line cannot be shown before the next one is known. */
  mustWait(line: Line): boolean {
    if (this.copied.contains(line)) return false;
    if (isUserMessage(line)) {
      return authorByKinds(line.payload) === undefined && !isTurnAborted(line.payload);
    }
    const ahead = forerunnerOf(line);
    if (ahead !== undefined) return this.records.mayFollow(ahead.id);
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
    // Copies that the next line repeats are folded into it. Others are the only record and are shown.
    const base = next === undefined || this.copied.contains(next) ? undefined : baseOf(next);
    for (const line of held) {
      const copy = copyOf(line);
      this.writer.begin(line.moment);
      const ahead = forerunnerOf(line);
      if (ahead !== undefined && next?.type === "response_item" && next.payload.id === ahead.id) {
        done(line, this.records.announce(ahead.id, ahead.payload));
      } else if (copy === undefined) done(line, this.process(line));
      else if (base !== undefined && this.copies.belongsTo(copy, base) && !this.isGrowing(copy, base)) {
        this.copies.expect(copy);
        done(line, folded(copy.kind === "thinking" ? "the reasoning item" : "the message item"));
      } else done(line, this.showCopy(copy));
    }
  }

  /** Called when no line follows: a turn without a recorded end gets the status of its last activity. */
  provisionalEnd(): void {
    this.writer.provisionalEnd();
  }

  // --- Records ---

  process(line: Line): Disposition {
    const { writer } = this;
    writer.begin(line.moment);
    if (line.type === "session_meta") return this.sessionMeta(line);
    if (this.copied.contains(line)) return this.countCopied();
    this.began = true;
    if (this.joins) this.join(line);
    if (this.isInside) {
      const turn_id = turnIdOf(line);
      this.records.isAbove = turn_id !== undefined && writer.isAbove(turn_id);
    }
    switch (line.type) {
      case "turn_context":
        return this.facts.turnContext(line.payload);
      case "response_item":
        return this.responseItem(line);
      case "event_msg":
        return this.event(line);
      case "compacted":
        return this.compact("compacted", asText(line.payload.message), line.payload);
      case "token_usage_record":
        return this.usage.record(line.payload);
      default:
        if (NOISE.has(line.type)) return hidden(line.type.replaceAll("_", " "));
        writer.unknown(line.value, line.type);
        return { kind: "unknown" };
    }
  }

  /** Joins the turn that a record names. Its start is above the part of the file that is read. */
  private join(line: Line): void {
    const turn_id = turnIdOf(line);
    if (turn_id === undefined) return;
    this.joins = false;
    this.hasTasks = true;
    // A turn that starts here, with no other turn before it, is complete.
    if (this.writer.turnsOpened === 0 && BEGINNINGS.has(asString(line.payload.type) ?? "")) return;
    this.writer.joinTurn(turn_id);
  }

  // --- The session's own facts ---

  private sessionMeta(line: Line): Disposition {
    const { payload } = line;
    const id = asString(payload.id)?.toLowerCase();
    if (id !== undefined && !this.ownIds.has(id) && this.facts.metaSeen) {
      // Copied history precedes the thread's own records.
      if (this.began) return hidden("another session's facts");
      this.copied.possible = true;
      this.copied.from ??= id;
      this.copied.start(line);
      return this.countCopied();
    }
    this.copied.firstOwnOrdinal =
      asNumber(payload.subagent_history_start_ordinal) ?? this.copied.firstOwnOrdinal;
    const disposition = this.facts.sessionMeta(line);
    this.copied.possible ||=
      this.facts.isRun ||
      this.facts.parent !== undefined ||
      asString(payload.parent_thread_id) !== undefined ||
      asString(payload.forked_from_id) !== undefined;
    return disposition;
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
        return this.records.call(type, line);
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
      case "mcp_tool_call_output":
        return this.records.output(payload, readOutput(payload.output));
      case "tool_search_output":
        return this.records.output(payload, readOutput(toolNames(payload.tools)));
      case "web_search_call":
        return this.records.webSearch(line);
      case "image_generation_call":
        return this.records.imageGeneration(payload);
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
    const base = baseOf(line);
    const text = base?.texts.join("\n") ?? "";
    if (metadataOf(line).compaction_output === true) {
      // The summary is a separate model call.
      this.writer.modelItem();
      return this.compact("summary", text, undefined);
    }
    const claimed = base === undefined ? undefined : this.copies.claim(base, "item");
    if (claimed !== undefined) {
      // The message contains a plan in tags.
      if (claimed.part_id !== undefined) this.writer.revise(claimed.part_id, text);
      return folded("the same message");
    }
    const phase = asText(payload.phase);
    const unknown: unknown[] = [];
    let shown = false;
    for (const entry of asArray(payload.content)) {
      const item = asObject(entry);
      const words = item === undefined ? undefined : (asString(item.text) ?? asString(item.refusal));
      const url = item === undefined ? undefined : imageUrl(item);
      if (words !== undefined && words.trim() !== "") {
        this.writer.words("text", words, phase === undefined ? {} : { phase });
        shown = true;
      } else if (url !== undefined) {
        this.writer.image({ url });
        shown = true;
      } else if (words === undefined && asText(item?.type) !== undefined) {
        unknown.push(entry);
      }
    }
    if (typeof payload.content === "string" && payload.content.trim() !== "") {
      this.writer.words("text", payload.content);
      shown = true;
    }
    if (unknown.length > 0) this.writer.unknown(unknown, "Content of an unknown type");
    if (!shown) return unknown.length > 0 ? { kind: "unknown" } : hidden("empty message");
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
    const encrypted = asString(payload.encrypted_content) !== undefined;
    this.writer.words("thinking", text, text === "" ? { hidden: encrypted ? "encrypted" : "empty" } : {});
    this.copies.shown(base, "item");
    return SHOWN;
  }

  /** Called when the model said or did something: a later copy cannot repeat an earlier prompt. */
  private modelSpoke(): void {
    this.growing = undefined;
    if (this.asked.length > 0) this.asked = [];
    this.compaction = undefined;
    this.interrupted = false;
  }

  // --- Sub-agents ---

  /** Reads a message between agents: a task for this agent, or an answer to it. */
  private agentMessage(payload: JsonObject): Disposition {
    const content = readUserContent(payload.content);
    const envelope = ENVELOPE.exec(content.text);
    const text = content.text.slice(envelope?.[0].length ?? 0).trimStart();
    const author = asString(payload.author) ?? "another agent";
    const recipient = asString(payload.recipient) ?? "another agent";
    const { writer } = this;
    const fresh = writer.turn === undefined || (writer.turn.prompts === 0 && !writer.turn.spoke);
    if (
      this.facts.ownPath !== undefined &&
      author === this.facts.ownPath &&
      recipient !== this.facts.ownPath
    ) {
      writer.marker("notification", `Message to ${recipient}`, text);
    } else if (fresh || envelope?.[1] === "NEW_TASK") {
      this.ask({ text, parts: [{ type: "text", text }] }, "agent", "item");
    } else {
      const what = envelope?.[1] === "FINAL_ANSWER" ? "Answer" : "Message";
      writer.marker("notification", `${what} from ${author}`, text);
      if (what === "Answer") this.runs.ended(author, "completed");
    }
    return SHOWN;
  }

  private notification(content: UserContent): Disposition {
    const start = content.text.indexOf(NOTIFICATION);
    const end = content.text.indexOf(NOTIFICATION_END, start);
    const inner = content.text.slice(start + NOTIFICATION.length, end).trim();
    const told = asObject(start < 0 || end < 0 ? undefined : jsonOrText(inner));
    const key = asString(told?.agent_path) ?? asString(told?.agent_id);
    const status = asObject(told?.status);
    const state = asString(told?.status) ?? Object.keys(status ?? {})[0] ?? "reported";
    const text = asString(status?.[state]) ?? content.text;
    const name = key === undefined ? undefined : this.runs.nameOf(key);
    this.writer.marker("notification", `Sub-agent ${name ?? ""} ${state}`.replaceAll(/ +/g, " "), text);
    this.runs.ended(key, state);
    return SHOWN;
  }

  // --- Prompts ---

  /**
   * Reads a message of role `user`. `confirmed`: the next line shows that a person wrote it. `last`: there is no next line, so
   * only its start can show that.
   */
  private userMessage(line: Line, content: UserContent, confirmed: boolean, last: boolean): Disposition {
    const command = personCommandOf(content);
    if (command !== undefined && !confirmed) return this.ranByPerson(command, "item");
    const author = confirmed ? "person" : authorByKinds(line.payload);
    const title = injectedTitle(content);
    const person =
      author === undefined ? title === undefined && (last || !this.hasConfirmations) : author === "person";
    // An event may have recorded it any number of lines earlier.
    const asked = author !== "agent" && title === undefined && this.claimAsked(content.text, "item");
    if (asked) return folded("the same prompt");
    if (person) {
      if (title !== undefined && this.claimAsked(content.text, "item")) return folded("the same prompt");
      this.ask(content, this.facts.isRun && !this.byUser ? "agent" : undefined, "item");
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
    if (this.asked.length > MAX_ASKED) this.asked.shift();
    this.compaction = undefined;
    this.interrupted = false;
    this.growing = undefined;
    this.writer.prompt(content, origin, this.hasTasks);
  }

  /** Shows a command that the person ran like a prompt, followed by its output. */
  private ranByPerson(ran: PersonCommand, log: Log): Disposition {
    const known = this.ran.find(
      ({ command, logs }) => !logs.has(log) && command.trim() === ran.command.trim(),
    );
    if (known !== undefined) {
      known.logs.add(log);
      return folded("the person's command");
    }
    this.ran.push({ command: ran.command, logs: new Set([log]) });
    if (this.ran.length > MAX_ASKED) this.ran.shift();
    const text = `! ${ran.command}`;
    this.writer.prompt({ text, parts: [{ type: "text", text }] }, "command", this.hasTasks);
    this.writer.marker("note", outputTitle(ran), outputBlock(ran), outputFacts(ran));
    return SHOWN;
  }

  private claimAsked(text: string, log: Log): boolean {
    const known = this.asked.find((each) => !each.logs.has(log) && isSamePrompt(each.text, text));
    known?.logs.add(log);
    return known !== undefined;
  }

  private userCopy(content: UserContent, log: Log): Disposition {
    this.hasConfirmations = true;
    if (this.claimAsked(content.text, log)) return folded("the same prompt");
    if (content.parts.length === 0) return hidden("empty message");
    this.ask(content, this.facts.isRun && !this.byUser ? "agent" : undefined, log);
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
        this.lastError = undefined;
        this.byUser = asObject(payload.turn_attribution)?.turn_trigger === "user";
        this.copies.clear();
        this.ran = [];
        writer.openTurn(asString(payload.turn_id) ?? `at-${writer.now.source.byte}`);
        return folded("the turn");
      case "turn.completed":
        return this.turnCompleted(payload);
      case "task_complete":
      case "turn_complete":
        return this.taskComplete(payload);
      case "turn_aborted": {
        const reason = asString(payload.reason);
        return this.interrupt(reason === "interrupted" ? undefined : reason?.replaceAll("_", " "));
      }
      case "user_message":
        if (isInjectedEvent(payload)) return hidden("injected context told twice");
        return this.userCopy(readUserEvent(payload), "event");
      case "token_count":
        return this.usage.tokenCount(payload);
      case "item_completed":
        return this.itemCompleted(line, asObject(payload.item) ?? {});
      case "exec_command_end":
        return this.commandEnded(asString(payload.call_id), payload);
      case "patch_apply_end":
        return this.records.patched(asString(payload.call_id), payload);
      case "mcp_tool_call_end":
        return this.records.mcpCalled(asString(payload.call_id), payload);
      case "web_search_end":
        return this.records.webSearched(asString(payload.call_id), payload);
      case "image_generation_end":
        return this.records.imageGenerated(asString(payload.call_id), payload);
      case "view_image_tool_call":
        return this.records.aboutCall(asString(payload.call_id), "view_image", payload);
      case "dynamic_tool_call_request":
      case "dynamic_tool_call_response":
        return this.records.dynamicCall(payload);
      case "collab_agent_spawn_end":
        return this.records.collabSpawned(payload);
      case "collab_agent_interaction_end":
      case "collab_waiting_end":
      case "collab_close_end":
      case "collab_resume_end":
        return this.records.aboutCall(asString(payload.call_id), type.replace(/_end$/, ""), payload);
      case "sub_agent_activity":
        return this.records.agentActivity(asString(payload.event_id) ?? asString(payload.call_id), payload);
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
      case "thread_name_updated": {
        const title = asText(payload.thread_name);
        if (title === undefined) return hidden("empty name");
        this.facts.update({ title });
        return folded("the session");
      }
      case "error":
        this.lastError = messageOf(payload) ?? "Error";
        writer.error(this.lastError, false, payload);
        return SHOWN;
      case "guardian_assessment":
        return this.records.assessed(payload) ?? readGuardian(writer, payload);
      default: {
        const notice = readNotice(writer, payload);
        if (notice !== undefined) return notice;
        if (NOISE.has(type)) return hidden(type.replaceAll("_", " "));
        writer.unknown(value, type === "" ? undefined : type);
        return { kind: "unknown" };
      }
    }
  }

  private taskComplete(payload: JsonObject): Disposition {
    const { writer } = this;
    const error = asObject(payload.error);
    const message = asText(error?.message) ?? asText(payload.error);
    const last = asText(payload.last_agent_message);
    let shown = false;
    // The answer was already shown, unless no text of this turn was recorded.
    if (last !== undefined && writer.turn !== undefined && writer.turn.texts === 0) {
      writer.words("text", last);
      shown = true;
    }
    if (message !== undefined && message !== this.lastError) {
      writer.closeStep(undefined);
      writer.error(message, false, error);
      shown = true;
    }
    // Before 0.169 errors are separate records, and this record does not mention them.
    const failed = message !== undefined || writer.turn?.failed === true;
    writer.closeTurn(failed ? "failed" : "completed");
    return shown ? SHOWN : folded("the turn");
  }

  /** Reads the end of a turn in files of late 2025. */
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

  // --- Copies of what the model said ---

  /** Whether a copy continues the thought that is already shown and that its item will repeat completely. */
  private isGrowing(copy: Copy, { texts }: Base): boolean {
    const shown = copy.log === "event" ? this.growing : undefined;
    return copy.kind === "thinking" && shown?.texts.every((text) => texts.includes(text)) === true;
  }

  private showCopy(copy: Copy): Disposition {
    const name = copy.kind === "thinking" ? "the same reasoning" : "the same message";
    if (this.copies.claim(copy, copy.log) !== undefined) return folded(name);
    const text = copy.texts.join("\n\n");
    if (text.trim() === "") return hidden(copy.kind === "thinking" ? "empty reasoning" : "empty message");
    const more = copy.phase === undefined ? {} : { phase: copy.phase };
    const { growing } = this;
    if (copy.kind === "thinking" && copy.log === "event" && growing !== undefined) {
      // One event for each summary of a thought.
      growing.texts.push(text);
      this.writer.revise(growing.part_id, growing.texts.join("\n\n"));
      this.copies.shown(copy, copy.log, growing.part_id);
      return folded("the reasoning before");
    }
    const part_id = this.writer.words(copy.kind, text, more);
    this.copies.shown(copy, copy.log, part_id);
    if (copy.kind === "thinking" && copy.log === "event") this.growing = { part_id, texts: [text] };
    return SHOWN;
  }

  // --- Items and events about calls ---

  private commandEnded(id: string | undefined, payload: JsonObject): Disposition {
    const ran = personCommandIn(payload);
    return ran === undefined ? this.records.commandEnded(id, payload) : this.ranByPerson(ran, "event");
  }

  private itemCompleted(line: Line, item: JsonObject): Disposition {
    const id = asString(item.id);
    switch (item.type) {
      case "UserMessage":
        return this.userCopy(readUserContent(item.content), "completed");
      case "CommandExecution":
        return this.commandEnded(id, item);
      case "FileChange":
        return this.records.patched(id, item);
      case "McpToolCall":
        return this.records.mcpCalled(id, item);
      case "WebSearch":
        return this.records.webSearched(id, item);
      case "Extension":
        return this.records.extended(id, item);
      case "ImageView":
        return this.records.aboutCall(id, "view_image", item);
      case "ImageGeneration":
        return this.records.imageGenerated(id, item);
      case "CollabAgentToolCall":
        return this.records.collabCalled(id, item);
      case "SubAgentActivity":
        return this.records.agentActivity(id, item);
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
        return this.records.dynamicCall({ ...item, call_id: id });
      case "Sleep": {
        const slept = inSeconds(item.duration_ms);
        this.writer.marker("note", slept === undefined ? "Slept" : `Slept ${slept}`, asText(item.reason));
        return SHOWN;
      }
      default:
        this.writer.unknown(line.value, asString(item.type));
        return { kind: "unknown" };
    }
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
