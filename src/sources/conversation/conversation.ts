import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import type { StopReason, ToolStatus, Usage } from "../../model/messages/message.ts";
import type { MediaPart, Part } from "../../model/messages/part.ts";
import type { CallOutcome, Permission } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { SessionPatch } from "../../model/session.ts";
import type { MarkerKind, TurnStatus } from "../../model/transcript/transcript.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import type { Disposition, RecordResult, SessionRecord } from "../contract.ts";
import { own } from "./own.ts";

/** An emitted call that later records may refer to. */
interface EmittedCall {
  /** The agent's id, which several calls may share. */
  name: string;
  /** The id in frames. */
  id: string;
  tool_name: string;
  /** The suffix of its part id. It identifies the call if its own record is read again. */
  part: string;
  answered: boolean;
  /** The base of its result's payload. */
  payload?: UiExtra;
}

/** The state of a `Conversation` between records: plain data of bounded size, however long the session. */
export interface ConversationState {
  session_id: string;
  /** Time of the last record with a time, in milliseconds. */
  at: number;
  turn?: {
    id: string;
    /** The agent is working on it, according to the records. */
    open: boolean;
    /** It has only parts that may precede a prompt. */
    preamble: boolean;
    failed: boolean;
    /** A person stopped its last call, and the agent has done nothing since. */
    stopped?: boolean;
    /** How it ended, if it did. */
    status?: TurnStatus;
    /** Its last part is an interrupt: another one adds no part. */
    interrupted?: boolean;
  };
  /** The last step: open, or ended (`over`). `again`: it had already ended, and only its usage is emitted again. */
  step?: {
    key: string;
    /** Distinguishes it from an earlier step with the same key, by the record that started it. */
    name?: string;
    again?: boolean;
    /** It is read again, and its start is not known: it was too long ago, or its first version is missing. */
    unstarted?: boolean;
    message_id: string;
    over: boolean;
    /** An interrupt cut it off, so it has no end. */
    cut?: boolean;
    calls: number;
    last?: "text" | "thinking" | "other";
  };
  /** Keys of recently ended steps of this turn. */
  ended: string[];
  /**
   * Keys of recent steps of earlier turns, and of steps that an interrupt cut off. A new step with such a key is a different
   * one.
   */
  ended_before: string[];
  /** Recent results by their id in frames, with positions. A later result replaces an earlier one in its place. */
  results: { id: string; source?: SessionRecord["place"] }[];
  /** Newest last. Answered calls of earlier turns are removed. */
  calls: EmittedCall[];
  /** The last emitted value of each `session.update` field, as JSON. */
  emitted: Record<string, string>;
  model?: string;
}

type ResultBody = Extract<FrameBody, { type: "message.tool_result" }>;

/** Maximum number of remembered calls of one turn. The oldest answered ones are removed first. */
const MAX_CALLS = 256;
/** Number of remembered steps and results, to recognize repeated ones. */
const MAX_ENDED = 64;
/** Maximum JSON size of a payload that is kept until the result, in UTF-16 code units. */
const LARGEST_PAYLOAD = 4_000;
/** Index of a part that a record creates depending on earlier records. */
const MODEL_SWITCH = 0x2000_0000;

export interface ConversationOptions {
  /** Time of the record in milliseconds; absent: the time of the previous record. */
  at?: number | undefined;
  /** The record was read before and has changed. It revises its parts and starts or ends no turn. */
  revises?: boolean;
}

export interface StepOptions {
  model?: string;
  response_id?: string;
}

export interface StepEnding {
  usage?: Usage;
  stop_reason?: StopReason;
  stop_reason_raw?: string;
}

export interface ToolCall {
  /** Absent: it has none. Its result can only be paired if no other call waits (see `toolResult`). */
  id?: string;
  tool_name: string;
  arguments_json: string;
  /** The payload data from the call's arguments. */
  payload?: UiExtra | undefined;
  /** The provider runs it within the step. The model continues without waiting for the agent. */
  by_server?: boolean;
}

export interface ToolResult {
  id?: string;
  tool_name?: string;
  status: ToolStatus;
  output_text: string;
  parts?: MediaPart[];
  /** For status `aborted`: why it neither succeeded nor failed. */
  outcome?: CallOutcome | undefined;
  /** Who allowed the call. */
  permission?: Permission | undefined;
  /** Builds the result's payload from the call's. */
  payload?: (call: UiExtra | undefined) => UiExtra | undefined;
}

