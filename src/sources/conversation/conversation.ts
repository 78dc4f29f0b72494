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

/** A call that was emitted, as later records refer to it. */
interface EmittedCall {
  /** The agent's id of it; several calls may share one. */
  name: string;
  /** The id that frames carry. */
  id: string;
  tool_name: string;
  /** The end of its part's id: if its own record is read again, it is the same call. */
  part: string;
  answered: boolean;
  /** What its result's payload is made from. */
  payload?: UiExtra;
}

/** What `Conversation` remembers between records: plain data, bounded, however long the session. */
export interface ConversationState {
  session_id: string;
  /** Time of the last record that had one, in milliseconds. */
  at: number;
  turn?: {
    id: string;
    /** The agent works on it, according to the records. */
    open: boolean;
    /** It has only parts that may precede a prompt. */
    preamble: boolean;
    failed: boolean;
    /** A person stopped its last call, and the agent did nothing since. */
    stopped?: boolean;
    /** How it ended, where it did. */
    status?: TurnStatus;
    /** Its last part is an interrupt: another one adds no part. */
    interrupted?: boolean;
  };
  /** The last step: open, or ended (`over`). `again`: it had ended before, and only its usage is emitted again. */
  step?: {
    key: string;
    again?: boolean;
    message_id: string;
    over: boolean;
    /** An interrupt cut it off: it has no end. */
    cut?: boolean;
    calls: number;
    last?: "text" | "thinking" | "other";
  };
  /** Keys of the last steps of this turn that ended. */
  ended: string[];
  /** Keys of the last steps of earlier turns, and of those that an interrupt cut off: a step of such a key is another one. */
  ended_before: string[];
  /** The last results, by the id that frames carry: where each stands, of which a later one takes the place. */
  results: { id: string; source?: SessionRecord["place"] }[];
  /** Newest last. Calls of earlier turns that were answered are forgotten. */
  calls: EmittedCall[];
  /** The last value of each session field that `session.update` emitted, as JSON. */
  emitted: Record<string, string>;
  model?: string;
}

/** More calls than this of one turn are not remembered; the oldest answered ones go first. */
const MAX_CALLS = 256;
/** Steps and results that are remembered, to know one that comes again. */
const MAX_ENDED = 64;
/** A payload larger than this, as JSON, is not kept until the result. In UTF-16 code units. */
const LARGEST_PAYLOAD = 4_000;
/** Stands for the index of a part that a record may or may not make, depending on what came before it. */
const MODEL_SWITCH = 0x2000_0000;

export interface ConversationOptions {
  /** When the record was written, in milliseconds; absent: at the time of the record before it. */
  at?: number | undefined;
  /** The record was read before and has changed since: it revises its parts, and no turn begins or ends with it. */
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
  /** Absent: the agent gave it none. Its result can only be paired where nothing else waits (see `toolResult`). */
  id?: string;
  tool_name: string;
  arguments_json: string;
  /** What the call's arguments say about the payload of its result. */
  payload?: UiExtra | undefined;
  /** The provider runs it inside the step: the model goes on without waiting for the agent. */
  by_server?: boolean;
}

export interface ToolResult {
  id?: string;
  tool_name?: string;
  status: ToolStatus;
  output_text: string;
  parts?: MediaPart[];
  /** Why it neither succeeded nor failed, of status `aborted`. */
  outcome?: CallOutcome | undefined;
  /** Who allowed the call. */
  permission?: Permission | undefined;
  /** Makes the result's payload from that of the call. */
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

/**
 * Writes one session's frames for an agent whose records are messages: opens and ends turns and steps, names parts by their
 * record (so that a record read again revises what it made), pairs results with calls by id, and says what became of each
 * record. Every method may be called in any state.
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
    // What a revised record says of turns and steps was said before: it must not count for the records that follow.
    this.state = revises ? structuredClone(state) : state;
    this.record = record;
    this.revises = revises;
    if (at !== undefined) this.state.at = at;
  }

  /** What became of the record, with its frames. `otherwise`: where it made no part. */
  result(otherwise: Disposition = { kind: "folded", into: "the session" }): RecordResult {
    const { frames } = this;
    if (this.shown > 0) return { disposition: { kind: "shown" }, frames };
    if (this.unknowns > 0) return { disposition: { kind: "unknown" }, frames };
    if (this.folded !== undefined) return { disposition: { kind: "folded", into: this.folded }, frames };
    return { disposition: otherwise, frames };
  }

  /** Adds the frames of another conversation, or of another record of this one, and what it says of them. */
  join(other: Conversation): void {
    this.frames.push(...other.frames);
    this.shown += other.shown;
    this.unknowns += other.unknowns;
  }

  /** No fact about the session was emitted yet. */
  get isNew(): boolean {
    return Object.keys(this.state.emitted).length === 0;
  }

  /** The frames so far, for what follows from the end of the session. */
  take(): Frame[] {
    return this.frames;
  }

