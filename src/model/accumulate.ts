import { promptTitle, textOf, titleOf } from "./content.ts";
import type { Frame, FrameOf } from "./frame.ts";
import type { StopReason, Usage } from "./message.ts";
import { findPositions, type Positions, place, placeGrowth, type Unpaired } from "./positions.ts";
import { emptySequence, type Sequence, sequenceOf, sequenceWithHoles } from "./sequence.ts";
import {
  abort,
  complete,
  createPending,
  fail,
  isSettled,
  parseArguments,
  type RunningState,
  start,
  type ToolState,
} from "./tool-state.ts";
import type {
  MarkerKind,
  Source,
  TranscriptPart,
  TranscriptPartOf,
  Truncated,
  Turn,
  TurnStatus,
} from "./transcript.ts";
import type { TodoItem } from "./ui-extra.ts";
import { countUsage } from "./usage.ts";
import { partId } from "./uuid.ts";

/** A session as it is shown: its turns, and all their parts in one list. Immutable. */
export interface Transcript {
  readonly session_id: string;
  readonly turns: Sequence<Turn>;
  /** Every part of every turn, in the order in which it happened: the only order there is. */
  readonly parts: Sequence<TranscriptPart>;
  /** What is open now: the message being written, its turn, the step counted from 1 in that turn. */
  readonly open: Open;
  readonly usage?: Usage;
  readonly todos?: readonly TodoItem[];
  readonly context?: { readonly tokens: number; readonly limit?: number };
  /**
   * A delta whose offset left a gap, or a change to a part that is not loaded and that others depend on: what is shown
   * cannot be trusted until a snapshot comes.
   */
  readonly gap?: { readonly part_id: string; readonly expected: number; readonly got: number };
  /** How many parts are not loaded; absent: none. */
  readonly holes?: number;
  /** What the page that this transcript was restored from said about parts which may not be loaded. */
  readonly unpaired?: Unpaired;
}

export interface Open {
  readonly message_id?: string;
  /** The message was made up, for a stream that names none: it is no step. */
  readonly implicit?: boolean;
  readonly turn_open: boolean;
  /** Nothing is in the turn but what its agent injected before the prompt: a prompt that comes now belongs to it. */
  readonly awaits_prompt?: boolean;
  readonly step: number;
  readonly model?: string;
  /** The growing part that a delta opened without a `message.part_start`: whatever opens a part ends it. */
  readonly bare_part?: number;
  /** How the turn would end if it ended now, where not well: its last thing was an error or an interrupt. */
  readonly outcome?: "failed" | "interrupted";
}

/** The frames that change nothing in a transcript, and why. Every other type is handled by `accumulate`. */
export const SKIPPED = {
  "session.update": "facts about the session as a whole: folded by `summarize`",
  "task.finish": "a run's end is told by the run's own session and by the result of the call that started it",
} as const satisfies { readonly [Type in Frame["type"]]?: string };

export function emptyTranscript(session_id: string): Transcript {
  return {
    session_id,
    turns: emptySequence(),
    parts: emptySequence(),
    open: { turn_open: false, step: 0 },
  };
}

/** What a client gets of a session: see `sessionPage` in the protocol. */
export interface TranscriptPage {
  readonly session_id: string;
  readonly turns: readonly Turn[];
  readonly part_count: number;
  readonly parts: readonly PlacedPart[];
  readonly open_calls: readonly (readonly [string, number])[];
  readonly orphan_results?: readonly (readonly [string, number])[];
  readonly open: Open;
  readonly usage?: Usage;
  readonly todos?: readonly TodoItem[];
  readonly context?: { readonly tokens: number; readonly limit?: number };
}
export interface PlacedPart {
  readonly index: number;
  readonly part: TranscriptPart;
}

/** A client's transcript: every turn, as many positions as there are parts, and the parts of the page; the rest are holes. */
export function restoreTranscript(page: TranscriptPage): Transcript {
  const restored: Transcript = {
    session_id: page.session_id,
    turns: sequenceOf(page.turns),
    parts: sequenceWithHoles(page.part_count),
    open: page.open,
    holes: page.part_count,
    unpaired: { open_calls: page.open_calls, orphan_results: page.orphan_results ?? [] },
    ...(page.usage === undefined ? {} : { usage: page.usage }),
    ...(page.todos === undefined ? {} : { todos: page.todos }),
    ...(page.context === undefined ? {} : { context: page.context }),
  };
  return fillParts(restored, page.parts);
}

/** Puts fetched parts into the holes where they belong. Parts that are there already stay: frames keep them current. */
export function fillParts(transcript: Transcript, placed: readonly PlacedPart[]): Transcript {
  let parts = transcript.parts;
  let holes = transcript.holes ?? 0;
  for (const { index, part } of placed) {
    if (index >= 0 && index < parts.length && parts.at(index) === undefined) {
      parts = parts.set(index, part);
      holes -= 1;
    }
  }
  if (parts === transcript.parts) return transcript;
  const { holes: _, ...rest } = transcript;
  return { ...rest, parts, ...(holes > 0 ? { holes } : {}) };
}

/** What a page says about calls and results that wait for each other: see `TranscriptPage`. */
export function unpairedOf(transcript: Transcript): {
  open_calls: [string, number][];
  orphan_results: [string, number][];
} {
  const open_calls: [string, number][] = [];
  const orphan_results: [string, number][] = [];
  for (const [id, pair] of positionsOf(transcript).calls) {
    if (pair.call === undefined) {
      if (pair.result !== undefined) orphan_results.push([id, pair.result]);
    } else if (pair.result === undefined || pair.result >= transcript.parts.length) {
      open_calls.push([id, pair.call]);
    }
  }
  return { open_calls, orphan_results };
}

/** The position of the part with this id; of equal ids the newest. */
export function positionOf(transcript: Transcript, part_id: string): number | undefined {
  return positionsOf(transcript).parts.get(part_id);
}

/** The position of the newest call with this id. */
export function callPositionOf(transcript: Transcript, tool_call_id: string): number | undefined {
  return positionsOf(transcript).calls.get(tool_call_id)?.call;
}

/**
 * Positions are found by reading a transcript once, then handed on from each version to the next, which alone owns and
 * changes them. Who folds onto an older version pays for a second reading; the result is the same.
 */
const owned = new WeakMap<Transcript, Positions>();

function positionsOf(transcript: Transcript): Positions {
  let positions = owned.get(transcript);
  if (positions === undefined) {
    positions = findPositions(transcript.turns, transcript.parts, transcript.unpaired);
    owned.set(transcript, positions);
  }
  return positions;
}

