import type { Frame } from "../../model/frames/frame.ts";
import { isUuid } from "../../model/is-uuid.ts";
import type { StopReason, Usage } from "../../model/messages/message.ts";
import { isPreamble } from "../../model/transcript/fold/fold.ts";
import type { LineSource, MarkerKind, TurnStatus } from "../../model/transcript/transcript.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { errorWords } from "../error-words.ts";
import type { UserContent } from "./user-message.ts";

/** A record's position and time. */
export interface Moment {
  source: LineSource;
  at: number;
}

/** The open model call. */
interface Step {
  message_id: string;
  parts: number;
  /** It has calls that the agent runs. */
  calls: boolean;
  /** Its last part is text. A model does not end its turn with a thought or a summary of earlier content. */
  said: boolean;
  /** An output followed its items, so the next item belongs to another step. */
  answered: boolean;
}

interface OpenTurn {
  id: string;
  /** Codex's own id, if a `task_started` or `turn_context` gave one. */
  codex_id?: string;
  /** Opened by `task_started`: later prompts belong to it and open no other turn. */
  explicit: boolean;
  prompts: number;
  /** All of its prompts are commands that the person ran. It ends with the last of them. */
  commandsOnly: boolean;
  steps: number;
  /** The model said or did something other than summarizing earlier content. */
  spoke: boolean;
  /** It had an error that Codex did not recover from. */
  failed: boolean;
  texts: number;
  /** The base of its step ids. In a joined turn the first step that is read is not the first step of the turn. */
  base: string;
}

/** Writes the frames of turns, steps and parts in call order. It tracks what is open and does not depend on Codex's records. */
export class TurnWriter {
  readonly session_id: string;
  turn: OpenTurn | undefined;
  model: string | undefined;
  /** Codex's approval policy: `never`, `on-request`. */
  approval_policy: string | undefined;
  /** Ids of turns with a person's prompt that were not rolled back, oldest first. */
  readonly userTurns: string[] = [];
  /** Whether an output ends its step. True for files without a token record after each answer of the model. */
  endsByOutputs = true;
  /** Called before each text, thought, image and call of the model. */
  onModelItem: (() => void) | undefined;
  /** Called before each part, so that a note can be written before it. */
  beforePart: (() => void) | undefined;
  private frames: Frame[] = [];
  private step: Step | undefined;
  private lastStep:
    | { message_id: string; counted: boolean; reason: StopReason; gaveBack: boolean }
    | undefined;
  private moment: Moment = { source: { file: "", line: 0, byte: 0, length: 0 }, at: 0 };
  /** Time of the turn's last activity. Content before the next prompt may be days later. */
  private actedAt = 0;
  private readonly turnIds = new Set<string>();
  /** Codex's ids of turns that started in the part of the file that is read. */
  private readonly begun = new Set<string>();

  constructor(session_id: string) {
    this.session_id = session_id;
  }

  /** Sets the source record of the following frames. */
  begin(moment: Moment): void {
    this.moment = moment;
  }

  take(): Frame[] {
    const { frames } = this;
    this.frames = [];
    return frames;
  }

  /** Called before a result is pushed. `isNew`: it creates a part here, so a later prompt does not start this turn. */
  beforeResult(isNew: boolean): void {
    this.part();
    this.ensureTurn();
    if (isNew && this.turn !== undefined) this.turn.spoke = true;
  }

  get now(): Moment {
    return this.moment;
  }

  /** The fields of every frame. `source` is included only if the frame creates or ends a part. */
  private get common() {
    return { session_id: this.session_id, at: this.moment.at };
  }
  private get placed() {
    return { session_id: this.session_id, at: this.moment.at, source: this.moment.source };
  }

  push(frame: Frame): void {
    this.frames.push(frame);
    if ("source" in frame && !isPreamble(frame)) this.actedAt = this.moment.at;
  }

  private part(): void {
    const before = this.beforePart;
    if (before !== undefined) {
      this.beforePart = undefined;
      before();
    }
  }

  // --- Turns ---

