import { asNumber, asString, asText } from "../../model/narrow.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import type { Disposition, SessionLinkFacts } from "../contract.ts";
import { AgentMessages } from "./agent-messages.ts";
import { keptName } from "./bounds.ts";
import { CallRecords } from "./call-records.ts";
import { Calls, type CallsState, initialCalls } from "./calls.ts";
import { CopiedHistory, type CopiedState, initialCopied } from "./copied-history.ts";
import { folded, hidden } from "./disposition.ts";
import { Events } from "./events.ts";
import {
  baseOf,
  confirms,
  copyOf,
  earlyEventOf,
  isTurnAborted,
  isUserMessage,
  type Line,
  metadataOf,
  turnIdOf,
} from "./line.ts";
import { initialModelTexts, ModelTexts, type ModelTextsState } from "./model-texts.ts";
import { NOISE } from "./noise.ts";
import { readOutput, toolNames } from "./output.ts";
import { initialPrompts, Prompts, type PromptsState } from "./prompts.ts";
import { readRealtime } from "./realtime.ts";
import { Runs, type RunsState } from "./runs.ts";
import { type FactsState, initialFacts, ThreadFacts } from "./thread-facts.ts";
import { TurnRecords, type TurnRecordsState } from "./turn-records.ts";
import { TurnWriter } from "./turn-writer.ts";
import { initialTurns, type TurnState } from "./turns.ts";
import { UsageRecords, type UsageState } from "./usage-records.ts";
import { authorByKinds, readUserContent } from "./user-message.ts";

const COPIED = "history copied from another session";
/** Events that begin a turn. */
const BEGINNINGS = new Set(["task_started", "turn_started"]);
/** Records that may occur between a user message and the event that confirms it. */
const NEUTRAL = new Set(["turn_context", "world_state", "token_count", "thread_settings_applied"]);

/** A thread as its file names it. */
export interface ThreadIds {
  session_id: string;
  /** Codex's id of the file. */
  own: string;
  /** The thread of a segment, which continues it in a separate file. */
  thread?: string;
}

/** What a `Session` keeps between two records. Plain JSON, bounded by the rule in bounds.ts. */
export interface SessionState extends ThreadIds {
  /** Reading started inside the file. */
  isInside: boolean;
  /** Reading started inside the file, and no record has named the turn that was open there yet. */
  joins: boolean;
  /** A line of the thread itself (not copied) was read. */
  began: boolean;
  turns: TurnState;
  calls: CallsState;
  runs: RunsState;
  usage: UsageState;
  facts: FactsState;
  copied: CopiedState;
  prompts: PromptsState;
  words: ModelTextsState;
  turnRecords: TurnRecordsState;
}

export function initialSession(ids: ThreadIds, path: string, isInside: boolean): SessionState {
  return {
    ...ids,
    isInside,
    joins: isInside,
    began: false,
    turns: initialTurns(ids.session_id, path),
    calls: initialCalls(),
    runs: { runs: [] },
    usage: { hasRecords: false, totals: "" },
    facts: initialFacts(),
    copied: initialCopied(),
    prompts: initialPrompts(),
    words: initialModelTexts(),
    turnRecords: { interrupted: false },
  };
}

/** Reads the records of one thread. Everything that it keeps between two records is in its state. */
export class Session {
  readonly writer: TurnWriter;
  private readonly state: SessionState;
  private readonly isOwn: (id: string) => boolean;
  private readonly runs: Runs;
  private readonly records: CallRecords;
  private readonly usage: UsageRecords;
  private readonly facts: ThreadFacts;
  private readonly copied: CopiedHistory;
  private readonly messages: AgentMessages;
  private readonly prompts: Prompts;
  private readonly texts: ModelTexts;
  private readonly turnRecords: TurnRecords;
  private readonly events: Events;