export const freshConversation = (session_id: string): ConversationState => ({
  session_id,
  at: 0,
  ended: [],
  ended_before: [],
  results: [],
  calls: [],
  emitted: {},
});

/** A copy whose changes do not affect the state. Only what a `Conversation` changes in place is copied. */
function copied(state: ConversationState): ConversationState {
  return {
    ...state,
    ...(state.turn !== undefined && { turn: { ...state.turn } }),
    ...(state.step !== undefined && { step: { ...state.step } }),
    ended: [...state.ended],
    ended_before: [...state.ended_before],
    results: [...state.results],
    calls: state.calls.map((call) => ({ ...call })),
    emitted: { ...state.emitted },
  };
}

/** Appends to a list that keeps its last `MAX_ENDED` items. */
function remember<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length > MAX_ENDED) list.shift();
}

/**
 * Writes one session's frames for an agent whose records are messages. Opens and ends turns and steps, derives part ids from
 * records (so that a record read again revises its parts), pairs results with calls by id, and determines each record's
 * disposition. Methods may be called in any state.
 *
 * Create one for each record: `new Conversation(state, record, { at })`, call its methods, return `result()`.
 */
export class Conversation {
  private readonly state: ConversationState;
  private readonly record: Pick<SessionRecord, "key" | "place"> | undefined;
  private readonly revises: boolean;
  private readonly frames: Frame[] = [];
  private message_id: string | undefined;
  private parts = 0;
  private shown = 0;
  private unknowns = 0;
  private folded: string | undefined;

  constructor(
    state: ConversationState,
    record?: Pick<SessionRecord, "key" | "place">,
    { at, revises = false }: ConversationOptions = {},
  ) {
    // A revised record must not change turns and steps again for the records that follow.
    this.state = revises ? copied(state) : state;
    this.record = record;
    this.revises = revises;
    if (at !== undefined) this.state.at = at;
  }

  /** The record's disposition and frames. `otherwise`: the disposition if it created no part. */
  result(otherwise: Disposition = { kind: "folded", into: "the session" }): RecordResult {
    const { frames } = this;
    if (this.shown > 0) return { disposition: { kind: "shown" }, frames };
    if (this.unknowns > 0) return { disposition: { kind: "unknown" }, frames };
    if (this.folded !== undefined) return { disposition: { kind: "folded", into: this.folded }, frames };
    return { disposition: otherwise, frames };
  }

  /** Adds the frames and disposition of another conversation, or of another record of this one. */
  join(other: Conversation): void {
    this.frames.push(...other.frames);
    this.shown += other.shown;
    this.unknowns += other.unknowns;
  }

  /** Whether no session fact was emitted yet. */
  get isNew(): boolean {
    return Object.keys(this.state.emitted).length === 0;
  }

  /** The frames so far, for frames that are inferred from the end of the session. */
  take(): Frame[] {
    return this.frames;
  }

  /** Emits new and changed session facts. */
  update(patch: SessionPatch): void {
    const { emitted } = this.state;
    let news: SessionPatch | undefined;
    for (const [name, value] of Object.entries(patch)) {
      const json = JSON.stringify(value);
      if (json === undefined || own(emitted, name) === json) continue;
      emitted[name] = json;
      news = { ...news, [name]: value };
    }
    if (news !== undefined) this.emit({ type: "session.update", patch: news });
  }

  /**
   * Opens the turn of a following prompt, for content that the agent put before it. `anew`: even if the open turn has no prompt
   * yet.
   */
  beginTurn({ anew = false }: { anew?: boolean } = {}): void {
    if (this.state.turn?.preamble === true && !anew) return;
    this.endBefore();
    this.openTurn(true);
  }

  /** Emits a prompt, which opens a turn. `queued`: it belongs to the running turn. `origin`: its author, if not a person. */
  prompt(
    parts: Part[],
    options: { origin?: "agent" | "notification" | "command"; queued?: boolean } = {},
  ): void {
    const { origin } = options;
    const { turn } = this.state;
    const queued = options.queued === true && (turn?.open === true || this.revises);
    if (!queued && turn?.preamble !== true) {
      this.endBefore();
      this.openTurn();
    }
    const { part_id, message_id } = this.recordPart();
    this.put({
      type: "user.message",
      message_id,
      part_id,
      parts,
      ...(queued && { queued }),
      ...(origin !== undefined && { origin }),
    });
    const opened = this.state.turn;
    if (opened === undefined) return;
    opened.open = true;
    opened.preamble = false;
  }