  /**
   * `codex_id`: from a `task_started`; without it the turn is opened by an action of the person or the agent. `joined`: it
   * started above the part of the file that is read.
   */
  openTurn(codex_id?: string, joined = false): void {
    const open = this.turn;
    if (open !== undefined) {
      if (codex_id !== undefined && open.codex_id === codex_id) return;
      // Opened by records before its own start.
      if (!open.explicit && open.steps === 0 && codex_id !== undefined) {
        open.explicit = true;
        open.codex_id = codex_id;
        this.begun.add(codex_id);
        return;
      }
      const now = this.moment;
      this.moment = { ...now, at: this.actedAt };
      this.closeStep();
      this.closeTurn(this.likelyEnd(open), true);
      this.moment = now;
    }
    let id =
      codex_id === undefined
        ? uuidFrom(this.session_id, `turn:${this.moment.source.byte}`)
        : isUuid(codex_id)
          ? codex_id
          : uuidFrom(this.session_id, `turn:${codex_id}`);
    if (this.turnIds.has(id)) id = uuidFrom(id, String(this.moment.source.byte));
    this.turnIds.add(id);
    if (codex_id !== undefined && !joined) this.begun.add(codex_id);
    this.turn = {
      id,
      ...(codex_id === undefined ? {} : { codex_id }),
      explicit: codex_id !== undefined,
      prompts: 0,
      commandsOnly: true,
      steps: 0,
      spoke: false,
      failed: false,
      texts: 0,
      base: joined ? this.recordId("joined") : id,
    };
    this.actedAt = this.moment.at;
    this.push({ ...this.common, type: "turn.start", turn_id: id });
  }

  /** Reading starts inside this turn. */
  joinTurn(codex_id: string): void {
    if (this.turnIds.size === 0) this.openTurn(codex_id, true);
    else if (this.turn !== undefined) this.turn.explicit = true;
  }

  /** Whether this turn is known to have started above the part of the file that is read, and is not the open one. */
  isAbove(codex_id: string): boolean {
    const { turn } = this;
    if (this.begun.has(codex_id) || turn?.codex_id === codex_id) return false;
    return turn === undefined || turn.codex_id !== undefined;
  }

  get turnsOpened(): number {
    return this.turnIds.size;
  }

  /** Content before the first turn opens it. Content between two turns belongs to the earlier one. */
  private ensureTurn(): void {
    if (this.turn === undefined && this.turnIds.size === 0) this.openTurn();
  }

  /** `inferred`: no record says that the turn has ended, nor how. */
  closeTurn(status: TurnStatus, inferred = false): void {
    const { turn } = this;
    this.closeStep(undefined, status);
    if (turn === undefined) return;
    this.push({
      ...this.common,
      type: "turn.end",
      turn_id: turn.id,
      status,
      ...(inferred ? { inferred } : {}),
    });
    this.turn = undefined;
  }

  /** The likely status of a turn without a recorded end. */
  private likelyEnd(turn: OpenTurn): TurnStatus {
    const { step, lastStep } = this;
    if (turn.failed) return "failed";
    if (turn.prompts > 0 && turn.commandsOnly && !turn.spoke) return "completed";
    const gaveBack = step === undefined ? lastStep?.gaveBack : givesBack(step);
    if (turn.steps > 0 && gaveBack === true) return "completed";
    // Files that record the start of turns also record a person's stop. This turn ended because its agent ended.
    return turn.explicit ? "failed" : "interrupted";
  }

  /**
   * Emits the end of the open turn, inferred from the file, without changing the state. If the turn continues, later records
   * produce the same frames as without it.
   */
  provisionalEnd(): void {
    const { turn } = this;
    if (turn === undefined) return;
    // A turn without a later prompt was not interrupted by one.
    const likely = this.likelyEnd(turn);
    const status = likely === "interrupted" ? "failed" : likely;
    this.push({ ...this.common, type: "turn.end", turn_id: turn.id, status, inferred: true });
  }