  /** Emits facts about the session that are new or have changed. */
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

  /** Opens the turn of a prompt that follows, behind what the agent put before it. `anew`: also where no prompt came to the last one. */
  beginTurn({ anew = false }: { anew?: boolean } = {}): void {
    if (this.state.turn?.preamble === true && !anew) return;
    this.endBefore();
    this.openTurn(true);
  }

  /** What opens a turn; `queued`: it goes into the turn that runs. `origin`: who wrote it, where that was no person. */
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
    if (this.state.turn !== undefined) Object.assign(this.state.turn, { open: true, preamble: false });
  }

  /** What was put before the model by the agent itself: shown folded. */
  context(title: string, parts: Part[]): void {
    this.ensureTurn(true);
    this.put({ type: "developer.message", ...this.recordPart(), parts, title });
  }

  /** Begins a step (one model call), or goes on with the one of this key. */
  step(key: string, { model, response_id }: StepOptions = {}): void {
    const { state } = this;
    if (state.step?.key === key && !state.step.over) return;
    this.endStep();
    this.ensureTurn(false);
    if (model !== undefined) this.nameModel(model);
    const isOther = !this.revises && state.ended_before.includes(key);
    const message_id = uuidFrom(state.session_id, `message:${isOther ? `${this.recordKey()}:` : ""}${key}`);
    const again = this.revises || (!isOther && state.ended.includes(key));
    state.step = { key, message_id, over: false, calls: 0, ...(again && { again }) };
    if (state.turn !== undefined) Object.assign(state.turn, { open: true, failed: false, stopped: false });
    if (again) return;
    this.emit({
      type: "message.start",
      message_id,
      ...(model !== undefined && { model }),
      ...(response_id !== undefined && { response_id }),
    });
  }

  /** Names the model of the open step after its first parts. */
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

  /** Media that the model made. */
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
   * A call of the open step. If another call of the turn has the same id, this one gets an id of its own. Returns the id that
   * frames carry.
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
    const known = calls.find((call) => call.part === part);
    if (known !== undefined) return known.id;
    const isTaken = name === "" || calls.some((call) => call.name === name);
    const id = isTaken ? `${name}@${part}` : name;
    const isKept = payload !== undefined && JSON.stringify(payload).length <= LARGEST_PAYLOAD;
    calls.push({ name, id, tool_name, part, answered: false, ...(isKept && { payload }) });
    this.forgetCalls();
    return id;
  }

  /** Whether a call of this id waits for its result. */
  awaits(id: string): boolean {
    return this.state.calls.some((call) => call.name === id && !call.answered);
  }

  /**
   * The result of the oldest call of that id that waits, else of the newest one. A result whose id no call has belongs to
   * the only call that waits without an id; where there is none, or several, it stands alone.
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
    const send = before === undefined ? this.put : this.emit;
    if (before === undefined) this.rememberResult(tool_call_id);
    else this.fold("the result before it");
    send.call(this, {
      type: "message.tool_result",
      ...(before?.source !== undefined && { source: before.source }),
      tool_call_id,
      ...(tool_name !== undefined && { tool_name }),
      is_error: result.status === "error",
      status: result.status,
      output_text: result.output_text,
      parts: result.parts ?? [],
      ...(payload !== undefined && { ui_extra: payload }),
      ...(result.outcome !== undefined && { outcome: result.outcome }),
      ...(result.permission !== undefined && { permission: result.permission }),
      ...this.recordPart(),
    });
  }

  private rememberResult(id: string): void {
    const source = this.record?.place;
    const result = { id, ...(source !== undefined && { source }) };
    this.state.results = [...this.state.results, result].slice(-MAX_ENDED);
  }

  private callOf(id: string | undefined): EmittedCall | undefined {
    const { calls } = this.state;
    const named = calls.filter((call) => id !== undefined && call.name === id);
    const found = named.find((call) => !call.answered) ?? named.at(-1);
    if (found !== undefined) return found;
    const nameless = calls.filter((call) => call.name === "" && !call.answered);
    return nameless.length === 1 ? nameless[0] : undefined;
  }

  /** Ends the open step. An answer without a call gives the turn back. */
  endStep(ending: StepEnding = {}): void {
    const { step, turn } = this.state;
    if (step === undefined || step.over) return;
    step.over = true;
    const stop_reason = ending.stop_reason ?? (step.calls > 0 ? "tool_use" : undefined);
    if (step.again !== true || ending.usage !== undefined)
      this.emit({
        type: "message.end",
        message_id: step.message_id,
        ...ending,
        ...(stop_reason !== undefined && { stop_reason }),
      });
    if (step.again !== true) this.state.ended = [...this.state.ended, step.key].slice(-MAX_ENDED);
    if (turn === undefined) return;
    if (stop_reason === "error") turn.failed = true;
    if (stop_reason === "aborted") turn.open = false;
    else if (this.gaveBack() && stop_reason !== "length") this.endTurn(turn.failed ? "failed" : "completed");
  }

  /** Usage of a step that has ended, recorded later. */
  amendStep(ending: StepEnding): void {
    const { step } = this.state;
    if (step === undefined || ending.usage === undefined) return;
    if (step.cut === true) this.aside({ usage: ending.usage });
    else if (!step.over) this.endStep(ending);
    else this.emit({ type: "message.end", message_id: step.message_id, ...ending });
    this.fold("the end of its step");
  }

  /** A model call beside the steps of the conversation, which took tokens and said nothing in it. */
  aside({ model, usage }: { model?: string; usage: Usage }): void {
    this.endStep();
    const isOpen = this.state.turn?.open === true;
    this.ensureTurn(true);
    const message_id = uuidFrom(this.state.session_id, `message:${this.recordKey()}`);
    this.emit({ type: "message.start", message_id, ...(model !== undefined && { model }) });
    this.emit({ type: "message.end", message_id, usage });
    // A model call shows that its turn runs: what had ended ends again as it had.
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

  /** What made the turn fail, unless the agent goes on. */
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

  /** A person stopped the agent: the turn is over. */
  interrupt(reason: string): void {
    const { step } = this.state;
    // A model call that was cut off has no end; one whose tools were stopped had ended before.
    if (step !== undefined && !step.over && step.calls === 0) {
      Object.assign(step, { over: true, cut: true });
      this.state.ended_before = [...this.state.ended_before, step.key].slice(-MAX_ENDED);
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

  /** Says that the record changed or repeated what another one made. */
  fold(into: string): void {
    this.folded ??= into;
  }

  /** Withdraws all that the record made: its agent removed it. */
  retract(reason: string): void {
    const { message_id } = this.recordPart(false);
    const step = uuidFrom(this.state.session_id, `message:${this.recordKey()}`);
    for (const id of [message_id, step]) this.emit({ type: "message.retract", message_id: id, reason });
  }

  /** Retracts what the record of this key made: the turn that it opened, its step, or its other parts. */
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
        // An error and an interrupt belong to no message.
        this.emit({ type: "message.retract", message_id, part_id: partId(message_id, 0), reason });
        return;
      }
      default:
        made satisfies never;
    }
  }

  /** Withdraws a turn by its id (`turn_id`). */
  retractTurn(turn_id: string, reason: string): void {
    this.emit({ type: "turn.retract", turn_id, reason });
  }

  /** A turn is open and has more than the parts that may precede a prompt. */
  get hasRunningTurn(): boolean {
    const { turn } = this.state;
    return turn?.open === true && !turn.preamble;
  }

  /** All calls of the last step have answered, and the model has not gone on: a prompt that comes now was typed meanwhile. */
  get awaitsModel(): boolean {
    const { step, turn } = this.state;
    return turn?.open === true && step?.over === true && step.calls > 0 && !this.waits();
  }

  /** The turn, or its last call, was stopped, and nothing was done since. */
  get wasStopped(): boolean {
    const { turn } = this.state;
    return turn?.stopped === true || turn?.status === "interrupted";
  }

  /** The id of the last turn. */
  get turn_id(): string | undefined {
    return this.state.turn?.id;
  }

  /** Writes a frame that makes a part. */
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

  /** Ends what is open where no record follows. `stopped`: a person is known to have stopped the agent. */
  close(stopped = false): void {
    this.endAsItWent(stopped ? "interrupted" : "failed");
  }

  /** Ends the turn before a new one as it went: one that neither answered nor failed was interrupted. */
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

  /** Calls of a turn that is over are not referred to any more, but for those that wait. */
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

  /** `preamble`: what comes may stand before a prompt. */
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

  /** The id of the next part that the record makes; `counts` false: that id is not used. */
  private recordPart(counts = true): { message_id: string; part_id: string } {
    this.message_id ??= uuidFrom(this.state.session_id, `record:${this.recordKey()}`);
    const part_id = partId(this.message_id, this.parts);
    if (counts) this.parts += 1;
    return { message_id: this.message_id, part_id };
  }

  /** The model gave its turn back: its last step called no tool, and did not end in a thought. */
  private gaveBack(): boolean {
    const { step } = this.state;
    return step !== undefined && step.calls === 0 && step.last === "text";
  }

  /** A call has no result yet. */
  waits(): boolean {
    return this.state.calls.some(({ answered }) => !answered);
  }

  private emit(body: FrameBody): void {
    const source = this.record?.place;
    const isPlaced = "part_id" in body || "message_id" in body;
    // The members that `FrameBody` takes apart are all members of `Frame` with these fields.
    this.frames.push({
      ...(isPlaced && source !== undefined && { source }),
      ...body,
      session_id: this.state.session_id,
      at: this.state.at,
    } as Frame);
  }
}
