import type { Frame } from "../../model/frames/frame.ts";
import { isUuid } from "../../model/is-uuid.ts";
import type { StopReason, Usage } from "../../model/messages/message.ts";
import { isPreamble } from "../../model/transcript/fold/fold.ts";
import type { LineSource, MarkerKind, TurnStatus } from "../../model/transcript/transcript.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { errorWords } from "../error-words.ts";
import type { UserContent } from "./user-message.ts";

/** A record's place in the file and its time. */
export interface Moment {
  source: LineSource;
  at: number;
}

/** The model call that is open. */
interface Step {
  message_id: string;
  parts: number;
  /** It has calls that the agent runs. */
  calls: boolean;
  /** Its last part is what the model says: nobody gives a turn back with a thought, or with a summary of what came before. */
  said: boolean;
  /** An output came after its items: the next item belongs to another step. */
  answered: boolean;
}

interface OpenTurn {
  id: string;
  /** Codex's own id, where a `task_started` or a `turn_context` gave one. */
  codex_id?: string;
  /** Opened by `task_started`: later prompts are typed into it, they do not open another. */
  explicit: boolean;
  prompts: number;
  /** All of its prompts are commands that the person ran: with the last of them it is done. */
  commandsOnly: boolean;
  steps: number;
  /** The model said or did something: more than to sum up what came before. */
  spoke: boolean;
  /** It met an error that Codex gave up on. */
  failed: boolean;
  texts: number;
  /** What ids of its steps are made from: where it was joined, its first step is not the one that has the first one's id. */
  base: string;
}

/**
 * Writes the frames of turns, steps and parts, in the order in which they are asked for. It knows the borders (what is
 * open), not Codex's records.
 */
export class TurnWriter {
  readonly session_id: string;
  turn: OpenTurn | undefined;
  model: string | undefined;
  /** Whether Codex may ask, in its own word: `never`, `on-request`. */
  approval_policy: string | undefined;
  /** Ids of the turns that hold a person's prompt and were not rolled back, oldest first. */
  readonly userTurns: string[] = [];
  /** An output ends the step before it: so in files that have no record of tokens after each answer of the model. */
  endsByOutputs = true;
  /** Called before each text, thought, image and call of the model. */
  onModelItem: (() => void) | undefined;
  /** Called before each part, so that a note which belongs before it can be written. */
  beforePart: (() => void) | undefined;
  private frames: Frame[] = [];
  private step: Step | undefined;
  private lastStep:
    | { message_id: string; counted: boolean; reason: StopReason; gaveBack: boolean }
    | undefined;
  private moment: Moment = { source: { file: "", line: 0, byte: 0, length: 0 }, at: 0 };
  /** When the turn last did something: what is put before the next prompt may be of another day. */
  private actedAt = 0;
  private readonly turnIds = new Set<string>();
  /** Codex's ids of the turns that began in what is read. */
  private readonly begun = new Set<string>();

  constructor(session_id: string) {
    this.session_id = session_id;
  }

  /** What is written from here on comes from this record. */
  begin(moment: Moment): void {
    this.moment = moment;
  }

  take(): Frame[] {
    const { frames } = this;
    this.frames = [];
    return frames;
  }

  /** Before a result is pushed. `isNew`: it makes a part here, behind which no prompt begins the turn. */
  beforeResult(isNew: boolean): void {
    this.part();
    this.ensureTurn();
    if (isNew && this.turn !== undefined) this.turn.spoke = true;
  }

  get now(): Moment {
    return this.moment;
  }

  /** The fields that every frame has; `source` only where the frame makes or ends a part. */
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
   * `codex_id`: from a `task_started`; without it the turn is opened by what a person or the agent does. `joined`: it began
   * above what is read.
   */
  openTurn(codex_id?: string, joined = false): void {
    const open = this.turn;
    if (open !== undefined) {
      if (codex_id !== undefined && open.codex_id === codex_id) return;
      // Opened by what stood before its own beginning.
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

  /** What is read begins inside this turn. */
  joinTurn(codex_id: string): void {
    if (this.turnIds.size === 0) this.openTurn(codex_id, true);
    else if (this.turn !== undefined) this.turn.explicit = true;
  }

  /** Whether this turn began above what is read and is not the open one, as far as that can be told. */
  isAbove(codex_id: string): boolean {
    const { turn } = this;
    if (this.begun.has(codex_id) || turn?.codex_id === codex_id) return false;
    return turn === undefined || turn.codex_id !== undefined;
  }

  get turnsOpened(): number {
    return this.turnIds.size;
  }

  /** What comes before the first turn opens it; what comes between two turns belongs to the one that ended. */
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

  /** How a turn ended that nothing says the end of. */
  private likelyEnd(turn: OpenTurn): TurnStatus {
    const { step, lastStep } = this;
    if (turn.failed) return "failed";
    if (turn.prompts > 0 && turn.commandsOnly && !turn.spoke) return "completed";
    const gaveBack = step === undefined ? lastStep?.gaveBack : givesBack(step);
    if (turn.steps > 0 && gaveBack === true) return "completed";
    // Where turns have their beginning on record, a person's stop is on record, too: this one ended with its agent.
    return turn.explicit ? "failed" : "interrupted";
  }

  /**
   * Says how the open turn ended, as far as the file tells, and takes no note of it: it may grow all the same, and then
   * makes what it would have made.
   */
  provisionalEnd(): void {
    const { turn } = this;
    if (turn === undefined) return;
    // What no prompt came after was not stopped for one.
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

  /** Before an item of the model: opens a step where none is open, or where outputs ended the last. */
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
      // An agent that goes on has got over its error.
      turn.failed = false;
    }
    return step;
  }

  /** An output of a call of the open step came. */
  answered(): void {
    if (this.step !== undefined) this.step.answered = true;
  }

  closeStep(usage?: Usage, status?: TurnStatus): void {
    const { step } = this;
    if (step === undefined) return;
    this.step = undefined;
    // The interrupt itself ends a call that was cut off.
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

  /** The figures of a step that may have ended before they were written. `false`: there is no step that lacks them. */
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

  /** A text or a thought, whole. Returns its id. */
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

  /** Gives a text or a thought its whole value anew. */
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
    // With no turn's beginning on record, a prompt is one, unless the turn has only just been opened for it.
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
    // Codex counts no turn for a command: a roll-back of so many turns passes over it.
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

  /** A marker from an earlier record, whose text was not known then. */
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

  /** An id for a part that stands alone, from its record's place in the file. */
  recordId(what: string): string {
    return uuidFrom(this.session_id, `${what}:${this.moment.source.byte}`);
  }
}

const givesBack = ({ said, calls }: Step): boolean => said && !calls;