  /** Emits context that the agent added for the model. It is shown folded. */
  context(title: string, parts: Part[]): void {
    this.ensureTurn(true);
    this.put({ type: "developer.message", ...this.recordPart(), parts, title });
  }

  /** Starts a step (one model call), or continues the one with this key. */
  step(key: string, { model, response_id }: StepOptions = {}): void {
    const { state } = this;
    if (state.step?.key === key && !state.step.over) return;
    this.endStep();
    this.ensureTurn(false);
    if (model !== undefined) this.nameModel(model);
    const isOther = !this.revises && state.ended_before.includes(key);
    const name = isOther ? `${this.recordKey()}:${key}` : key;
    const message_id = uuidFrom(state.session_id, `message:${name}`);
    const isKnown =
      state.ended.includes(name) ||
      ((isOther || this.revises) && state.ended_before.includes(name)) ||
      (this.revises && state.step?.key === key);
    const again = this.revises || isKnown;
    state.step = {
      key,
      ...(isOther && { name }),
      message_id,
      over: false,
      calls: 0,
      ...(again && { again }),
      ...(again && !isKnown && { unstarted: true }),
    };
    if (state.turn !== undefined) {
      state.turn.open = true;
      state.turn.failed = false;
      state.turn.stopped = false;
    }
    if (again) return;
    this.emit({
      type: "message.start",
      message_id,
      ...(model !== undefined && { model }),
      ...(response_id !== undefined && { response_id }),
    });
  }

  /** Sets the model of the open step after its first parts. */
  nameModel(model: string): void {
    if (this.state.model === model) return;
    if (this.state.model !== undefined && !this.revises) this.switchModel(this.state.model, model);
    this.state.model = model;
    this.update({ model });
  }

  private switchModel(before: string, now: string): void {
    const { message_id } = this.recordPart(false);
    const part_id = partId(message_id, MODEL_SWITCH);
    const title = `Model changed: ${before} → ${now}`;
    this.emit({ type: "marker", message_id, part_id, kind: "model_switch", title });
  }

  get hasOpenStep(): boolean {
    return this.state.step !== undefined && !this.state.step.over;
  }

  text(text: string, fields: { phase?: string } = {}): void {
    if (text.trim() === "") {
      this.fold("nothing: blank text");
      return;
    }
    this.say("text", text, {}, fields);
  }

  thinking(
    text: string,
    fields: { signature?: string; hidden?: "encrypted" | "redacted" | "empty" } = {},
  ): void {
    if (text === "" && fields.signature === undefined && fields.hidden === undefined) {
      this.fold("nothing: blank text");
      return;
    }
    this.say("thinking", text, { ...(text === "" && { hidden: "empty" as const }), ...fields });
  }

  private say(
    kind: "text" | "thinking",
    text: string,
    fields: { signature?: string; hidden?: "encrypted" | "redacted" | "empty" } = {},
    start: { phase?: string } = {},
  ): void {
    const step = this.ensureStep();
    const { part_id } = this.recordPart();
    this.put({ type: "message.part_start", part_id, kind, message_id: step.message_id, ...start });
    this.put({ type: "message.part_end", part_id, text, ...fields });
    step.last = kind;
  }

  /** Emits media that the model generated. */
  media(media: MediaPart): void {
    const { message_id } = this.ensureStep();
    const { part_id } = this.recordPart();
    switch (media.type) {
      case "image_url":
        this.put({ type: "message.image", part_id, message_id, url: media.url });
        break;
      case "image_file":
        this.put({
          type: "message.image",
          part_id,
          message_id,
          file_path: media.file_path,
          ...(media.mime_type !== undefined && { mime_type: media.mime_type }),
        });
        break;
      case "file":
        this.put({
          type: "message.file",
          part_id,
          message_id,
          mime: media.mime,
          url: media.url,
          ...(media.filename !== undefined && { filename: media.filename }),
        });
        break;
      case "unknown":
        this.unknown(media.raw, "Content of a kind that is not known");
        break;
      default:
        media satisfies never;
    }
  }

  /**
   * Emits a call of the open step. If another call of the turn has the same id, it gets a new one. Returns the id in frames.
   */
  toolCall({ id, tool_name, arguments_json, payload, by_server = false }: ToolCall): string {
    const step = this.ensureStep();
    const { part_id } = this.recordPart();
    const frame_id = this.nameCall(id ?? "", part_id, tool_name, payload);
    if (!by_server) step.calls += 1;
    step.last = "other";
    if (this.state.turn !== undefined) this.state.turn.open = true;
    this.put({
      type: "message.tool_call",
      tool_call_id: frame_id,
      tool_name,
      arguments_json,
      part_id,
      message_id: step.message_id,
    });
    return frame_id;
  }