  interrupt(reason: string | undefined): void {
    this.part();
    this.closeStep(undefined, "interrupted");
    this.push({
      ...this.placed,
      type: "interrupt",
      part_id: this.recordId("interrupt"),
      ...(reason === undefined ? {} : { reason }),
    });
    const { turn } = this;
    if (turn === undefined) return;
    this.push({ ...this.common, type: "turn.end", turn_id: turn.id, status: "interrupted" });
    this.turn = undefined;
  }

  rollBack(count: number): void {
    for (const turn_id of this.userTurns.splice(Math.max(0, this.userTurns.length - count))) {
      this.push({ ...this.common, type: "turn.retract", turn_id, reason: "Rolled back" });
    }
  }

  // --- Steps ---

  /** Called before an item of the model. Opens a step if none is open, or if outputs ended the last one. */
  modelItem(): Step {
    if (this.step?.answered && this.endsByOutputs) this.closeStep();
    if (this.step !== undefined) return this.step;
    this.part();
    if (this.turn === undefined) this.openTurn();
    const turn = this.turn;
    const number = turn === undefined ? 1 : turn.steps + 1;
    if (turn !== undefined) turn.steps = number;
    const message_id = uuidFrom(turn?.base ?? this.session_id, `step:${number}`);
    this.step = { message_id, parts: 0, calls: false, said: false, answered: false };
    this.push({
      ...this.placed,
      type: "message.start",
      message_id,
      ...(turn === undefined ? {} : { turn_id: turn.id }),
      ...(this.model === undefined ? {} : { model: this.model }),
    });
    return this.step;
  }

  private spoken(): Step {
    this.onModelItem?.();
    const step = this.modelItem();
    const { turn } = this;
    if (turn !== undefined) {
      turn.spoke = true;
      // If the agent continues, it has recovered from its error.
      turn.failed = false;
    }
    return step;
  }

  /** Called when a call of the open step got an output. */
  answered(): void {
    if (this.step !== undefined) this.step.answered = true;
  }

  closeStep(usage?: Usage, status?: TurnStatus): void {
    const { step } = this;
    if (step === undefined) return;
    this.step = undefined;
    // A model call that was cut off is ended by the interrupt itself.
    if (status === "interrupted" && !step.answered && usage === undefined) return;
    const reason: StopReason = status === "failed" ? "error" : step.calls ? "tool_use" : "stop";
    this.push({
      ...this.placed,
      type: "message.end",
      message_id: step.message_id,
      stop_reason: reason,
      ...(usage === undefined ? {} : { usage }),
    });
    const counted = usage !== undefined;
    this.lastStep = { message_id: step.message_id, counted, reason, gaveBack: givesBack(step) };
  }

  /** Adds token counts to a step that may have ended before they were written. `false`: no step lacks them. */
  countUsage(usage: Usage): boolean {
    if (this.step !== undefined) {
      this.closeStep(usage);
      return true;
    }
    const last = this.lastStep;
    if (last === undefined || last.counted) return false;
    last.counted = true;
    this.push({
      ...this.placed,
      type: "message.end",
      message_id: last.message_id,
      stop_reason: last.reason,
      usage,
    });
    return true;
  }

  // --- Parts of a step ---

  /** Writes a complete text or thought. Returns its id. */
  words(
    kind: "text" | "thinking",
    text: string,
    more: { phase?: string; hidden?: "encrypted" | "empty" } = {},
  ): string {
    const step = this.spoken();
    this.part();
    const part_id = partId(step.message_id, step.parts);
    step.parts += 1;
    step.said = kind === "text";
    if (kind === "text" && this.turn !== undefined) this.turn.texts += 1;
    this.push({
      ...this.placed,
      type: "message.part_start",
      part_id,
      kind,
      message_id: step.message_id,
      ...(more.phase === undefined ? {} : { phase: more.phase }),
    });
    this.push({
      ...this.placed,
      type: "message.part_end",
      part_id,
      text,
      ...(more.hidden === undefined ? {} : { hidden: more.hidden }),
    });
    return part_id;
  }

