import type { Frame } from "../../model/frames/frame.ts";
import { isUuid } from "../../model/is-uuid.ts";
import type { StopReason, Usage } from "../../model/messages/message.ts";
import { isPreamble } from "../../model/transcript/fold/fold.ts";
import type { LineSource, TurnStatus } from "../../model/transcript/transcript.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { keepNewest } from "./bounds.ts";

/** A record's position and time. */
export interface Moment {
  source: LineSource;
  at: number;
}

/** The kept form of a `Moment` in the file that is read. */
export interface Position {
  line: number;
  byte: number;
  length: number;
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
  /** The id that follows from Codex's own, if a `task_started` or `turn_context` gave one. */
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

interface EndedStep {
  message_id: string;
  counted: boolean;
  reason: StopReason;
  gaveBack: boolean;
}

/** What `Turns` keep between two records. Plain JSON. */
export interface TurnState {
  session_id: string;
  turn?: OpenTurn | undefined;
  step?: Step | undefined;
  lastStep?: EndedStep;
  model?: string;
  /** Codex's approval policy: `never`, `on-request`. */
  approval_policy?: string;
  /** Ids of turns with a person's prompt that were not rolled back, oldest first. */
  userTurns: string[];
  /** Whether an output ends its step. True for files without a token record after each answer of the model. */
  endsByOutputs: boolean;
  /** The file has events, so turns have explicit boundaries. */
  hasTasks: boolean;
  /** The current record, or the last one. */
  moment: Moment;
  /** Time of the turn's last activity. Content before the next prompt may be days later. */
  lastActivityAt: number;
  /** Number of turns that were opened. */
  opened: number;
  /** Ids of the newest turns. */
  turnIds: string[];
  /** Those derived from Codex's ids of turns that started in the part of the file that is read. */
  begun: string[];
}

/** Maximum number of turns whose ids are kept. */
export const MAX_TURNS = 96;

export function initialTurns(session_id: string, path: string): TurnState {
  return {
    session_id,
    userTurns: [],
    endsByOutputs: true,
    hasTasks: false,
    moment: { source: { file: path, line: 0, byte: 0, length: 0 }, at: 0 },
    lastActivityAt: 0,
    opened: 0,
    turnIds: [],
    begun: [],
  };
}

/** Writes the frames of turns and steps in call order. It tracks what is open and does not depend on Codex's records. */
export class Turns {
  readonly session_id: string;
  /** Called before each text, thought, image and call of the model. */
  onModelItem: (() => void) | undefined;
  /** Called before each part, so that a note can be written before it. */
  beforePart: (() => void) | undefined;
  readonly state: TurnState;
  /** Bytes of an earlier record from which values are read now. */
  earlyBytes = 0;
  private recordText = "";
  private frames: Frame[] = [];

  constructor(state: TurnState) {
    this.state = state;
    this.session_id = state.session_id;
  }

  get turn(): OpenTurn | undefined {
    return this.state.turn;
  }

  /** Sets the source record of the following frames. `text`: its JSON. */
  begin(moment: Moment, text: string): void {
    this.state.moment = moment;
    this.recordText = text;
    this.earlyBytes = 0;
  }

  /** Upper bound of the bytes of JSON of the values in the record that is read, apart from member names. */
  get recordBytes(): number {
    // A byte that is not valid UTF-8 becomes three bytes when decoded.
    const size = this.recordText.includes("\ufffd") ? 3 : 1;
    return this.state.moment.source.length * size + this.earlyBytes;
  }

  get position(): Position {
    const { source, at } = this.state.moment;
    const { line, byte, length } = source;
    return { line, byte, length, at };
  }

  momentOf({ at, ...place }: Position): Moment {
    return { source: { file: this.state.moment.source.file, ...place }, at };
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
    return this.state.moment;
  }

  /** The fields of every frame. `source` is included only if the frame creates or ends a part. */
  protected get common() {
    return { session_id: this.session_id, at: this.state.moment.at };
  }
  protected get placed() {
    return { session_id: this.session_id, at: this.state.moment.at, source: this.state.moment.source };
  }

  push(frame: Frame): void {
    this.frames.push(frame);
    if ("source" in frame && !isPreamble(frame)) this.state.lastActivityAt = this.state.moment.at;
  }

  protected part(): void {
    const before = this.beforePart;
    if (before !== undefined) {
      this.beforePart = undefined;
      before();
    }
  }

  // --- Turns ---