/** The one fold: `(transcript, frame) => transcript`. Never throws, never mutates; what did not change keeps its identity. */
export function accumulate(transcript: Transcript, frame: Frame): Transcript {
  if (frame.session_id !== transcript.session_id) return transcript;
  const fold = begin(transcript);
  apply(fold, frame);
  return finish(fold);
}

/**
 * Folds, and gives the frame with what a client needs that holds only a window of the session: the position of the part
 * that it opens or changes (`part_index`), that part's id, and the offset of text that is appended.
 */
export function accumulateAndAddress(
  transcript: Transcript,
  frame: Frame,
): { transcript: Transcript; frame: Frame } {
  if (frame.session_id !== transcript.session_id) return { transcript, frame };
  const fold = begin(transcript);
  apply(fold, frame);
  const { touched } = fold;
  if (touched === undefined) return { transcript: finish(fold), frame };
  const addressed: Frame = { ...frame, part_index: touched };
  const part = fold.parts.at(touched);
  if (addressed.type === "message.start") addressed.step = fold.open.step;
  else if (touched === transcript.parts.length && part?.step !== fold.open.step && part?.step !== undefined) {
    addressed.step = part.step;
  }
  if (addressed.type === "message.delta" && part !== undefined) {
    if (addressed.part_id === undefined && fold.open.bare_part === touched) addressed.bare = true;
    addressed.part_id = part.id;
    addressed.offset ??= fold.offset ?? 0;
  } else if (addressed.type === "message.tool_result" && part !== undefined) {
    addressed.part_id = part.id;
    addressed.message_id = part.message_id;
  }
  return { transcript: finish(fold), frame: addressed };
}

/**
 * Ends what nobody ended, when the session is next opened: calls become `aborted`, growing parts end. A running turn whose
 * last word is the agent's text, with no call open, is `completed` (older agents write no end of a turn); any other is
 * `interrupted`. `at`: when the session was last alive, in milliseconds since 1970.
 */
export function settleAborted(
  transcript: Transcript,
  at: number,
  reason = "The agent ended while this ran",
): Transcript {
  const fold = begin(transcript);
  let ending: TurnStatus = endsInText(transcript) ? "completed" : "interrupted";
  const first = lastTurn(fold)?.first_part ?? 0;
  for (const [, index] of unpairedOf(transcript).open_calls) {
    const part = fold.parts.at(index);
    if (part?.type === "tool_call" && !isSettled(part.state)) {
      replace(fold, index, withoutProgress({ ...part, state: abort(part.state, at, reason) }));
      if (index >= first) ending = "interrupted";
    }
  }
  if (fold.open.turn_open) closeTurn(fold, at, fold.open.outcome ?? ending);
  closeParts(fold, at);
  return finish(fold);
}

/** Whether the agent's last word is a text: what follows it are separators and notices only. */
function endsInText({ parts }: Transcript): boolean {
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts.at(index);
    if (part?.type !== "step_finish" && part?.type !== "marker") return part?.type === "text";
  }
  return false;
}

// --- One step of the fold ---------------------------------------------------------------------------------------------