  private nameCall(name: string, part_id: string, tool_name: string, payload: UiExtra | undefined): string {
    const { calls } = this.state;
    const part = part_id.slice(-12);
    let isTaken = name === "";
    for (const call of calls) {
      if (call.part === part) return call.id;
      isTaken ||= call.name === name;
    }
    const id = isTaken ? `${name}@${part}` : name;
    const isKept = payload !== undefined && JSON.stringify(payload).length <= LARGEST_PAYLOAD;
    calls.push({ name, id, tool_name, part, answered: false, ...(isKept && { payload }) });
    this.forgetCalls();
    return id;
  }

  /** Whether a call with this id waits for its result. */
  awaits(id: string): boolean {
    return this.state.calls.some((call) => call.name === id && !call.answered);
  }

  /**
   * Emits a result of the oldest waiting call with this id, otherwise of the newest call with it. A result with an unknown id
   * belongs to the only waiting call without an id; otherwise it is shown separately.
   */
  toolResult(result: ToolResult): void {
    this.ensureTurn(false);
    const call = this.callOf(result.id);
    if (call !== undefined) call.answered = true;
    if (this.state.turn !== undefined) this.state.turn.stopped = result.status === "aborted";
    const tool_name = call?.tool_name ?? result.tool_name;
    const payload = result.payload === undefined ? call?.payload : result.payload(call?.payload);
    const tool_call_id = call?.id ?? result.id ?? `result@${this.recordKey()}`;
    const before = this.state.results.find(({ id }) => id === tool_call_id);
    const body: ResultBody = {
      type: "message.tool_result",
      tool_call_id,
      is_error: result.status === "error",
      status: result.status,
      output_text: result.output_text,
      parts: result.parts ?? [],
      ...this.recordPart(),
    };
    if (before?.source !== undefined) body.source = before.source;
    if (tool_name !== undefined) body.tool_name = tool_name;
    if (payload !== undefined) body.ui_extra = payload;
    if (result.outcome !== undefined) body.outcome = result.outcome;
    if (result.permission !== undefined) body.permission = result.permission;
    if (before === undefined) {
      this.rememberResult(tool_call_id);
      this.put(body);
    } else {
      this.fold("the result before it");
      this.emit(body);
    }
  }

  private rememberResult(id: string): void {
    const source = this.record?.place;
    remember(this.state.results, { id, ...(source !== undefined && { source }) });
  }

  private callOf(id: string | undefined): EmittedCall | undefined {
    let latest: EmittedCall | undefined;
    let nameless: EmittedCall | undefined;
    let nameless_count = 0;
    // One pass: a result has up to `MAX_CALLS` calls before it.
    for (const call of this.state.calls) {
      if (id !== undefined && call.name === id) {
        if (!call.answered) return call;
        latest = call;
      } else if (call.name === "" && !call.answered) {
        nameless = call;
        nameless_count += 1;
      }
    }
    return latest ?? (nameless_count === 1 ? nameless : undefined);
  }

  /** Ends the open step. An answer without calls ends the turn. */
  endStep(ending: StepEnding = {}): void {
    const { step, turn } = this.state;
    if (step === undefined || step.over) return;
    // A revision does not end the step that the latest records left open.
    if (this.revises && step.again !== true) return;
    step.over = true;
    const stop_reason = ending.stop_reason ?? (step.calls > 0 ? "tool_use" : undefined);
    if (step.again !== true || (ending.usage !== undefined && step.unstarted !== true))
      this.emit({
        type: "message.end",
        message_id: step.message_id,
        ...ending,
        ...(stop_reason !== undefined && { stop_reason }),
      });
    if (step.again !== true) remember(this.state.ended, step.name ?? step.key);
    if (turn === undefined) return;
    if (stop_reason === "error") turn.failed = true;
    if (stop_reason === "aborted") turn.open = false;
    else if (this.gaveBack() && stop_reason !== "length") this.endTurn(turn.failed ? "failed" : "completed");
  }

  /** Adds usage to an ended step. */
  amendStep(ending: StepEnding): void {
    const { step } = this.state;
    if (step === undefined || ending.usage === undefined) return;
    if (step.cut === true) this.aside({ usage: ending.usage });
    else if (!step.over) this.endStep(ending);
    else this.emit({ type: "message.end", message_id: step.message_id, ...ending });
    this.fold("the end of its step");
  }

