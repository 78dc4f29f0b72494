import type { FrameOf } from "../../frames/frame.ts";
import type { CallOutcome } from "../../parts/outcome.ts";
import type { TextFields } from "../../text/display-text.ts";
import { foldTitle } from "../../text/fold-titles.ts";
import { partId } from "../../uuid.ts";
import { type Positions, place, placeGrowth, turnOfPart } from "../positions.ts";
import type { Sequence } from "../sequence.ts";
import { abort } from "../tool-state.ts";
import type { MarkerKind, Source, TranscriptPart, Truncated, Turn, TurnStatus } from "../transcript.ts";
import type { Open, Transcript } from "../transcript-state.ts";

// The state of one step of `accumulate`, and the operations that all frames share: opening and closing turns, and placing parts.

/** The next version of a transcript, while a frame is folded. */
export interface Fold {
  readonly base: Transcript;
  readonly positions: Positions;
  turns: Sequence<Turn>;
  parts: Sequence<TranscriptPart>;
  open: Open;
  usage: Transcript["usage"];
  todos: Transcript["todos"];
  context: Transcript["context"];
  gap: Transcript["gap"];
  /** The part that the frame opened or changed, and the previous length of its text. */
  touched: number | undefined;
  offset: number | undefined;
}

export function lastTurn(fold: Fold): Turn | undefined {
  return fold.turns.at(fold.turns.length - 1);
}

/** Changes a turn. Does nothing if there is no turn with this index. */
export function changeTurn(fold: Fold, index: number, change: (turn: Turn) => Turn): void {
  const turn = fold.turns.at(index);
  if (turn !== undefined) fold.turns = fold.turns.set(index, change(turn));
}

/** Ends the open turn, and begins one with the next part. `at`: milliseconds. The model stays the same. */
export function openTurn(fold: Fold, id: string, at: number, title?: string): void {
  if (fold.open.turn_open) closeTurn(fold, at);
  const index = fold.turns.length;
  fold.turns = fold.turns.append({
    id,
    session_id: fold.base.session_id,
    index,
    first_part: fold.parts.length,
    part_count: 0,
    status: "running",
    ...(title === undefined ? {} : { title }),
    ...(at > 0 && { started_at: at }),
    steps: 0,
    tool_calls: 0,
    errors: 0,
  });
  fold.positions.turns.set(id, index);
  const { model, ended_parts } = fold.open;
  fold.open = {
    turn_open: true,
    awaits_prompt: true,
    step: 0,
    ...(model === undefined ? {} : { model }),
    ...(ended_parts === undefined ? {} : { ended_parts }),
  };
}

/** Ends the turn. Without `status`, its last part determines the status. */
export function closeTurn(fold: Fold, at: number, status?: TurnStatus, inferred = false): void {
  closeParts(fold, at);
  const ending = status ?? fold.open.outcome ?? "completed";
  abortCalls(fold, at, ending === "interrupted" && !inferred);
  const no_end = inferred && ending === "failed" && fold.open.outcome !== "failed";
  changeTurn(fold, fold.turns.length - 1, (turn) => endedTurn(turn, ending, at, no_end));
  fold.open = { ...withoutMessage(fold.open), turn_open: false, ended_parts: fold.parts.length };
}

/** A turn with its end. `no_end`: see `Turn`. */
export function endedTurn(
  { no_end: _, ...turn }: Turn,
  status: TurnStatus,
  at: number,
  no_end = false,
): Turn {
  return { ...turn, status, ...(no_end && { no_end }), ...(at > 0 && { ended_at: at }) };
}

/** `revised_at` for a part that is changed at `at` after its turn had ended. */
export function revised(fold: Fold, position: number, at: number): { revised_at?: number } {
  return position < (fold.open.ended_parts ?? 0) ? { revised_at: at } : {};
}

/**
 * The turn of the next part. Before the first prompt, opens one without a title. After a turn ended, parts without a new prompt
 * belong to it, and activity of the agent (`active`) sets it to running again.
 */
export function ensureTurn(fold: Fold, at: number, active: boolean): Turn {
  const turn = lastTurn(fold);
  if (turn === undefined) {
    const id = partId(fold.base.session_id, fold.parts.length);
    openTurn(fold, id, at);
    return ensureTurn(fold, at, active);
  }
  if (active && (!fold.open.turn_open || turn.status !== "running")) {
    const { ended_at: _, no_end: __, ...rest } = turn;
    fold.turns = fold.turns.set(turn.index, { ...rest, status: "running" });
    const { outcome: ___, ...open } = fold.open;
    fold.open = { ...open, turn_open: true };
  }
  return turn;
}

/** Begins a turn. Repeating the last turn's start continues it; an earlier turn is not changed. */
export function startTurn(fold: Fold, frame: FrameOf<"turn.start">): void {
  const known = fold.positions.turns.get(frame.turn_id);
  if (known === undefined) openTurn(fold, frame.turn_id, frame.at);
  else if (known === fold.turns.length - 1) ensureTurn(fold, frame.at, true);
}