/** A version in the making. */
interface Fold {
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

function begin(base: Transcript): Fold {
  return {
    base,
    positions: positionsOf(base),
    turns: base.turns,
    parts: base.parts,
    open: base.open,
    usage: base.usage,
    todos: base.todos,
    context: base.context,
    gap: base.gap,
    touched: undefined,
    offset: undefined,
  };
}

function finish(fold: Fold): Transcript {
  const { base } = fold;
  if (
    fold.turns === base.turns &&
    fold.parts === base.parts &&
    fold.open === base.open &&
    fold.usage === base.usage &&
    fold.todos === base.todos &&
    fold.context === base.context &&
    fold.gap === base.gap
  ) {
    return base;
  }
  const next: Transcript = {
    session_id: base.session_id,
    turns: fold.turns,
    parts: fold.parts,
    open: fold.open,
    ...(fold.usage === undefined ? {} : { usage: fold.usage }),
    ...(fold.todos === undefined ? {} : { todos: fold.todos }),
    ...(fold.context === undefined ? {} : { context: fold.context }),
    ...(fold.gap === undefined ? {} : { gap: fold.gap }),
    ...(base.holes === undefined ? {} : { holes: base.holes }),
    ...(base.unpaired === undefined ? {} : { unpaired: base.unpaired }),
  };
  owned.delete(base);
  owned.set(next, fold.positions);
  return next;
}

function apply(fold: Fold, frame: Frame): void {
  switch (frame.type) {
    case "message.start":
      startMessage(fold, frame);
      return;
    case "message.part_start":
      startPart(fold, frame);
      return;
    case "message.delta":
      growPart(fold, frame);
      return;
    case "message.part_end":
      endPart(fold, frame);
      return;
    case "message.tool_call_start":
    case "message.tool_call":
      putCall(fold, frame);
      return;
    case "message.tool_progress":
      growProgress(fold, frame);
      return;
    case "message.tool_result":
      putResult(fold, frame);
      return;
    case "message.image":
    case "message.file":
      putMedia(fold, frame);
      return;
    case "message.end":
      endMessage(fold, frame);
      return;
    case "message.retract":
      retract(fold, frame);
      return;
    case "message.legacy":
      putLegacy(fold, frame);
      return;
    case "user.message":
      putPrompt(fold, frame);
      return;
    case "developer.message":
      putContext(fold, frame);
      return;
    case "marker":
      if (frame.kind === "interrupt") putInterrupt(fold, frame, frame.part_id, frame.text);
      else putMarker(fold, frame);
      return;
    case "error":
      putError(fold, frame);
      return;
    case "unknown":
      putUnknown(fold, frame);
      return;
    case "interrupt":
      putInterrupt(fold, frame, frame.part_id, frame.reason);
      return;
    case "todo.change":
      fold.todos = frame.todos;
      return;
    case "context.usage":
      fold.context = {
        tokens: frame.tokens,
        ...(frame.limit === undefined ? {} : { limit: frame.limit }),
      };
      return;
    case "turn.start":
      startTurn(fold, frame);
      return;
    case "turn.end":
      endTurn(fold, frame);
      return;
    case "turn.retract":
      retractTurn(fold, frame);
      return;
    case "task.start":
      linkRun(fold, frame);
      return;
    case "task.metadata":
      putMetadata(fold, frame);
      return;
    case "end":
      if (fold.open.turn_open) closeTurn(fold, frame.at);
      closeParts(fold, frame.at);
      return;
    case "session.update":
    case "task.finish":
      frame.type satisfies keyof typeof SKIPPED;
      return;
    default:
      frame satisfies never;
  }
}

// --- Turns ------------------------------------------------------------------------------------------------------------

function lastTurn(fold: Fold): Turn | undefined {
  return fold.turns.at(fold.turns.length - 1);
}

function changeTurn(fold: Fold, index: number, change: (turn: Turn) => Turn): void {
  const turn = fold.turns.at(index);
  if (turn !== undefined) fold.turns = fold.turns.set(index, change(turn));
}

/** The turn whose parts contain a position. */
function turnAt(fold: Fold, position: number): number {
  let low = 0;
  let high = fold.turns.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    const turn = fold.turns.at(middle);
    if (turn !== undefined && turn.first_part <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

function openTurn(fold: Fold, id: string, at: number, title?: string): void {
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
    started_at: at,
    steps: 0,
    tool_calls: 0,
    errors: 0,
  });
  fold.positions.turns.set(id, index);
  const { model } = fold.open;
  fold.open = { turn_open: true, awaits_prompt: true, step: 0, ...(model === undefined ? {} : { model }) };
}

/** Ends the turn, with what its last thing says where `status` is not given. */
function closeTurn(fold: Fold, at: number, status?: TurnStatus): void {
  closeParts(fold, at);
  const ending = status ?? fold.open.outcome ?? "completed";
  changeTurn(fold, fold.turns.length - 1, (turn) => ({ ...turn, status: ending, ended_at: at }));
  fold.open = { ...withoutMessage(fold.open), turn_open: false };
}

/**
 * The turn that the next part belongs to. Before any prompt one opens without a title. After a turn ended, whatever still
 * comes without a new prompt belongs to it, and what the agent does (`active`) shows that it runs again.
 */
function ensureTurn(fold: Fold, at: number, active: boolean): Turn {
  const turn = lastTurn(fold);
  if (turn === undefined) {
    const id = partId(fold.base.session_id, fold.parts.length);
    openTurn(fold, id, at);
    return ensureTurn(fold, at, active);
  }
  if (active && !fold.open.turn_open) {
    const { ended_at: _, ...rest } = turn;
    fold.turns = fold.turns.set(turn.index, { ...rest, status: "running" });
    const { outcome: __, ...open } = fold.open;
    fold.open = { ...open, turn_open: true };
  }
  return turn;
}

function startTurn(fold: Fold, frame: FrameOf<"turn.start">): void {
  const known = fold.positions.turns.get(frame.turn_id);
  if (known === undefined) openTurn(fold, frame.turn_id, frame.at);
  else if (known === fold.turns.length - 1) ensureTurn(fold, frame.at, true);
}

function endTurn(fold: Fold, frame: FrameOf<"turn.end">): void {
  const last = fold.turns.length - 1;
  if (last < 0) return;
  const named = frame.turn_id === undefined ? last : (fold.positions.turns.get(frame.turn_id) ?? last);
  if (named === last && fold.open.turn_open) closeTurn(fold, frame.at, frame.status);
  else if (frame.status !== undefined) {
    const { status } = frame;
    changeTurn(fold, named, (turn) => ({ ...turn, status, ended_at: frame.at }));
    if (named === last && status === "running") ensureTurn(fold, frame.at, true);
  }
}

function retractTurn(fold: Fold, frame: FrameOf<"turn.retract">): void {
  const index = fold.positions.turns.get(frame.turn_id);
  if (index !== undefined) changeTurn(fold, index, (turn) => ({ ...turn, retracted: frame.reason }));
}

// --- Parts ------------------------------------------------------------------------------------------------------------

interface Origin {
  readonly at: number;
  readonly step?: number;
  readonly source?: Source;
  readonly truncated?: Truncated;
}

/** Ids that a transcript makes for parts whose frame names none: from -1 downwards, so that no writer's own index meets them. */
function ownId(message_id: string, position: number): string {
  return partId(message_id, -1 - position);
}
const STEP_START = 0x4000_0000;
const STEP_FINISH = 0x4000_0001;
const INTERRUPT = 0x4000_0002;
const ERROR = 0x4000_0003;

function commonOf(fold: Fold, origin: Origin, id: string, message_id: string) {
  const step = fold.positions.messages.get(message_id)?.step ?? origin.step ?? fold.open.step;
  return {
    id,
    session_id: fold.base.session_id,
    message_id,
    at: origin.at,
    ...(origin.source === undefined ? {} : { source: origin.source }),
    ...(step > 0 ? { step } : {}),
    ...(origin.truncated === undefined ? {} : { truncated: origin.truncated }),
  };
}

/**
 * The position of what a frame means: `known` by its ids, unless parts are missing here. Then ids may mislead (the newest
 * of equal ones may be what is missing), and the place that the daemon named holds.
 */
function locate(fold: Fold, frame: { part_index?: number }, known: number | undefined): number | undefined {
  const { part_index } = frame;
  if (fold.base.holes === undefined || part_index === undefined) return known;
  return part_index < fold.parts.length ? part_index : undefined;
}

function find(fold: Fold, id: string | undefined, frame: { part_index?: number }): number | undefined {
  return locate(fold, frame, id === undefined ? undefined : fold.positions.parts.get(id));
}

function append(fold: Fold, part: TranscriptPart): number {
  closeBarePart(fold, part.at);
  const position = fold.parts.length;
  fold.parts = fold.parts.append(part);
  place(fold.positions, part, position);
  fold.touched = position;
  changeTurn(fold, fold.turns.length - 1, (turn) => ({
    ...turn,
    part_count: turn.part_count + 1,
    tool_calls: turn.tool_calls + (part.type === "tool_call" ? 1 : 0),
    errors: turn.errors + (isError(part) ? 1 : 0),
  }));
  const isPreamble = part.type === "marker" && PREAMBLE.has(part.kind);
  if (fold.open.awaits_prompt === true && !isPreamble) fold.open = withoutWait(fold.open);
  if (part.type === "marker") {
    if (part.kind === "error") fold.open = { ...fold.open, outcome: "failed" };
    if (part.kind === "interrupt") fold.open = { ...fold.open, outcome: "interrupted" };
  } else if (part.type !== "step_start" && part.type !== "step_finish" && fold.open.outcome !== undefined) {
    // An agent that goes on has got over its error; the result of a call that an interrupt stopped is no going on.
    if (fold.open.turn_open) fold.open = withoutOutcome(fold.open);
  }
  return position;
}

function withoutMessage({ message_id: _, implicit: __, ...open }: Open): Open {
  return open;
}

function withoutWait({ awaits_prompt: _, ...open }: Open): Open {
  return open;
}

function withoutOutcome({ outcome: _, ...open }: Open): Open {
  return open;
}

function isError(part: TranscriptPart): boolean {
  return part.type === "tool_result" ? part.is_error : part.type === "marker" && part.kind === "error";
}

function replace(fold: Fold, position: number, part: TranscriptPart): void {
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
    changeTurn(fold, turnAt(fold, position), (turn) => ({ ...turn, errors: turn.errors + errors }));
  }
}