  /** Emits a model call outside the conversation's steps, which used tokens and added nothing to it. */
  aside({ model, usage }: { model?: string; usage: Usage }): void {
    this.endStep();
    const isOpen = this.state.turn?.open === true;
    this.ensureTurn(true);
    const message_id = uuidFrom(this.state.session_id, `message:${this.recordKey()}`);
    this.emit({ type: "message.start", message_id, ...(model !== undefined && { model }) });
    this.emit({ type: "message.end", message_id, usage });
    // A model call reopens its turn, so an ended turn is ended again with the same status.
    if (!isOpen) this.emit({ type: "turn.end", status: this.state.turn?.status ?? "completed" });
  }

  marker(kind: MarkerKind, title: string, text?: string, data?: unknown): void {
    this.ensureTurn(kind !== "error" && kind !== "retry");
    this.put({
      type: "marker",
      ...this.recordPart(),
      kind,
      title,
      ...(text !== undefined && text.trim() !== "" && { text }),
      ...(data !== undefined && { data }),
    });
  }

  /** Emits an error. The turn has failed unless the agent continues. */
  error(message: string, data?: unknown): void {
    this.endStep();
    this.ensureTurn(false);
    this.put({
      type: "error",
      part_id: this.recordPart().part_id,
      message: message.trim() === "" ? "An error without a message" : message,
      ...(data !== undefined && { data }),
    });
    if (this.state.turn !== undefined) this.state.turn.open = true;
    this.endTurn("failed");
  }

  /** Emits an interrupt by a person, which ends the turn. */
  interrupt(reason: string): void {
    const { step } = this.state;
    // A model call that was cut off has no end. One whose tools were stopped has already ended.
    if (step !== undefined && !step.over && step.calls === 0) {
      Object.assign(step, { over: true, cut: true });
      remember(this.state.ended_before, step.name ?? step.key);
    } else this.endStep({ stop_reason: "tool_use" });
    this.ensureTurn(false);
    const repeats = this.state.turn?.interrupted === true;
    const frame = { type: "interrupt", part_id: this.recordPart().part_id, reason } as const;
    if (repeats) {
      this.fold("the interrupt before it");
      this.emit(frame);
    } else this.put(frame);
    if (this.state.turn !== undefined)
      Object.assign(this.state.turn, { open: false, status: "interrupted", interrupted: true });
  }

  unknown(raw: unknown, title: string): void {
    this.ensureTurn(true);
    this.unknowns += 1;
    this.emit({ type: "unknown", part_id: this.recordPart().part_id, raw, title: title.slice(0, 160) });
  }

  /** Marks the record as one that changed or repeated another record's parts. */
  fold(into: string): void {
    this.folded ??= into;
  }

  /** Retracts everything that the record created, because its agent deleted it. */
  retract(reason: string): void {
    const { message_id } = this.recordPart(false);
    const step = uuidFrom(this.state.session_id, `message:${this.recordKey()}`);
    for (const id of [message_id, step]) this.emit({ type: "message.retract", message_id: id, reason });
  }

  /** Retracts what the record with this key created: the turn that it opened, its step, or its other parts. */
  retractRecord(key: string, made: "turn" | "step" | "parts", reason: string): void {
    const { session_id } = this.state;
    switch (made) {
      case "turn":
        this.retractTurn(uuidFrom(session_id, `turn:${key}`), reason);
        return;
      case "step":
        this.emit({ type: "message.retract", message_id: uuidFrom(session_id, `message:${key}`), reason });
        return;
      case "parts": {
        const message_id = uuidFrom(session_id, `record:${key}`);
        this.emit({ type: "message.retract", message_id, reason });
        // Errors and interrupts belong to no message.
        this.emit({ type: "message.retract", message_id, part_id: partId(message_id, 0), reason });
        return;
      }
      default:
        made satisfies never;
    }
  }

  /** Retracts a turn by its id (`turn_id`). */
  retractTurn(turn_id: string, reason: string): void {
    this.emit({ type: "turn.retract", turn_id, reason });
  }

  /** Whether a turn is open and has more than the parts that may precede a prompt. */
  get hasRunningTurn(): boolean {
    const { turn } = this.state;
    return turn?.open === true && !turn.preamble;
  }

  /**
   * Whether all calls of the last step have results and the model has not continued. A prompt that follows was typed in the
   * meantime.
   */
  get awaitsModel(): boolean {
    const { step, turn } = this.state;
    return turn?.open === true && step?.over === true && step.calls > 0 && !this.waits();
  }