/** Ends the named turn, or the last one. A later status replaces that of an ended turn. */
export function endTurn(fold: Fold, frame: FrameOf<"turn.end">): void {
  const last = fold.turns.length - 1;
  if (last < 0) return;
  const named = frame.turn_id === undefined ? last : (fold.positions.turns.get(frame.turn_id) ?? last);
  if (named === last && fold.open.turn_open) closeTurn(fold, frame.at, frame.status, frame.inferred);
  else if (frame.status !== undefined) {
    const { status } = frame;
    changeTurn(fold, named, (turn) => endedTurn(turn, status, frame.at));
    if (named === last && status === "running") ensureTurn(fold, frame.at, true);
  }
}

/** Marks the turn as retracted. Its parts are unchanged. */
export function retractTurn(fold: Fold, frame: FrameOf<"turn.retract">): void {
  const index = fold.positions.turns.get(frame.turn_id);
  if (index !== undefined) changeTurn(fold, index, (turn) => withReason(turn, frame));
}

type Retraction = Pick<Turn, "retracted" | "retracted_code">;

/** A turn or part as retracted for a reason. */
export function withReason<Retracted extends Retraction>(
  before: Retracted,
  { reason, reason_code }: TextFields<"reason">,
): Retracted {
  const after = { ...before, retracted: reason };
  delete after.retracted_code;
  return reason_code === undefined ? after : { ...after, retracted_code: reason_code };
}

/** The fields of a turn or part that say why it is retracted, if it is. */
export function retractionOf({ retracted, retracted_code }: Retraction): Retraction {
  return {
    ...(retracted === undefined ? {} : { retracted }),
    ...(retracted_code === undefined ? {} : { retracted_code }),
  };
}

/** Facts from a frame about its part: the time in milliseconds, the step, the record, and truncated fields. */
export interface Origin {
  readonly at: number;
  readonly step?: number;
  readonly source?: Source;
  readonly truncated?: Truncated;
}

/** The id of a part whose frame has none. Indexes run from -1 downwards, so that they do not collide with a writer's own. */
export function ownId(message_id: string, position: number): string {
  return partId(message_id, -1 - position);
}

/**
 * The id of a new part whose frame names one. If a record was rewritten as another kind of part, its id already belongs to the
 * earlier part, so the new part gets another id.
 */
export function unusedId(fold: Fold, message_id: string, named: string): string {
  const position = fold.positions.parts.get(named);
  const isUsed = position !== undefined && fold.parts.at(position)?.message_id === message_id;
  return isUsed ? ownId(message_id, fold.parts.length) : named;
}

/** Used as an index in `partId` for additional parts of a message; larger than any real index. */
export const STEP_START = 0x4000_0000;
export const STEP_FINISH = 0x4000_0001;
export const INTERRUPT = 0x4000_0002;
export const ERROR = 0x4000_0003;

/** The fields of all parts. The step is that of the message, the frame, or the open one, in this order. */
export function commonOf(fold: Fold, origin: Origin, id: string, message_id: string) {
  const step = fold.positions.messages.get(message_id)?.step ?? origin.step ?? fold.open.step;
  return {
    id,
    session_id: fold.base.session_id,
    message_id,
    ...(origin.at > 0 && { at: origin.at }),
    ...(origin.source === undefined ? {} : { source: origin.source }),
    ...(step > 0 ? { step } : {}),
    ...(origin.truncated === undefined ? {} : { truncated: origin.truncated }),
  };
}

/**
 * The position of a frame's target: `known` by its id, unless parts are unloaded. Then ids may be ambiguous (the newest of equal
 * ones may be unloaded), and the position from the daemon is used.
 */
export function locate(
  fold: Fold,
  frame: { part_index?: number },
  known: number | undefined,
): number | undefined {
  const { part_index } = frame;
  if (fold.base.unloaded === undefined || part_index === undefined) return known;
  return part_index < fold.parts.length ? part_index : undefined;
}

/** `locate` by a part's id. */
export function find(fold: Fold, id: string | undefined, frame: { part_index?: number }): number | undefined {
  return locate(fold, frame, id === undefined ? undefined : fold.positions.parts.get(id));
}