  /** Replaces the complete value of a text or thought. */
  revise(part_id: string, text: string): void {
    this.push({ ...this.placed, type: "message.part_end", part_id, text });
  }

  image(media: { url?: string; file_path?: string; mime_type?: string }): void {
    const step = this.spoken();
    this.part();
    const part_id = partId(step.message_id, step.parts);
    step.parts += 1;
    step.said = true;
    this.push({ ...this.placed, type: "message.image", part_id, message_id: step.message_id, ...media });
  }

  call(
    tool_call_id: string,
    tool_name: string,
    arguments_json: string,
    byProvider: boolean,
  ): { part_id: string; message_id: string } {
    const step = this.spoken();
    this.part();
    const part_id = partId(step.message_id, step.parts);
    step.parts += 1;
    step.said = false;
    if (!byProvider) step.calls = true;
    const { message_id } = step;
    this.push({
      ...this.placed,
      type: "message.tool_call",
      tool_call_id,
      tool_name,
      arguments_json,
      part_id,
      message_id,
    });
    return { part_id, message_id };
  }

  // --- Other parts ---

  prompt(content: UserContent, origin: "agent" | "command" | undefined, hasTasks: boolean): void {
    this.part();
    const open = this.turn;
    // If turn starts are not recorded, a prompt starts a turn, unless the turn was just opened for it.
    const queued = open !== undefined && (open.prompts > 0 || open.spoke);
    if (open === undefined || (queued && !open.explicit && !hasTasks)) this.openTurn();
    const { turn } = this;
    const message_id = this.recordId("prompt");
    this.push({
      ...this.placed,
      type: "user.message",
      message_id,
      part_id: partId(message_id, 0),
      parts: content.parts,
      ...(turn !== undefined && (turn.prompts > 0 || turn.spoke) ? { queued: true } : {}),
      ...(origin === undefined ? {} : { origin }),
    });
    if (turn === undefined) return;
    // Codex does not count a command as a turn: roll-backs skip it.
    if (turn.commandsOnly && origin !== "command") {
      turn.commandsOnly = false;
      this.userTurns.push(turn.id);
    }
    turn.prompts += 1;
  }

  marker(kind: MarkerKind, title: string, text?: string, data?: unknown): void {
    this.part();
    this.ensureTurn();
    this.push({
      ...this.placed,
      type: "marker",
      part_id: this.recordId("marker"),
      kind,
      title,
      ...(text === undefined || text === "" ? {} : { text }),
      ...(data === undefined ? {} : { data }),
    });
  }

  /** Writes a marker for an earlier record whose text was not known then. */
  markerOf(moment: Moment, kind: MarkerKind, title: string, data: unknown): void {
    this.ensureTurn();
    this.push({
      session_id: this.session_id,
      at: moment.at,
      source: moment.source,
      type: "marker",
      part_id: partId(uuidFrom(this.session_id, `marker:${moment.source.byte}`), 0),
      kind,
      title,
      data,
    });
  }

  error(text: string, can_retry: boolean, data?: unknown): void {
    const { message, answer } = errorWords(text);
    const more = data ?? answer;
    this.part();
    this.ensureTurn();
    if (this.turn !== undefined) this.turn.failed = true;
    this.push({
      ...this.placed,
      type: "error",
      part_id: this.recordId("error"),
      message,
      can_retry,
      ...(more === undefined ? {} : { data: more }),
    });
  }

  unknown(raw: unknown, title: string | undefined, error?: string): void {
    this.part();
    this.ensureTurn();
    this.push({
      ...this.placed,
      type: "unknown",
      part_id: this.recordId("unknown"),
      raw,
      ...(title === undefined ? {} : { title }),
      ...(error === undefined ? {} : { error }),
    });
  }

  /** An id for a separate part, derived from its record's position. */
  recordId(what: string): string {
    return uuidFrom(this.session_id, `${what}:${this.moment.source.byte}`);
  }
}

const givesBack = ({ said, calls }: Step): boolean => said && !calls;