function setGap(fold: Fold, part_id: string, expected: number, got: number): void {
  fold.gap = { part_id, expected, got };
}

function closePart(fold: Fold, position: number, at: number | undefined): void {
  const part = fold.parts.at(position);
  if ((part?.type === "text" || part?.type === "thinking") && part.open === true) {
    const { open: _, ...closed } = part;
    replace(fold, position, { ...closed, ...(at === undefined ? {} : { ended_at: at }) });
  }
}

/** Ends what grows: all of it, or one message's. */
function closeParts(fold: Fold, at: number, message_id?: string): void {
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

function closeBarePart(fold: Fold, at: number | undefined): void {
  if (fold.open.bare_part === undefined) return;
  closePart(fold, fold.open.bare_part, at);
  fold.open = withoutBarePart(fold.open);
}

function withoutBarePart({ bare_part: _, ...open }: Open): Open {
  return open;
}

// --- Messages and their text ------------------------------------------------------------------------------------------

/** The message that a part belongs to: the one it names, the open one, or one made up for a stream without messages. */
function messageFor(fold: Fold, turn: Turn, message_id: string | undefined): string {
  if (message_id !== undefined) return message_id;
  if (fold.open.message_id !== undefined) return fold.open.message_id;
  const implicit = ownId(turn.id, fold.parts.length);
  fold.open = { ...fold.open, message_id: implicit, implicit: true };
  return implicit;
}

function startMessage(fold: Fold, frame: FrameOf<"message.start">): void {
  if (fold.turns.length === 0 && frame.turn_id !== undefined) openTurn(fold, frame.turn_id, frame.at);
  const turn = ensureTurn(fold, frame.at, true);
  const { message_id } = frame;
  if (fold.open.message_id !== undefined && fold.open.message_id !== message_id) {
    closeParts(fold, frame.at, fold.open.message_id);
    closeBarePart(fold, frame.at);
  }
  if (frame.model !== undefined && frame.model !== fold.open.model) {
    fold.open = { ...fold.open, model: frame.model };
  }
  const model = frame.model ?? fold.open.model;
  const known = fold.positions.messages.get(message_id);
  const begun = locate(fold, frame, known?.step_start);
  if (begun !== undefined || fold.open.message_id === message_id) {
    // Reopened, which is no new step. Where nothing of it is loaded, only the daemon knows which step it was.
    const isKnown = known !== undefined || frame.step !== undefined || fold.open.message_id === message_id;
    if (!isKnown) setGap(fold, message_id, 0, 0);
    const step = known?.step ?? frame.step ?? fold.open.step;
    fold.touched = begun;
    if (fold.open.message_id !== message_id || fold.open.step !== step) {
      fold.open = { ...withoutMessage(fold.open), message_id, step };
    }
    return;
  }
  const step = turn.steps + 1;
  changeTurn(fold, turn.index, (current) => ({
    ...current,
    steps: step,
    ...(model === undefined ? {} : { model }),
  }));
  fold.open = { ...withoutMessage(fold.open), message_id, step };
  append(fold, {
    ...commonOf(fold, frame, partId(message_id, STEP_START), message_id),
    type: "step_start",
    ...(frame.model === undefined ? {} : { model: frame.model }),
  });
}

function openText(
  fold: Fold,
  origin: Origin,
  kind: "text" | "thinking",
  message_id: string,
  id: string,
  text: string,
  phase?: string,
): number {
  const { truncated, ...rest } = origin;
  const cut = renamed(truncated, kind);
  const common = {
    ...commonOf(fold, rest, id, message_id),
    ...(cut === undefined ? {} : { truncated: cut }),
    open: true,
  };
  return append(
    fold,
    kind === "text"
      ? { ...common, type: "text", text, ...(phase === undefined ? {} : { phase }) }
      : { ...common, type: "thinking", thinking: text },
  );
}

/** A frame's cut `text`, under the name that the part gives it. */
function renamed(truncated: Truncated | undefined, field: string): Truncated | undefined {
  const length = truncated?.text;
  return length === undefined ? truncated : { [field]: length };
}

function startPart(fold: Fold, frame: FrameOf<"message.part_start">): void {
  const known = find(fold, frame.part_id, frame);
  if (known !== undefined) {
    const part = fold.parts.at(known);
    const message_id = frame.message_id ?? fold.open.message_id;
    // Sent again. The same id in another message is another part: ids are unique within a message only.
    if (part === undefined || message_id === undefined || part.message_id === message_id) {
      fold.touched = known;
      return;
    }
  }
  const turn = ensureTurn(fold, frame.at, true);
  const message_id = messageFor(fold, turn, frame.message_id);
  openText(fold, frame, frame.kind, message_id, frame.part_id, "", frame.phase);
}

function growPart(fold: Fold, frame: FrameOf<"message.delta">): void {
  const position = frame.part_id === undefined ? openPartFor(fold, frame) : find(fold, frame.part_id, frame);
  if (position !== undefined) {
    fold.touched = position;
    const part = fold.parts.at(position);
    if (part?.type === "text") {
      const grown = grow(fold, part, "text", part.text, frame);
      if (grown !== undefined) replace(fold, position, { ...part, text: grown.text, ...grown.cut });
    } else if (part?.type === "thinking") {
      const grown = grow(fold, part, "thinking", part.thinking, frame);
      if (grown !== undefined) replace(fold, position, { ...part, thinking: grown.text, ...grown.cut });
    }
    return;
  }
  const offset = frame.offset ?? 0;
  if (offset > 0) {
    setGap(fold, frame.part_id ?? fold.open.message_id ?? fold.base.session_id, 0, offset);
    return;
  }
  if (frame.text === "") return;
  const turn = ensureTurn(fold, frame.at, true);
  const message_id = messageFor(fold, turn, undefined);
  const bare = frame.part_id === undefined || frame.bare === true;
  const id = frame.part_id ?? ownId(message_id, fold.parts.length);
  const opened = openText(fold, frame, frame.kind, message_id, id, frame.text);
  fold.offset = 0;
  if (bare) fold.open = { ...fold.open, bare_part: opened };
}

/** Where a delta goes that names no part: to the growing part of its kind in the open message. */
function openPartFor(fold: Fold, frame: FrameOf<"message.delta">): number | undefined {
  const bare = fold.open.bare_part;
  const bareKind = bare === undefined ? undefined : fold.parts.at(bare)?.type;
  if (bare !== undefined && bareKind === undefined) {
    setGap(fold, fold.base.session_id, 0, 0);
    return bare;
  }
  if (bareKind === frame.kind) return bare;
  let newest: number | undefined;
  for (const position of fold.positions.open) {
    const part = fold.parts.at(position);
    if (position === bare || part?.type !== frame.kind || part.message_id !== fold.open.message_id) continue;
    if (newest === undefined || position > newest) newest = position;
  }
  return newest;
}

/** The text with what a delta adds to it; `undefined`: nothing, for it is a repeat, or leaves a gap. */
function grow(
  fold: Fold,
  part: TranscriptPart,
  field: string,
  text: string,
  delta: { text: string; offset?: number; truncated?: Truncated },
): { text: string; cut: { truncated?: Truncated } } | undefined {
  const cut = part.truncated?.[field];
  const length = cut ?? text.length;
  fold.offset = length;
  const offset = delta.offset ?? length;
  if (offset > length) {
    setGap(fold, part.id, length, offset);
    return undefined;
  }
  const fresh = offset === length ? delta.text : delta.text.slice(length - offset);
  // The delta itself was cut for the wire: with it the text reaches its limit, and this true length.
  const whole = delta.truncated?.text;
  if (whole !== undefined && whole > length) {
    const grown = cut === undefined ? text + fresh : text;
    return { text: grown, cut: { truncated: { ...part.truncated, [field]: whole } } };
  }
  if (fresh === "") return undefined;
  // Of a text that was cut for the wire only the true length grows: its end is not here to be appended to.
  return cut === undefined
    ? { text: text + fresh, cut: {} }
    : { text, cut: { truncated: { ...part.truncated, [field]: cut + fresh.length } } };
}

function endPart(fold: Fold, frame: FrameOf<"message.part_end">): void {
  let position = find(fold, frame.part_id, frame);
  if (position === undefined) {
    // Its start was never sent; a thought is told by what only thoughts have.
    const kind = frame.signature !== undefined || frame.hidden !== undefined ? "thinking" : "text";
    if (kind === "text" && frame.text === undefined) return;
    const turn = ensureTurn(fold, frame.at, true);
    const message_id = messageFor(fold, turn, undefined);
    position = openText(fold, frame, kind, message_id, frame.part_id, frame.text ?? "");
  }
  fold.touched = position;
  if (fold.open.bare_part === position) fold.open = withoutBarePart(fold.open);
  const part = fold.parts.at(position);
  if (part?.type !== "text" && part?.type !== "thinking") return;

  const { open, ...closed } = part;
  const ended = open === true ? { ...closed, ended_at: frame.at } : part;
  const whole = ended.type === "text" ? wholeText(ended, frame) : wholeThought(ended, frame);
  replace(fold, position, whole);
}

type PartEnd = FrameOf<"message.part_end">;

function wholeText(part: TranscriptPartOf<"text">, frame: PartEnd): TranscriptPartOf<"text"> {
  if (frame.text === undefined) return part;
  const cut = renamed(frame.truncated, "text");
  if (part.text === frame.text && part.truncated?.text === cut?.text) return part;
  const { truncated: _, ...rest } = part;
  return { ...rest, text: frame.text, ...(cut === undefined ? {} : { truncated: cut }) };
}

function wholeThought(part: TranscriptPartOf<"thinking">, frame: PartEnd): TranscriptPartOf<"thinking"> {
  const signature = frame.signature ?? part.signature;
  const format = frame.format ?? part.format;
  const hidden = frame.hidden ?? part.hidden;
  const thinking = frame.text ?? part.thinking;
  const cut = frame.text === undefined ? part.truncated : renamed(frame.truncated, "thinking");
  if (
    thinking === part.thinking &&
    signature === part.signature &&
    format === part.format &&
    hidden === part.hidden &&
    cut?.thinking === part.truncated?.thinking
  ) {
    return part;
  }
  const { truncated: _, ...rest } = part;
  return {
    ...rest,
    thinking,
    ...(signature === undefined ? {} : { signature }),
    ...(format === undefined ? {} : { format }),
    ...(hidden === undefined ? {} : { hidden }),
    ...(cut === undefined ? {} : { truncated: cut }),
  };
}

function endMessage(fold: Fold, frame: FrameOf<"message.end">): void {
  const { message_id } = frame;
  const known = fold.positions.messages.get(message_id);
  // A message that was made up is ended by whichever end comes.
  if (fold.open.implicit === true || fold.open.message_id === message_id) {
    closeParts(fold, frame.at, fold.open.message_id);
    closeBarePart(fold, frame.at);
    fold.open = withoutMessage(fold.open);
  }
  closeParts(fold, frame.at, message_id);

  const position = locate(fold, frame, known?.step_finish);
  const at = position === undefined ? undefined : fold.parts.at(position);
  const before = at?.type === "step_finish" ? at : undefined;
  if (position !== undefined && before === undefined) {
    // What this message was counted with is not loaded.
    fold.touched = position;
    setGap(fold, message_id, 0, 0);
    return;
  }
  const reason = frame.stop_reason ?? before?.reason;
  const figures = {
    ...(reason === undefined ? {} : { reason }),
    ...(frame.stop_reason_raw === undefined ? {} : { reason_raw: frame.stop_reason_raw }),
    ...(frame.usage === undefined ? {} : { tokens: frame.usage }),
    ...(frame.usage?.cost === undefined ? {} : { cost: frame.usage.cost }),
    ...(frame.error === undefined ? {} : { error: frame.error }),
  };
  if (position !== undefined && before !== undefined) {
    const changed =
      reason !== before.reason ||
      (frame.error !== undefined && frame.error !== before.error) ||
      (frame.stop_reason_raw !== undefined && frame.stop_reason_raw !== before.reason_raw) ||
      (frame.usage !== undefined && JSON.stringify(frame.usage) !== JSON.stringify(before.tokens));
    if (changed) replace(fold, position, { ...before, ...figures });
    fold.touched = position;
    if (frame.usage !== undefined && changed)
      countTokens(fold, turnAt(fold, position), before.tokens, frame.usage);
  } else {
    const turn = ensureTurn(fold, frame.at, false);
    append(fold, {
      ...commonOf(fold, frame, partId(message_id, STEP_FINISH), message_id),
      type: "step_finish",
      ...figures,
    });
    if (frame.usage !== undefined) countTokens(fold, turn.index, undefined, frame.usage);
  }
  const finished = fold.touched;
  if (frame.error !== undefined && before?.error === undefined) {
    append(fold, {
      ...commonOf(fold, { at: frame.at }, partId(message_id, ERROR), message_id),
      type: "marker",
      kind: "error",
      title: titleOf(frame.error) ?? "Error",
      text: frame.error,
    });
  }
  concludeMessage(fold, frame, before?.reason, reason);
  fold.touched = finished;
}

/** What a message's stop reason says about its turn. */
function concludeMessage(
  fold: Fold,
  frame: FrameOf<"message.end">,
  before: StopReason | undefined,
  reason: StopReason | undefined,
): void {
  if (reason === before) return;
  if (reason === "error") fold.open = { ...fold.open, outcome: "failed" };
  if (reason === "aborted")
    putInterrupt(fold, { at: frame.at }, partId(frame.message_id, INTERRUPT), undefined);
}

function countTokens(fold: Fold, turn_index: number, before: Usage | undefined, now: Usage): void {
  changeTurn(fold, turn_index, (turn) => ({ ...turn, usage: countUsage(turn.usage, before, now) }));
  fold.usage = countUsage(fold.usage, before, now);
}

function retract(fold: Fold, frame: FrameOf<"message.retract">): void {
  if (frame.part_id !== undefined) {
    const position = find(fold, frame.part_id, frame);
    if (position !== undefined) markRetracted(fold, position, frame.reason);
    fold.touched = position;
    return;
  }
  const message = fold.positions.messages.get(frame.message_id);
  if (message === undefined) return;
  for (let position = message.first; position <= message.last; position += 1) {
    if (fold.parts.at(position)?.message_id === frame.message_id) markRetracted(fold, position, frame.reason);
  }
}

function markRetracted(fold: Fold, position: number, reason: string): void {
  const part = fold.parts.at(position);
  if (part !== undefined && part.retracted !== reason)
    replace(fold, position, { ...part, retracted: reason });
}

// --- Tools ------------------------------------------------------------------------------------------------------------

function putCall(fold: Fold, frame: FrameOf<"message.tool_call_start"> | FrameOf<"message.tool_call">): void {
  const position = findCall(fold, frame);
  if (position !== undefined) {
    fold.touched = position;
    const part = fold.parts.at(position);
    if (part?.type === "tool_call" && frame.type === "message.tool_call")
      reviseCall(fold, position, part, frame);
    return;
  }
  const turn = ensureTurn(fold, frame.at, true);
  const message_id = messageFor(fold, turn, frame.message_id);
  const arguments_json = frame.type === "message.tool_call" ? frame.arguments_json : "";
  const pending = createPending(arguments_json);
  const orphan = fold.positions.calls.get(frame.tool_call_id);
  const created = append(fold, {
    ...commonOf(fold, frame, frame.part_id ?? ownId(message_id, fold.parts.length), message_id),
    type: "tool_call",
    tool_call_id: frame.tool_call_id,
    tool_name: frame.tool_name,
    arguments_json,
    state: frame.type === "message.tool_call" ? start(pending, frame.at) : pending,
  });
  // Its result came first. One of an earlier turn is not meant: some agents count their calls anew in every turn.
  if (orphan !== undefined && orphan.call === undefined && orphan.result !== undefined) {
    const current = lastTurn(fold);
    if (current !== undefined && orphan.result >= current.first_part) pair(fold, created, orphan.result);
  }
}

/**
 * The call that a frame means: the same id within the same message or turn. The same id in a later turn is another call,
 * for some agents count their calls anew.
 */
function findCall(
  fold: Fold,
  frame: FrameOf<"message.tool_call_start"> | FrameOf<"message.tool_call">,
): number | undefined {
  const named = frame.part_id === undefined ? undefined : fold.positions.parts.get(frame.part_id);
  if (named !== undefined && fold.parts.at(named)?.type === "tool_call") return locate(fold, frame, named);
  const position = fold.positions.calls.get(frame.tool_call_id)?.call;
  const turn = lastTurn(fold);
  const isSameTurn = turn !== undefined && position !== undefined && position >= turn.first_part;
  const message_id = frame.message_id ?? fold.open.message_id;
  const isSame = isSameTurn || (position !== undefined && fold.parts.at(position)?.message_id === message_id);
  return locate(fold, frame, isSame ? position : undefined);
}

function reviseCall(
  fold: Fold,
  position: number,
  part: TranscriptPartOf<"tool_call">,
  frame: FrameOf<"message.tool_call">,
): void {
  const started = part.state.status !== "pending";
  if (started && part.arguments_json === frame.arguments_json && part.tool_name === frame.tool_name) return;
  const input = parseArguments(frame.arguments_json);
  const state: ToolState = started
    ? { ...part.state, input }
    : start(createPending(frame.arguments_json, input), frame.at);
  const { truncated: _, ...rest } = part;
  replace(fold, position, {
    ...rest,
    tool_name: frame.tool_name,
    arguments_json: frame.arguments_json,
    state,
    ...(part.source === undefined && frame.source !== undefined ? { source: frame.source } : {}),
    ...(frame.truncated === undefined ? {} : { truncated: frame.truncated }),
  });
}

function growProgress(fold: Fold, frame: FrameOf<"message.tool_progress">): void {
  const position = locate(fold, frame, fold.positions.calls.get(frame.tool_call_id)?.call);
  const part = position === undefined ? undefined : fold.parts.at(position);
  fold.touched = position;
  if (position === undefined || part?.type !== "tool_call" || isSettled(part.state)) return;
  const grown = grow(fold, part, "progress", part.progress ?? "", frame);
  if (grown !== undefined) replace(fold, position, { ...part, progress: grown.text, ...grown.cut });
}

function putResult(fold: Fold, frame: FrameOf<"message.tool_result">): void {
  const known = fold.positions.calls.get(frame.tool_call_id);
  const named = frame.part_id === undefined ? undefined : fold.positions.parts.get(frame.part_id);
  const isNamed = named !== undefined && fold.parts.at(named)?.type === "tool_result";
  const candidate = isNamed ? named : known?.result;
  // A page may be newer than the frames: its call knows of a result that is still to come here.
  const isHere = candidate !== undefined && candidate < fold.parts.length;
  const earlier = locate(fold, frame, isHere ? candidate : undefined);
  const status = frame.is_error && frame.status === "success" ? "error" : frame.status;
  const value = {
    tool_call_id: frame.tool_call_id,
    ...(frame.tool_name === undefined ? {} : { tool_name: frame.tool_name }),
    is_error: frame.is_error || status === "error",
    status,
    output_text: frame.output_text,
    parts: frame.parts,
    ...(frame.ui_extra === undefined ? {} : { ui_extra: frame.ui_extra }),
  };
  if (earlier !== undefined) {
    fold.touched = earlier;
    const before = fold.parts.at(earlier);
    // What the first result was counted with is not loaded.
    if (before?.type !== "tool_result") {
      setGap(fold, frame.tool_call_id, 0, 0);
      return;
    }
    const { truncated: _, ...rest } = before;
    replace(fold, earlier, {
      ...rest,
      ...value,
      at: frame.at,
      ...(frame.source === undefined ? {} : { source: frame.source }),
      ...(frame.truncated === undefined ? {} : { truncated: frame.truncated }),
    });
    if (before.call_index !== undefined) pair(fold, before.call_index, earlier);
    return;
  }
  const turn = ensureTurn(fold, frame.at, false);
  const message_id = frame.message_id ?? ownId(turn.id, fold.parts.length);
  const position = append(fold, {
    ...commonOf(fold, frame, frame.part_id ?? partId(message_id, 0), message_id),
    type: "tool_result",
    ...value,
  });
  if (known?.call !== undefined) pair(fold, known.call, position);
}

/** Joins a call and its result, each of which may be not loaded; the result's status settles the call. */
function pair(fold: Fold, call_index: number, result_index: number): void {
  const result = fold.parts.at(result_index);
  if (result === undefined) {
    setGap(fold, fold.base.session_id, 0, 0);
    return;
  }
  if (result.type !== "tool_result") return;
  if (result.call_index !== call_index) replace(fold, result_index, { ...result, call_index });
  const call = fold.parts.at(call_index);
  if (call?.type === "tool_call") {
    replace(fold, call_index, withoutProgress({ ...call, state: settle(call, result), result_index }));
  }
}

/** The whole output is in the result: keeping what was seen of it on the way would hold it twice. */
function withoutProgress({
  progress: _,
  ...part
}: TranscriptPartOf<"tool_call">): TranscriptPartOf<"tool_call"> {
  if (part.truncated?.progress === undefined) return part;
  const { truncated, ...rest } = part;
  const { progress: __, ...cut } = truncated;
  return { ...rest, ...(Object.keys(cut).length > 0 ? { truncated: cut } : {}) };
}

/** The call's end as its result tells it. A settled call may be settled anew: of two results the last one wins. */
function settle(call: TranscriptPartOf<"tool_call">, result: TranscriptPartOf<"tool_result">): ToolState {
  const at = result.at ?? call.at ?? 0;
  const running = runningAgain(call.state, call.at ?? at);
  switch (result.status) {
    case "success":
      return complete(running, {
        output: result.output_text,
        at,
        title: call.tool_name,
        attachments: result.parts.filter((part) => part.type !== "unknown"),
      });
    case "error":
      return fail(running, result.output_text, at);
    case "aborted":
      return abort(running, at, result.output_text === "" ? undefined : result.output_text);
    default:
      return result.status satisfies never;
  }
}

function runningAgain(state: ToolState, at: number): RunningState {
  if (state.status === "pending") return start(state, at);
  if (state.status === "running") return state;
  return {
    status: "running",
    input: state.input,
    ...(state.metadata === undefined ? {} : { metadata: state.metadata }),
    time: { start: state.time.start },
  };
}

function linkRun(fold: Fold, frame: FrameOf<"task.start">): void {
  const { sub_agent } = frame;
  if (frame.tool_call_id === undefined || sub_agent === undefined) return;
  changeCall(fold, frame.tool_call_id, frame, (part) => ({ ...part, run: sub_agent }));
}

function putMetadata(fold: Fold, frame: FrameOf<"task.metadata">): void {
  const { metadata } = frame;
  if (frame.tool_call_id === undefined || typeof metadata !== "object" || metadata === null) return;
  changeCall(fold, frame.tool_call_id, frame, (part) => {
    // Who tells something about a call that is still pending knows that it runs.
    const state = part.state.status === "pending" ? start(part.state, frame.at) : part.state;
    return { ...part, state: { ...state, metadata: { ...state.metadata, ...metadata } } };
  });
}

function changeCall(
  fold: Fold,
  tool_call_id: string,
  frame: { part_index?: number },
  change: (part: TranscriptPartOf<"tool_call">) => TranscriptPartOf<"tool_call">,
): void {
  const position = locate(fold, frame, fold.positions.calls.get(tool_call_id)?.call);
  const part = position === undefined ? undefined : fold.parts.at(position);
  fold.touched = position;
  if (position !== undefined && part?.type === "tool_call") replace(fold, position, change(part));
}

// --- Everything else that makes a part --------------------------------------------------------------------------------

/** Puts a part that is whole at once: in the place of the one with the same id, or at the end. */
function put(fold: Fold, frame: { part_index?: number }, part: TranscriptPart): void {
  const position = find(fold, part.id, frame);
  if (position === undefined) {
    append(fold, part);
    return;
  }
  fold.touched = position;
  const before = fold.parts.at(position);
  if (before?.type === part.type) {
    replace(fold, position, {
      ...part,
      message_id: before.message_id,
      ...(before.step === undefined ? {} : { step: before.step }),
    });
  }
}

function putMedia(fold: Fold, frame: FrameOf<"message.image"> | FrameOf<"message.file">): void {
  const turn = ensureTurn(fold, frame.at, true);
  const message_id = messageFor(fold, turn, frame.message_id);
  const common = commonOf(fold, frame, frame.part_id, message_id);
  if (frame.type === "message.file") {
    const { mime, url, filename } = frame;
    const media = { type: "file" as const, mime, url, ...(filename === undefined ? {} : { filename }) };
    put(fold, frame, { ...common, type: "file", media });
  } else if (frame.file_path !== undefined) {
    const { file_path, mime_type, byte_size } = frame;
    const media = {
      type: "image_file" as const,
      file_path,
      ...(mime_type === undefined ? {} : { mime_type }),
      ...(byte_size === undefined ? {} : { byte_size }),
    };
    put(fold, frame, { ...common, type: "image", media });
  } else {
    put(fold, frame, { ...common, type: "image", media: { type: "image_url", url: frame.url ?? "" } });
  }
}

function putPrompt(fold: Fold, frame: FrameOf<"user.message">): void {
  const id = frame.part_id ?? partId(frame.message_id, 0);
  const known = find(fold, id, frame);
  const title = promptTitle(frame.parts);
  if (known === undefined) {
    if (frame.queued === true) ensureTurn(fold, frame.at, false);
    else {
      enterTurn(fold, frame.message_id, frame.at, title);
      const prompt_index = fold.parts.length;
      changeTurn(fold, fold.turns.length - 1, (turn) => ({ prompt_index, ...turn }));
    }
  }
  put(fold, frame, {
    ...commonOf(fold, frame, id, frame.message_id),
    type: "prompt",
    parts: frame.parts,
    ...(frame.queued === undefined ? {} : { queued: frame.queued }),
    ...(frame.origin === undefined ? {} : { origin: frame.origin }),
  });
  if (known === undefined) return;
  const turn = fold.turns.at(turnAt(fold, known));
  if (turn?.prompt_index === known && title !== undefined && turn.title !== title) {
    changeTurn(fold, turn.index, (current) => ({ ...current, title }));
  }
}

/** A prompt opens a turn, unless one was opened for it in which there is only what its agent injected before it. */
function enterTurn(fold: Fold, id: string, at: number, title: string | undefined): void {
  const turn = lastTurn(fold);
  const isWaiting = fold.open.turn_open && fold.open.awaits_prompt === true;
  if (turn === undefined || !isWaiting) openTurn(fold, id, at, title);
  else if (title !== undefined) changeTurn(fold, turn.index, (current) => ({ ...current, title }));
}

/** Markers that an agent puts before the prompt that they belong to. */
export const PREAMBLE: ReadonlySet<MarkerKind> = new Set<MarkerKind>([
  "context",
  "hook",
  "note",
  "notification",
  "model_switch",
]);

function putLegacy(fold: Fold, frame: FrameOf<"message.legacy">): void {
  const { message } = frame;
  const id = partId(message.id, 0);
  if (find(fold, id, frame) === undefined) {
    if (message.role === "user") enterTurn(fold, message.id, frame.at, titleOf(message.content));
    else ensureTurn(fold, frame.at, true);
  }
  put(fold, frame, {
    ...commonOf(fold, frame, id, message.id),
    type: "legacy",
    role: message.role,
    content: message.content,
    ...(message.thinking === undefined ? {} : { thinking: message.thinking }),
  });
}

function putContext(fold: Fold, frame: FrameOf<"developer.message">): void {
  ensureTurn(fold, frame.at, false);
  const text = textOf(frame.parts);
  const others = frame.parts.filter((part) => part.type !== "text");
  put(fold, frame, {
    ...commonOf(fold, frame, frame.part_id ?? partId(frame.message_id, 0), frame.message_id),
    type: "marker",
    kind: "context",
    title: frame.title ?? titleOf(text) ?? "Context",
    ...(text === "" ? {} : { text }),
    ...(others.length === 0 ? {} : { data: others }),
  });
}

function putMarker(fold: Fold, frame: FrameOf<"marker">): void {
  ensureTurn(fold, frame.at, false);
  put(fold, frame, {
    ...commonOf(fold, frame, frame.part_id, frame.message_id ?? frame.part_id),
    type: "marker",
    kind: frame.kind,
    title: frame.title,
    ...(frame.text === undefined ? {} : { text: frame.text }),
    ...(frame.data === undefined ? {} : { data: frame.data }),
  });
}

function putError(fold: Fold, frame: FrameOf<"error">): void {
  const turn = ensureTurn(fold, frame.at, false);
  const id = frame.part_id ?? ownId(turn.id, fold.parts.length);
  const { truncated, ...origin } = frame;
  const title = titleOf(frame.message) ?? "Error";
  const cut = renamed(truncated?.message === undefined ? undefined : { text: truncated.message }, "text");
  const more =
    frame.can_retry === undefined
      ? frame.data
      : { can_retry: frame.can_retry, ...(frame.data === undefined ? {} : { data: frame.data }) };
  put(fold, frame, {
    ...commonOf(fold, origin, id, id),
    ...(cut === undefined ? {} : { truncated: cut }),
    type: "marker",
    kind: "error",
    title,
    ...(frame.message === title ? {} : { text: frame.message }),
    ...(more === undefined ? {} : { data: more }),
  });
}

function putUnknown(fold: Fold, frame: FrameOf<"unknown">): void {
  ensureTurn(fold, frame.at, false);
  put(fold, frame, {
    ...commonOf(fold, frame, frame.part_id, frame.part_id),
    type: "unknown",
    raw: frame.raw,
    ...(frame.title === undefined ? {} : { title: frame.title }),
    ...(frame.error === undefined ? {} : { error: frame.error }),
  });
}

/**
 * A person stopped the agent: the message being written ends as `aborted`, a marker says so, and the turn is over. Told
 * twice (by the message's own end and by an interrupt after it) it is one interrupt.
 */
function putInterrupt(
  fold: Fold,
  origin: Origin & { part_index?: number },
  part_id: string | undefined,
  reason: string | undefined,
): void {
  const turn = ensureTurn(fold, origin.at, false);
  const lastPosition = fold.parts.length - 1;
  const last = fold.parts.at(lastPosition);
  // Where the agent has begun again since, this is another interrupt.
  const isOver = !fold.open.turn_open && lastPosition >= turn.first_part;
  const repeated = isOver && last?.type === "marker" && last.kind === "interrupt";
  const named = part_id === undefined ? undefined : fold.positions.parts.get(part_id);
  const known = locate(fold, origin, named ?? (repeated ? lastPosition : undefined));
  if (known !== undefined) {
    fold.touched = known;
    const marker = fold.parts.at(known);
    if (marker?.type === "marker" && reason !== undefined && marker.text === undefined) {
      replace(fold, known, { ...marker, title: interruptTitle(reason), text: reason });
    }
    return;
  }
  const { message_id, implicit } = fold.open;
  const message = message_id === undefined ? undefined : fold.positions.messages.get(message_id);
  closeParts(fold, origin.at);
  // Whether it ended may stand in a part that is not loaded: the place that the daemon named tells how many parts come.
  const isEnded =
    fold.base.holes === undefined || origin.part_index === undefined
      ? message?.step_finish !== undefined
      : origin.part_index === fold.parts.length;
  if (message_id !== undefined && implicit !== true && !isEnded) {
    append(fold, {
      ...commonOf(fold, { at: origin.at }, partId(message_id, STEP_FINISH), message_id),
      type: "step_finish",
      reason: "aborted",
    });
  }
  const id = part_id ?? ownId(turn.id, fold.parts.length);
  append(fold, {
    ...commonOf(fold, origin, id, id),
    type: "marker",
    kind: "interrupt",
    title: interruptTitle(reason),
    ...(reason === undefined ? {} : { text: reason }),
  });
  closeTurn(fold, origin.at, "interrupted");
}

/** Why the agent was stopped, where that is known: most reasons say that it was. */
function interruptTitle(reason: string | undefined): string {
  const title = reason === undefined ? undefined : titleOf(reason);
  if (title === undefined) return "Interrupted";
  if (!/interrupt|stop|refus|abort|cancel/i.test(title)) return `Interrupted: ${title}`;
  return title.charAt(0).toUpperCase() + title.slice(1);
}
