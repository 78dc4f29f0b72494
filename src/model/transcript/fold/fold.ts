import type { FrameOf } from "../../frames/frame.ts";
import type { CallOutcome } from "../../parts/outcome.ts";
import { partId } from "../../uuid.ts";
import { type Positions, place, placeGrowth, turnOfPart } from "../positions.ts";
import type { Sequence } from "../sequence.ts";
import { abort } from "../tool-state.ts";
import type { MarkerKind, Source, TranscriptPart, Truncated, Turn, TurnStatus } from "../transcript.ts";
import type { Open, Transcript } from "../transcript-state.ts";

// One step of `accumulate`: its state, and what every frame does with it, which is to open and close turns and to put parts
// in their places.

/** A version in the making. */
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
  /** The part that the frame opened or changed, and the length that its text had before. */
  touched: number | undefined;
  offset: number | undefined;
}

export function lastTurn(fold: Fold): Turn | undefined {
  return fold.turns.at(fold.turns.length - 1);
}

/** Changes nothing where there is no turn of this index. */
export function changeTurn(fold: Fold, index: number, change: (turn: Turn) => Turn): void {
  const turn = fold.turns.at(index);
  if (turn !== undefined) fold.turns = fold.turns.set(index, change(turn));
}

/** Ends the turn that is open, and begins one with the next part; `at` in milliseconds. The model stays the same. */
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

/** Ends the turn, with what its last thing says where `status` is not given. */
export function closeTurn(fold: Fold, at: number, status?: TurnStatus, inferred = false): void {
  closeParts(fold, at);
  const ending = status ?? fold.open.outcome ?? "completed";
  abortCalls(fold, at, ending === "interrupted" && !inferred);
  changeTurn(fold, fold.turns.length - 1, (turn) => ({
    ...turn,
    status: ending,
    ...(at > 0 && { ended_at: at }),
  }));
  fold.open = { ...withoutMessage(fold.open), turn_open: false, ended_parts: fold.parts.length };
}

/** What a part says besides, whose writer changes it at `at`: that it was, where its turn had ended before. */
export function revised(fold: Fold, position: number, at: number): { revised_at?: number } {
  return position < (fold.open.ended_parts ?? 0) ? { revised_at: at } : {};
}

/**
 * The turn that the next part belongs to. Before any prompt one opens without a title. After a turn ended, whatever still
 * comes without a new prompt belongs to it, and what the agent does (`active`) shows that it runs again.
 */
export function ensureTurn(fold: Fold, at: number, active: boolean): Turn {
  const turn = lastTurn(fold);
  if (turn === undefined) {
    const id = partId(fold.base.session_id, fold.parts.length);
    openTurn(fold, id, at);
    return ensureTurn(fold, at, active);
  }
  if (active && (!fold.open.turn_open || turn.status !== "running")) {
    const { ended_at: _, ...rest } = turn;
    fold.turns = fold.turns.set(turn.index, { ...rest, status: "running" });
    const { outcome: __, ...open } = fold.open;
    fold.open = { ...open, turn_open: true };
  }
  return turn;
}

/** Begins a turn. If the last turn begins again, it continues; an earlier turn stays as it is. */
export function startTurn(fold: Fold, frame: FrameOf<"turn.start">): void {
  const known = fold.positions.turns.get(frame.turn_id);
  if (known === undefined) openTurn(fold, frame.turn_id, frame.at);
  else if (known === fold.turns.length - 1) ensureTurn(fold, frame.at, true);
}

/** Ends the named turn, else the last one. A later status replaces that of a turn that is over. */
export function endTurn(fold: Fold, frame: FrameOf<"turn.end">): void {
  const last = fold.turns.length - 1;
  if (last < 0) return;
  const named = frame.turn_id === undefined ? last : (fold.positions.turns.get(frame.turn_id) ?? last);
  if (named === last && fold.open.turn_open) closeTurn(fold, frame.at, frame.status, frame.inferred);
  else if (frame.status !== undefined) {
    const { status } = frame;
    changeTurn(fold, named, (turn) => ({ ...turn, status, ...(frame.at > 0 && { ended_at: frame.at }) }));
    if (named === last && status === "running") ensureTurn(fold, frame.at, true);
  }
}