  /**
   * `codex_id`: from a `task_started`; without it the turn is opened by an action of the person or the agent. `joined`: it
   * started before the part of the file that is read.
   */
  openTurn(codex_id?: string, joined = false): void {
    const { state } = this;
    const open = state.turn;
    const own = codex_id === undefined ? undefined : this.turnIdOf(codex_id);
    if (open !== undefined) {
      if (own !== undefined && open.codex_id === own) return;
      // Opened by records before its own start.
      if (!open.explicit && open.steps === 0 && own !== undefined) {
        open.explicit = true;
        open.codex_id = own;
        keepNewest(state.begun, own, MAX_TURNS);
        return;
      }
      const now = state.moment;
      state.moment = { ...now, at: state.lastActivityAt };
      this.closeStep();
      this.closeTurn(this.expectedEnd(open), true);
      state.moment = now;
    }
    let id = own ?? uuidFrom(this.session_id, `turn:${state.moment.source.byte}`);
    if (state.turnIds.includes(id)) id = uuidFrom(id, String(state.moment.source.byte));
    state.opened += 1;
    keepNewest(state.turnIds, id, MAX_TURNS);
    if (own !== undefined && !joined) keepNewest(state.begun, own, MAX_TURNS);
    state.turn = {
      id,
      ...(own === undefined ? {} : { codex_id: own }),
      explicit: own !== undefined,
      prompts: 0,
      commandsOnly: true,
      steps: 0,
      spoke: false,
      failed: false,
      texts: 0,
      base: joined ? this.recordId("joined") : id,
    };
    state.lastActivityAt = state.moment.at;
    this.push({ ...this.common, type: "turn.start", turn_id: id });
  }

  private turnIdOf(codex_id: string): string {
    return isUuid(codex_id) ? codex_id : uuidFrom(this.session_id, `turn:${codex_id}`);
  }

  /** A record of the open turn names it. */
  nameTurn(codex_id: string): void {
    const { turn } = this;
    if (turn !== undefined && !turn.explicit) turn.codex_id = this.turnIdOf(codex_id);
  }

  /** Reading starts inside this turn. */
  joinTurn(codex_id: string): void {
    if (this.state.opened === 0) this.openTurn(codex_id, true);
    else if (this.turn !== undefined) this.turn.explicit = true;
  }

  /** Whether this turn is known to have started before the part of the file that is read, and is not the open one. */
  isAbove(codex_id: string): boolean {
    const { turn } = this;
    const id = this.turnIdOf(codex_id);
    if (this.state.begun.includes(id) || turn?.codex_id === id) return false;
    return turn === undefined || turn.codex_id !== undefined;
  }

  get turnsOpened(): number {
    return this.state.opened;
  }

  /** Content before the first turn opens it. Content between two turns belongs to the earlier one. */
  protected ensureTurn(): void {
    if (this.turn === undefined && this.state.opened === 0) this.openTurn();
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
    this.state.turn = undefined;
  }

  /** The likely status of a turn without a recorded end. */
  private expectedEnd(turn: OpenTurn): TurnStatus {
    const { step, lastStep } = this.state;
    if (turn.failed) return "failed";
    if (turn.prompts > 0 && turn.commandsOnly && !turn.spoke) return "completed";
    const hasYielded = step === undefined ? lastStep?.gaveBack : yieldsTurn(step);
    if (turn.steps > 0 && hasYielded === true) return "completed";
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
    const expected = this.expectedEnd(turn);
    const status = expected === "interrupted" ? "failed" : expected;
    this.push({
      ...this.common,
      type: "turn.end",
      turn_id: turn.id,
      status,
      ...(!turn.failed && { inferred: true }),
    });
  }

  /** An id for a separate part, derived from its record's position. */
  recordId(what: string): string {
    return uuidFrom(this.session_id, `${what}:${this.state.moment.source.byte}`);
  }

  // --- Steps ---

  /** Called before an item of the model. Opens a step if none is open, or if outputs ended the last one. */
  modelItem(): Step {
    if (this.state.step?.answered && this.state.endsByOutputs) this.closeStep();
    if (this.state.step !== undefined) return this.state.step;
    this.part();
    if (this.turn === undefined) this.openTurn();
    const turn = this.turn;
    const number = turn === undefined ? 1 : turn.steps + 1;
    if (turn !== undefined) turn.steps = number;
    const message_id = uuidFrom(turn?.base ?? this.session_id, `step:${number}`);
    this.state.step = { message_id, parts: 0, calls: false, said: false, answered: false };
    this.push({
      ...this.placed,
      type: "message.start",
      message_id,
      ...(turn === undefined ? {} : { turn_id: turn.id }),
      ...(this.state.model === undefined ? {} : { model: this.state.model }),
    });
    return this.state.step;
  }

  protected modelOutput(): Step {
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
    if (this.state.step !== undefined) this.state.step.answered = true;
  }

  closeStep(usage?: Usage, status?: TurnStatus): void {
    const { step } = this.state;
    if (step === undefined) return;
    this.state.step = undefined;
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
    this.state.lastStep = { message_id: step.message_id, counted, reason, gaveBack: yieldsTurn(step) };
  }

  /** Adds token counts to a step that may have ended before they were written. `false`: no step lacks them. */
  countUsage(usage: Usage): boolean {
    if (this.state.step !== undefined) {
      this.closeStep(usage);
      return true;
    }
    const last = this.state.lastStep;
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
}

const yieldsTurn = ({ said, calls }: Step): boolean => said && !calls;