/** Appends a part and counts it in the last turn. Ends a part that was opened by a bare delta. Returns its position. */
export function append(fold: Fold, part: TranscriptPart): number {
  closeBarePart(fold, part.at);
  const position = fold.parts.length;
  fold.parts = fold.parts.append(part);
  place(fold.positions, part, position);
  fold.touched = position;
  changeTurn(fold, fold.turns.length - 1, (turn) => ({
    // If the turn has no start time yet, it begins at the first known time.
    ...(part.at !== undefined && { started_at: part.at }),
    ...turn,
    part_count: turn.part_count + 1,
    tool_calls: turn.tool_calls + (part.type === "tool_call" ? 1 : 0),
    errors: turn.errors + (isError(part) ? 1 : 0),
  }));
  if (fold.open.awaits_prompt === true && !isPreamble(part)) fold.open = withoutWait(fold.open);
  if (part.type === "marker") {
    if (part.kind === "error") fold.open = { ...fold.open, outcome: "failed" };
    if (part.kind === "interrupt") fold.open = { ...fold.open, outcome: "interrupted" };
  } else if (part.type !== "step_start" && part.type !== "step_finish" && fold.open.outcome !== undefined) {
    // An agent that continues has recovered from its error. The result of a call that an interrupt stopped does not count.
    if (fold.open.turn_open) fold.open = withoutOutcome(fold.open);
  }
  return position;
}

export function withoutMessage({ message_id: _, implicit: __, ...open }: Open): Open {
  return open;
}

function withoutWait({ awaits_prompt: _, ...open }: Open): Open {
  return open;
}

function withoutOutcome({ outcome: _, ...open }: Open): Open {
  return open;
}

function isError(part: TranscriptPart): boolean {
  if (part.retracted !== undefined) return false;
  return part.type === "tool_result" ? part.is_error : part.type === "marker" && part.kind === "error";
}

/** Replaces a part and recounts its turn's errors. Does nothing if the position is unloaded. */
export function replace(fold: Fold, position: number, part: TranscriptPart): void {
  const before = fold.parts.at(position);
  if (before === undefined || before === part) return;
  fold.parts = fold.parts.set(position, part);
  // A delta changes no ids: other positions stay valid.
  if (part.type === "text" || part.type === "thinking") {
    placeGrowth(fold.positions, part, position);
    return;
  }
  place(fold.positions, part, position);
  const errors = (isError(part) ? 1 : 0) - (isError(before) ? 1 : 0);
  if (errors !== 0) {
    changeTurn(fold, turnOfPart(fold.turns, position), (turn) => ({ ...turn, errors: turn.errors + errors }));
  }
}

/**
 * Marks the transcript as incomplete, so that a snapshot is needed. `expected` and `got` are lengths in UTF-16 code units; both
 * are 0 if no text is missing.
 */
export function setGap(fold: Fold, part_id: string, expected: number, got: number): void {
  fold.gap = { part_id, expected, got };
}

function closePart(fold: Fold, position: number, at: number | undefined): void {
  const part = fold.parts.at(position);
  if ((part?.type === "text" || part?.type === "thinking") && part.open === true) {
    const { open: _, ...closed } = part;
    replace(fold, position, { ...closed, ...(at !== undefined && at > 0 && { ended_at: at }) });
  }
}

/** Ends growing parts: all, or those of one message. */
export function closeParts(fold: Fold, at: number, message_id?: string): void {
  for (const position of [...fold.positions.open]) {
    if (message_id === undefined || fold.parts.at(position)?.message_id === message_id) {
      closePart(fold, position, at);
    }
  }
  const bare = fold.open.bare_part;
  if (bare !== undefined && (message_id === undefined || fold.parts.at(bare)?.message_id === message_id)) {
    fold.open = withoutBarePart(fold.open);
  }
}

/** Ends the calls without a result. A later result replaces this end. */
function abortCalls(fold: Fold, at: number, stopped: boolean): void {
  const reason = foldTitle("turn_ended");
  const outcome: CallOutcome = { kind: stopped ? "stopped" : "unknown" };
  for (const position of [...fold.positions.running]) {
    const part = fold.parts.at(position);
    if (part?.type !== "tool_call" || part.state.status !== "running") continue;
    // It continues after its turn.
    if (part.state.metadata?.background === true) continue;
    replace(fold, position, { ...part, state: abort(part.state, at, reason, outcome) });
  }
}

/** Ends the part that a delta opened without a start, if any. */
export function closeBarePart(fold: Fold, at: number | undefined): void {
  if (fold.open.bare_part === undefined) return;
  closePart(fold, fold.open.bare_part, at);
  fold.open = withoutBarePart(fold.open);
}

export function withoutBarePart({ bare_part: _, ...open }: Open): Open {
  return open;
}

/** Markers that an agent writes before the prompt that they belong to. */
const PREAMBLE: ReadonlySet<string> = new Set<MarkerKind>([
  "compaction",
  "context",
  "hook",
  "note",
  "notification",
  "rewind",
  "model_switch",
]);

/**
 * Whether a part can precede the prompt in a turn: such a marker, the start and end of a step without output (such as a
 * compaction's summary), and unknown records.
 */
export function isPreamble(part: { readonly type: string; readonly kind?: string }): boolean {
  switch (part.type) {
    case "unknown":
    case "step_start":
    case "step_finish":
      return true;
    default:
      return part.type === "marker" && PREAMBLE.has(part.kind ?? "");
  }
}