/** Marks the turn as withdrawn; its parts stay as they are. */
export function retractTurn(fold: Fold, frame: FrameOf<"turn.retract">): void {
  const index = fold.positions.turns.get(frame.turn_id);
  if (index !== undefined) changeTurn(fold, index, (turn) => ({ ...turn, retracted: frame.reason }));
}

/**
 * What a frame says of the part that it makes: when (milliseconds), in which step, from which record, what of it was
 * cut.
 */
export interface Origin {
  readonly at: number;
  readonly step?: number;
  readonly source?: Source;
  readonly truncated?: Truncated;
}

/** Ids that a transcript makes for parts whose frame names none: from -1 downwards, so that no writer's own index meets them. */
export function ownId(message_id: string, position: number): string {
  return partId(message_id, -1 - position);
}

/** These stand for an index in `partId`, for parts that a message has beside its own: it never has so many. */
export const STEP_START = 0x4000_0000;
export const STEP_FINISH = 0x4000_0001;
export const INTERRUPT = 0x4000_0002;
export const ERROR = 0x4000_0003;

/** The fields that every part has. Its step is that of its message, else of its frame, else the open one. */
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
 * The position of what a frame means: `known` by its ids, unless parts are missing here. Then ids may mislead (the newest
 * of equal ones may be what is missing), and the place that the daemon named holds.
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

/** `locate`, by a part's id. */
export function find(fold: Fold, id: string | undefined, frame: { part_index?: number }): number | undefined {
  return locate(fold, frame, id === undefined ? undefined : fold.positions.parts.get(id));
}

/**
 * Puts a part at the end and counts it in the last turn; a part that a bare delta had opened ends. Gives its position.
 */
export function append(fold: Fold, part: TranscriptPart): number {
  closeBarePart(fold, part.at);
  const position = fold.parts.length;
  fold.parts = fold.parts.append(part);
  place(fold.positions, part, position);
  fold.touched = position;
  changeTurn(fold, fold.turns.length - 1, (turn) => ({
    // What its source first gave no time for began with what has one.
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
    // An agent that goes on has got over its error; the result of a call that an interrupt stopped is no going on.
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

/** Puts a part in the place of another and counts its turn's errors anew; nothing where that place is a hole. */
export function replace(fold: Fold, position: number, part: TranscriptPart): void {
  const before = fold.parts.at(position);
  if (before === undefined || before === part) return;
  fold.parts = fold.parts.set(position, part);
  // A delta changes no id: every other position is as it was.
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
 * Says that only a snapshot helps. `expected` and `got` are lengths in UTF-16 code units; both are 0 where no text is
 * missing.
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

/** Ends what grows: all of it, or one message's. */
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

/** Ends the calls that no result has reached; one that still comes takes the place of this end. */
function abortCalls(fold: Fold, at: number, stopped: boolean): void {
  const reason = "The turn ended while this ran";
  const outcome: CallOutcome = { kind: stopped ? "stopped" : "unknown" };
  for (const position of [...fold.positions.running]) {
    const part = fold.parts.at(position);
    if (part?.type !== "tool_call" || part.state.status !== "running") continue;
    // It outlives its turn.
    if (part.state.metadata?.background === true) continue;
    replace(fold, position, { ...part, state: abort(part.state, at, reason, outcome) });
  }
}

/** Ends, if there is one, the part that a delta opened without a start. */
export function closeBarePart(fold: Fold, at: number | undefined): void {
  if (fold.open.bare_part === undefined) return;
  closePart(fold, fold.open.bare_part, at);
  fold.open = withoutBarePart(fold.open);
}

export function withoutBarePart({ bare_part: _, ...open }: Open): Open {
  return open;
}

/** Markers that an agent puts before the prompt that they belong to. */
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
 * Whether a part may stand in a turn before its prompt: such a marker, the borders of a step that said nothing (a compaction's
 * summary is one), and what no reader knows.
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
