import type { FrameBodyOf } from "../../model/frames/frame-writer.ts";
import type { StopReason } from "../../model/messages/message.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { hasItem } from "../recent-items.ts";
import {
  type ConversationState,
  rememberStep,
  type StepEnding,
  type StepOptions,
} from "./conversation-state.ts";
import { forgetAnswered } from "./emitted-calls.ts";
import { RecordFrames } from "./record-frames.ts";

/** Index of a part that a record creates depending on earlier records. */
const MODEL_SWITCH = 0x2000_0000;

// Optional fields of frames are assigned one by one: spreading objects of many shapes was the slowest step of reading.

/** Opens and ends the turns and steps of a conversation. */
export class TurnsAndSteps extends RecordFrames {
  /** Starts a step (one model call), or continues the one with this key. */
  step(key: string, { model, response_id }: StepOptions = {}): void {
    const { state } = this;
    if (state.step?.key === key && !state.step.over) return;
    this.endStep();
    this.ensureTurn(false);
    if (model !== undefined) this.nameModel(model);
    const isOther = !this.revises && hasItem(state.ended_before, key);
    const name = isOther ? `${this.recordKey()}:${key}` : key;
    const message_id = uuidFrom(state.session_id, "message:", name);
    const isKnown =
      this.hasEnded(state.ended, name) ||
      ((isOther || this.revises) && this.hasEnded(state.ended_before, name)) ||
      (this.revises && state.step?.key === key);
    const again = this.revises || isKnown;
    const step: NonNullable<ConversationState["step"]> = { key, message_id, over: false, calls: 0 };
    if (isOther) step.name = name;
    if (again) step.again = again;
    if (again && !isKnown) step.unstarted = true;
    state.step = step;
    if (state.turn !== undefined) {
      state.turn.open = true;
      state.turn.failed = false;
      state.turn.stopped = false;
    }
    if (again) return;
    const body: FrameBodyOf<"message.start"> = { type: "message.start", message_id };
    if (model !== undefined) body.model = model;
    if (response_id !== undefined) body.response_id = response_id;
    if (this.inherited) body.inherited = true;
    this.emit(body);
  }

  private hasEnded(keys: readonly string[], name: string): boolean {
    // Searching 64 keys takes longer than hashing one, but a revision has lists of its own, which have no index.
    return this.revises ? keys.includes(name) : hasItem(keys, name);
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
    const title = titleFields(sourceTitle("model_changed", { before, now }));
    this.emit({ type: "marker", message_id, part_id, kind: "model_switch", ...title });
  }

  /** Whether the last turn has a step. */
  get hasStep(): boolean {
    return this.state.step !== undefined;
  }

  get hasOpenStep(): boolean {
    return this.state.step !== undefined && !this.state.step.over;
  }

  /** Ends the open step. An answer without calls ends the turn. */
  endStep(ending: StepEnding = {}): void {
    const { step, turn } = this.state;
    if (step === undefined || step.over) return;
    // A revision does not end the step that the latest records left open, but its call has ended if its usage is known.
    if (this.revises && step.again !== true) {
      if (ending.usage !== undefined) this.emitEnd(step.message_id, ending, ending.stop_reason);
      return;
    }
    step.over = true;
    const stop_reason = ending.stop_reason ?? (step.calls > 0 ? "tool_use" : undefined);
    if (step.again !== true || (ending.usage !== undefined && step.unstarted !== true))
      this.emitEnd(step.message_id, ending, stop_reason);
    if (step.again !== true) rememberStep(this.state.ended, step.name ?? step.key);
    if (turn === undefined) return;
    if (stop_reason === "error") turn.failed = true;
    if (stop_reason === "aborted") turn.open = false;
    else if (this.hasYielded() && stop_reason !== "length")
      this.endTurn(turn.failed ? "failed" : "completed");
  }

  protected emitEnd(
    message_id: string,
    { usage, stop_reason_raw }: StepEnding,
    stop_reason?: StopReason,
  ): void {
    const body: FrameBodyOf<"message.end"> = { type: "message.end", message_id };
    if (usage !== undefined) body.usage = usage;
    if (stop_reason !== undefined) body.stop_reason = stop_reason;
    if (stop_reason_raw !== undefined) body.stop_reason_raw = stop_reason_raw;
    this.emit(body);
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

  /** `inferred`: no record says that the turn has ended, nor how. */
  endTurn(status: TurnStatus, inferred = false): void {
    this.endStep();
    const { turn } = this.state;
    if (turn === undefined || !turn.open || this.revises) return;
    turn.open = false;
    turn.failed = status === "failed";
    turn.status = status;
    this.emit({ type: "turn.end", status, ...(inferred && { inferred }) });
  }

  /** Ends the last turn with this status, also if it has ended with another one. */
  endTurnAs(status: TurnStatus): void {
    const { turn } = this.state;
    if (turn === undefined || turn.status === status) return;
    turn.open = true;
    this.endTurn(status);
  }

  /** Whether the last turn has failed. */
  get hasFailed(): boolean {
    return this.state.turn?.status === "failed" || this.state.turn?.failed === true;
  }

  /** Ends the open parts when no record follows. `stopped`: a person is known to have stopped the agent. */
  close(stopped = false): void {
    this.endWithStatus(stopped ? "interrupted" : "failed");
  }

  /** Ends the turn before a new one. A turn that neither answered nor failed was interrupted. */
  protected endBefore(): void {
    this.endWithStatus("interrupted");
    this.forgetTurn();
  }

  /** `otherwise`: the status of a turn without an answer, a failure or an interrupt. */
  private endWithStatus(otherwise: TurnStatus): void {
    const { turn } = this.state;
    if (turn === undefined || !turn.open) return;
    this.endStep();
    if (!turn.open) return;
    const done = turn.preamble || (this.hasYielded() && !this.waits());
    const status = done ? "completed" : turn.stopped === true ? "interrupted" : otherwise;
    this.endTurn(turn.failed ? "failed" : status, !turn.failed && status === "failed");
  }

  /** Removes calls of an ended turn, except waiting ones, because later records do not refer to them. */
  private forgetTurn(): void {
    forgetAnswered(this.ownCalls);
  }

  protected openTurn(preamble = false): void {
    if (this.revises) return;
    const id = uuidFrom(this.state.session_id, "turn:", this.recordKey());
    this.state.turn = { id, open: true, preamble, failed: false };
    // Not deleted, because after that each access to the state would take several times as long.
    this.state.step = undefined;
    for (const key of this.state.ended) rememberStep(this.state.ended_before, key);
    this.state.ended = [];
    this.emit({ type: "turn.start", turn_id: id });
  }

  /** `preamble`: the following content may precede a prompt. */
  protected ensureTurn(preamble: boolean): void {
    const { turn } = this.state;
    if (turn === undefined) this.openTurn(preamble);
    else if (!preamble) turn.preamble = false;
  }

  protected ensureStep(): NonNullable<ConversationState["step"]> {
    if (!this.hasOpenStep) this.step(this.recordKey());
    const { step } = this.state;
    if (step === undefined) throw new Error("No step is open");
    return step;
  }

  /** Whether the model ended its turn: its last step called no tool and did not end in a thought. */
  private hasYielded(): boolean {
    const { step } = this.state;
    return step !== undefined && step.calls === 0 && step.last === "text";
  }

  /** Whether any call has no result yet. */
  waits(): boolean {
    return this.state.calls.some(({ answered }) => !answered);
  }
}