  /** `isOwn`: whether an id names this file. */
  constructor(state: SessionState, isOwn: (id: string) => boolean) {
    this.state = state;
    this.isOwn = isOwn;
    const writer = new TurnWriter(state.turns);
    this.writer = writer;
    this.copied = new CopiedHistory(state.own, state.copied);
    this.usage = new UsageRecords(writer, state.usage);
    this.facts = new ThreadFacts(writer, state.thread !== undefined, state.facts);
    const calls = new Calls(writer, state.calls);
    this.runs = new Runs(writer, calls, state.runs);
    this.records = new CallRecords(writer, calls, this.runs);
    this.messages = new AgentMessages(writer, this.runs, this.facts);
    this.texts = new ModelTexts(writer, state.words);
    this.turnRecords = new TurnRecords(writer, state.turnRecords, () => {
      this.prompts.forget();
      this.texts.copies.clear();
    });
    this.prompts = new Prompts(writer, this.facts, state.prompts, {
      onPrompt: () => this.isPromptOrOutput(),
      notification: (content) => this.messages.notification(content),
    });
    const { records, usage, facts, prompts, texts, turnRecords } = this;
    this.events = new Events({ writer, records, usage, facts, prompts, texts, turnRecords });
    writer.onModelItem = () => {
      this.isPromptOrOutput();
      this.prompts.forget();
    };
    if (state.copied.isNoteDue) this.noteCopiesBeforePart();
  }

  /** Called when the model or a person said something: later records cannot repeat earlier ones. */
  private isPromptOrOutput(): void {
    this.state.words.growing = undefined;
    this.turnRecords.forget();
  }

  private countCopied(): Disposition {
    const { copied } = this.state;
    copied.count += 1;
    if (copied.count === 1) {
      copied.isNoteDue = true;
      this.noteCopiesBeforePart();
    }
    return hidden(COPIED);
  }

  /** The note about copied history precedes the thread's first own part, when its length is known. */
  private noteCopiesBeforePart(): void {
    this.writer.beforePart = () => this.noteCopies();
  }

  private noteCopies(): void {
    const { copied, facts } = this.state;
    copied.isNoteDue = false;
    const { begin, count } = copied;
    if (begin === undefined) return;
    const from = copied.from ?? facts.parent ?? facts.forkedFrom?.session_id;
    this.writer.markerOf(begin, "note", codexTitle("records_copied", { records: count }), {
      records: count,
      ...(from === undefined ? {} : { session_id: from }),
    });
  }