  /** Whether the turn or its last call was stopped, with no activity since. */
  get wasStopped(): boolean {
    const { turn } = this.state;
    return turn?.stopped === true || turn?.status === "interrupted";
  }

  /** The id of the last turn. */
  get turn_id(): string | undefined {
    return this.state.turn?.id;
  }

  /** Emits a frame that creates a part. */
  private put(body: FrameBody): void {
    this.shown += 1;
    if (this.state.turn !== undefined) this.state.turn.interrupted = false;
    this.emit(body);
  }

  endTurn(status: TurnStatus): void {
    this.endStep();
    const { turn } = this.state;
    if (turn === undefined || !turn.open || this.revises) return;
    turn.open = false;
    turn.failed = status === "failed";
    turn.status = status;
    this.emit({ type: "turn.end", status });
  }

  /** Ends the open parts when no record follows. `stopped`: a person is known to have stopped the agent. */
  close(stopped = false): void {
    this.endAsItWent(stopped ? "interrupted" : "failed");
  }

  /** Ends the turn before a new one. A turn that neither answered nor failed was interrupted. */
  private endBefore(): void {
    this.endAsItWent("interrupted");
    this.forgetTurn();
  }

  /** `otherwise`: the status of a turn without an answer, a failure or an interrupt. */
  private endAsItWent(otherwise: TurnStatus): void {
    const { turn } = this.state;
    if (turn === undefined || !turn.open) return;
    this.endStep();
    if (!turn.open) return;
    const done = turn.preamble || (this.gaveBack() && !this.waits());
    const status = done ? "completed" : turn.stopped === true ? "interrupted" : otherwise;
    this.endTurn(turn.failed ? "failed" : status);
  }

  /** Removes calls of an ended turn, except waiting ones, because later records do not refer to them. */
  private forgetTurn(): void {
    this.state.calls = this.state.calls.filter(({ answered }) => !answered);
    this.forgetCalls();
  }

  private forgetCalls(): void {
    const { calls } = this.state;
    while (calls.length > MAX_CALLS) {
      const answered = calls.findIndex((call) => call.answered);
      calls.splice(Math.max(answered, 0), 1);
    }
  }

  private openTurn(preamble = false): void {
    if (this.revises) return;
    const id = uuidFrom(this.state.session_id, `turn:${this.recordKey()}`);
    this.state.turn = { id, open: true, preamble, failed: false };
    delete this.state.step;
    this.state.ended_before = [...this.state.ended_before, ...this.state.ended].slice(-MAX_ENDED);
    this.state.ended = [];
    this.emit({ type: "turn.start", turn_id: id });
  }

  /** `preamble`: the following content may precede a prompt. */
  private ensureTurn(preamble: boolean): void {
    const { turn } = this.state;
    if (turn === undefined) this.openTurn(preamble);
    else if (!preamble) turn.preamble = false;
  }

  private ensureStep(): NonNullable<ConversationState["step"]> {
    if (!this.hasOpenStep) this.step(this.recordKey());
    const { step } = this.state;
    if (step === undefined) throw new Error("A step was begun, and there is none");
    return step;
  }

  private recordKey(): string {
    return this.record?.key ?? "end";
  }

  /** The id of the next part that the record creates. `counts` false: the id is not reserved. */
  private recordPart(counts = true): { message_id: string; part_id: string } {
    this.message_id ??= uuidFrom(this.state.session_id, `record:${this.recordKey()}`);
    const part_id = partId(this.message_id, this.parts);
    if (counts) this.parts += 1;
    return { message_id: this.message_id, part_id };
  }

  /** Whether the model ended its turn: its last step called no tool and did not end in a thought. */
  private gaveBack(): boolean {
    const { step } = this.state;
    return step !== undefined && step.calls === 0 && step.last === "text";
  }

  /** Whether any call has no result yet. */
  waits(): boolean {
    return this.state.calls.some(({ answered }) => !answered);
  }

  /** Turns the body itself into the frame: copying objects of many shapes was the slowest step here. */
  private emit(body: FrameBody): void {
    const { session_id, at } = this.state;
    // Every member of `FrameBody` becomes a member of `Frame` with these fields.
    const frame = body as Frame;
    frame.session_id = session_id;
    frame.at = at;
    const source = this.record?.place;
    if (source !== undefined && frame.source === undefined && ("part_id" in body || "message_id" in body))
      frame.source = source;
    this.frames.push(frame);
  }
}