  linkFacts(): SessionLinkFacts {
    const { session_id, own, thread, facts, prompts } = this.state;
    const { firstPrompt } = prompts;
    return {
      session_id,
      group: facts.group ?? facts.parent ?? session_id,
      ...(thread === undefined ? {} : { registered_as: thread }),
      calls: this.runs.spawned,
      ...(facts.isRun
        ? {
            run: {
              agent_key: thread ?? own,
              at: facts.startedAt ?? 0,
              ...(facts.parent === undefined ? {} : { parent_session_id: facts.parent }),
              ...(firstPrompt === undefined ? {} : { prompt: firstPrompt }),
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
    const earlyEvent = earlyEventOf(line);
    if (earlyEvent !== undefined) return this.records.mayFollow(earlyEvent.id);
    const copy = copyOf(line);
    return copy !== undefined && !this.texts.copies.wasShown(copy);
  }

  mayWait(held: readonly Line[], line: Line): boolean {
    const [first] = held;
    if (first === undefined || held.length > 64) return false;
    if (isUserMessage(first)) {
      return NEUTRAL.has(line.type) || NEUTRAL.has(asString(line.payload.type) ?? "");
    }
    const copy = copyOf(line);
    return copy !== undefined && !this.texts.copies.wasShown(copy);
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
      this.writer.begin(first.moment, first.text);
      done(first, this.prompts.userMessage(first, content, confirmed, next === undefined));
      for (const line of held.slice(1)) done(line, this.process(line));
      return;
    }
    // Copies that the next line repeats are folded into it. Others are the only record and are shown.
    const base = next === undefined || this.copied.contains(next) ? undefined : baseOf(next);
    for (const line of held) {
      const copy = copyOf(line);
      this.writer.begin(line.moment, line.text);
      const earlyEvent = earlyEventOf(line);
      if (earlyEvent !== undefined && next?.type === "response_item" && next.payload.id === earlyEvent.id) {
        done(line, this.records.announce(earlyEvent.id, earlyEvent.payload));
      } else if (copy === undefined) done(line, this.process(line));
      else if (
        base !== undefined &&
        this.texts.copies.belongsTo(copy, base) &&
        !this.texts.isGrowing(copy, base)
      ) {
        this.texts.copies.expect(copy);
        done(line, folded(copy.kind === "thinking" ? "the reasoning item" : "the message item"));
      } else done(line, this.texts.showCopy(copy));
    }
  }

  /** Completes the state before it is saved. */
  save(): void {
    this.texts.copies.save();
  }

  /** Called after each record, because only the state is kept for the next one. */
  endRecord(): void {
    this.records.dropEarlyEvent();
  }

  /** Called when no line follows: a turn without a recorded end gets the status of its last activity. */
  provisionalEnd(): void {
    this.writer.provisionalEnd();
  }

  // --- Records ---

  process(line: Line): Disposition {
    const { writer } = this;
    writer.begin(line.moment, line.text);
    if (line.type === "session_meta") return this.sessionMeta(line);
    if (this.copied.contains(line)) return this.countCopied();
    this.state.began = true;
    if (this.state.joins) this.join(line);
    if (this.state.isInside) {
      const turn_id = turnIdOf(line);
      this.records.isAbove = turn_id !== undefined && writer.isAbove(turn_id);
    }
    switch (line.type) {
      case "turn_context":
        return this.facts.turnContext(line.payload);
      case "response_item":
        return this.responseItem(line);
      case "event_msg":
        return this.events.read(line);
      case "compacted":
        return this.turnRecords.compact("compacted", asText(line.payload.message), line.payload);
      case "token_usage_record":
        return this.usage.record(line.payload);
      case "inter_agent_communication":
        return this.messages.communication(line.payload, this.prompts);
      default:
        if (line.type === "realtime_item") {
          const read = readRealtime(writer, line.payload);
          if (read !== undefined) return read;
        }
        if (NOISE.has(line.type)) return hidden(line.type.replaceAll("_", " "));
        writer.unknown(line.value, line.type);
        return { kind: "unknown" };
    }
  }

  /** Joins the turn that a record names. Its start is before the part of the file that is read. */
  private join(line: Line): void {
    const turn_id = turnIdOf(line);
    if (turn_id === undefined) return;
    this.state.joins = false;
    this.state.turns.hasTasks = true;
    // A turn that starts here, with no other turn before it, is complete.
    if (this.writer.turnsOpened === 0 && BEGINNINGS.has(asString(line.payload.type) ?? "")) return;
    this.writer.joinTurn(turn_id);
  }

  // --- The session's own facts ---

  private sessionMeta(line: Line): Disposition {
    const { payload } = line;
    const id = asString(payload.id)?.toLowerCase();
    if (id !== undefined && !this.isOwn(id) && this.state.facts.metaSeen) {
      // Copied history precedes the thread's own records.
      if (this.state.began) return hidden("another session's facts");
      this.state.copied.possible = true;
      this.state.copied.from ??= keptName(id);
      this.copied.start(line);
      return this.countCopied();
    }
    const { copied, facts } = this.state;
    copied.firstOwnOrdinal = asNumber(payload.subagent_history_start_ordinal) ?? copied.firstOwnOrdinal;
    const disposition = this.facts.sessionMeta(line);
    copied.possible ||=
      facts.isRun ||
      facts.parent !== undefined ||
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
        return this.texts.reasoning(payload);
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
        return this.messages.message(payload, this.prompts);
      case "compaction":
      case "compaction_summary":
      case "context_compaction":
        return this.turnRecords.compact("response", undefined, payload);
      default:
        if (NOISE.has(type)) return hidden(type.replaceAll("_", " "));
        this.writer.unknown(line.value, type);
        return { kind: "unknown" };
    }
  }

  private message(line: Line): Disposition {
    const { payload } = line;
    if (payload.role === "assistant") return this.assistantMessage(line);
    if (isTurnAborted(payload)) return this.turnRecords.interrupt(undefined);
    if (payload.role !== "user") return hidden("developer instructions");
    return this.prompts.userMessage(line, readUserContent(payload.content), false, false);
  }

  private assistantMessage(line: Line): Disposition {
    if (metadataOf(line).compaction_output !== true) return this.texts.message(line);
    // The summary is a separate model call.
    this.writer.modelItem();
    return this.turnRecords.compact("summary", baseOf(line)?.texts.join("\n") ?? "", undefined);
  }
}
