import type { FrameOf } from "../../frames/frame.ts";
import type { StopReason, Usage } from "../../messages/message.ts";
import { titleOf } from "../../parts/content.ts";
import type { TextCode } from "../../text/coded-text.ts";
import { displayText, type TextFields } from "../../text/display-text.ts";
import { foldTitle, interruptTitle } from "../../text/fold-titles.ts";
import { type TitleFields, titleFields } from "../../text/titles.ts";
import { countUsage } from "../../usage.ts";
import { partId } from "../../uuid.ts";
import { recordGrowth } from "../growth.ts";
import { turnOfPart } from "../positions.ts";
import type { TranscriptPart, TranscriptPartOf, Truncated, Turn } from "../transcript.ts";
import {
  append,
  changeTurn,
  closeBarePart,
  closeParts,
  closeTurn,
  commonOf,
  ERROR,
  ensureTurn,
  type Fold,
  find,
  INTERRUPT,
  locate,
  type Origin,
  openTurn,
  ownId,
  replace,
  revised,
  STEP_FINISH,
  STEP_START,
  setGap,
  withoutBarePart,
  withoutMessage,
  withReason,
} from "./fold.ts";

// The frames of the model's own messages: text and thinking, their end, their interrupt, and their retraction.

/** The message of a part: the named one, the open one, or one created for a stream without messages. */
export function messageFor(fold: Fold, turn: Turn, message_id: string | undefined): string {
  if (message_id !== undefined) return message_id;
  if (fold.open.message_id !== undefined) return fold.open.message_id;
  const implicit = ownId(turn.id, fold.parts.length);
  fold.open = { ...fold.open, message_id: implicit, implicit: true };
  return implicit;
}

/** Begins a step and adds its `step_start` part. A message that starts again is reopened, without a new step. */
export function startMessage(fold: Fold, frame: FrameOf<"message.start">): void {
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
    // A reopened message is not a new step. If none of it is loaded, only the daemon knows its step.
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
    ...(frame.effort === undefined ? {} : { effort: frame.effort }),
    ...(frame.inherited === undefined ? {} : { inherited: frame.inherited }),
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

/** Renames the truncated field `text` of a frame to the part's field. */
export function renamed(truncated: Truncated | undefined, field: string): Truncated | undefined {
  const length = truncated?.text;
  return length === undefined ? truncated : { [field]: length };
}

/** Opens an empty text or thought. A repeated start of the same part of the same message has no effect. */
export function startPart(fold: Fold, frame: FrameOf<"message.part_start">): void {
  const known = find(fold, frame.part_id, frame);
  if (known !== undefined) {
    const part = fold.parts.at(known);
    const message_id = frame.message_id ?? fold.open.message_id;
    // A repeat. The same id in another message is another part: ids are unique only within a message.
    if (part === undefined || message_id === undefined || part.message_id === message_id) {
      fold.touched = known;
      return;
    }
  }
  const turn = ensureTurn(fold, frame.at, true);
  const message_id = messageFor(fold, turn, frame.message_id);
  openText(fold, frame, frame.kind, message_id, frame.part_id, "", frame.phase);
}

/**
 * Appends to the named part, or to the newest open one of its kind. Opens one if there is none. Known text is not appended again,
 * and an offset beyond the end sets the gap.
 */
export function growPart(fold: Fold, frame: FrameOf<"message.delta">): void {
  const position = frame.part_id === undefined ? openPartFor(fold, frame) : find(fold, frame.part_id, frame);
  if (position !== undefined) {
    fold.touched = position;
    const part = fold.parts.at(position);
    if (part?.type !== "text" && part?.type !== "thinking") return;
    const grown = grow(fold, part, part.type, part.type === "text" ? part.text : part.thinking, frame);
    if (grown === undefined) return;
    const { text, added, cut } = grown;
    const now = part.type === "text" ? { ...part, text, ...cut } : { ...part, thinking: text, ...cut };
    recordGrowth(part, now, added, text.length);
    replace(fold, position, now);
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

/** The target of a delta without a part id: the growing part of its kind in the open message. */
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

/** The text after a delta; `undefined`: unchanged, because it is a repeat or leaves a gap. */
export function grow(
  fold: Fold,
  part: TranscriptPart,
  field: string,
  text: string,
  delta: { text: string; offset?: number; truncated?: Truncated },
): { text: string; added: string; cut: { truncated?: Truncated } } | undefined {
  const cut = part.truncated?.[field];
  const length = cut ?? text.length;
  fold.offset = length;
  const offset = delta.offset ?? length;
  if (offset > length) {
    setGap(fold, part.id, length, offset);
    return undefined;
  }
  const added_text = offset === length ? delta.text : delta.text.slice(length - offset);
  // The delta itself was truncated: the text reaches its limit, with this true length.
  const whole = delta.truncated?.text;
  if (whole !== undefined && whole > length) {
    const added = cut === undefined ? added_text : "";
    return { text: text + added, added, cut: { truncated: { ...part.truncated, [field]: whole } } };
  }
  if (added_text === "") return undefined;
  // Only the true length of a truncated text grows, because its end is not loaded.
  return cut === undefined
    ? { text: text + added_text, added: added_text, cut: {} }
    : { text, added: "", cut: { truncated: { ...part.truncated, [field]: cut + added_text.length } } };
}

/** Ends a text or thought, which may not have been started. A text in the frame replaces what the deltas said. */
export function endPart(fold: Fold, frame: FrameOf<"message.part_end">): void {
  let position = find(fold, frame.part_id, frame);
  if (position === undefined) {
    // Its start was never sent. Fields that only thoughts have tell the kind.
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
  const ended = open === true ? { ...closed, ...(frame.at > 0 && { ended_at: frame.at }) } : part;
  const whole = ended.type === "text" ? wholeText(ended, frame) : wholeThought(ended, frame);
  const isRevised = open !== true && textOf(whole) !== textOf(part);
  replace(fold, position, isRevised ? { ...whole, ...revised(fold, position, frame.at) } : whole);
}

const textOf = (part: TranscriptPartOf<"text"> | TranscriptPartOf<"thinking">): string =>
  part.type === "text" ? part.text : part.thinking;

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

/** Ends the open parts of a message and adds the `step_finish`. A repeat revises it and counts its tokens once. */
export function endMessage(fold: Fold, frame: FrameOf<"message.end">): void {
  const { message_id } = frame;
  const known = fold.positions.messages.get(message_id);
  // An implicit message is ended by any end.
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
    // The earlier usage of this message is not loaded.
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
      countTokens(fold, turnOfPart(fold.turns, position), before.tokens, frame.usage);
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
      ...errorTitle(frame.error, frame.error_code),
      text: frame.error,
    });
  }
  concludeMessage(fold, frame, before?.reason, reason);
  fold.touched = finished;
}

/** The first line of an error, with the code of its text. */
export function errorTitle(error: string, code: TextCode | undefined): TitleFields {
  const line = titleOf(error);
  return titleFields(line === undefined ? foldTitle("error") : displayText(line, code));
}

/** Applies a message's stop reason to its turn. */
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

/** Marks a part of a message, or all of them, as retracted, including the results of calls. Nothing is removed. */
export function retract(fold: Fold, frame: FrameOf<"message.retract">): void {
  // The retracted part, which was counted, is not loaded.
  if (frame.part_index !== undefined && hasUnloaded(fold, frame.part_index)) {
    setGap(fold, frame.message_id, 0, 0);
    return;
  }
  if (frame.part_id !== undefined) {
    const position = find(fold, frame.part_id, frame);
    if (position !== undefined) markRetracted(fold, position, frame);
    fold.touched = position;
    return;
  }
  const message = fold.positions.messages.get(frame.message_id);
  if (message === undefined) return;
  for (let position = message.first; position <= message.last; position += 1) {
    const part = fold.parts.at(position);
    if (part?.message_id !== frame.message_id) continue;
    const { turns } = fold;
    markRetracted(fold, position, frame);
    // A retraction changes only the error count of a turn.
    const hasResult = part.type === "tool_call" && part.result_index !== undefined;
    if (hasResult || fold.turns !== turns) fold.touched ??= position;
  }
}

function hasUnloaded({ parts }: Fold, from: number): boolean {
  for (let position = from; position < parts.length; position += 1)
    if (parts.at(position) === undefined) return true;
  return false;
}

/** Marks a call together with its result. */
function markRetracted(fold: Fold, position: number, reason: TextFields<"reason">): void {
  const part = fold.parts.at(position);
  if (part === undefined) return;
  if (part.retracted !== reason.reason) replace(fold, position, withReason(part, reason));
  if (part.type === "tool_call" && part.result_index !== undefined)
    markRetracted(fold, part.result_index, reason);
}

/**
 * A person stopped the agent: the open message ends as `aborted`, a marker is added, and the turn ends. If it is reported twice
 * (by the message's end and by an interrupt after it), it counts as one interrupt.
 */
export function putInterrupt(
  fold: Fold,
  origin: Origin & { part_index?: number },
  part_id: string | undefined,
  reason: string | undefined,
): void {
  const turn = ensureTurn(fold, origin.at, false);
  const lastPosition = fold.parts.length - 1;
  const last = fold.parts.at(lastPosition);
  // If the agent has started again since, this is another interrupt.
  const isOver = !fold.open.turn_open && lastPosition >= turn.first_part;
  const repeated = isOver && last?.type === "marker" && last.kind === "interrupt";
  const named = part_id === undefined ? undefined : fold.positions.parts.get(part_id);
  const known = locate(fold, origin, named ?? (repeated ? lastPosition : undefined));
  if (known !== undefined) {
    fold.touched = known;
    const marker = fold.parts.at(known);
    if (marker?.type === "marker" && reason !== undefined && marker.text === undefined) {
      const { title_code: _, ...rest } = marker;
      replace(fold, known, { ...rest, ...titleFields(interruptTitle(reason)), text: reason });
    }
    return;
  }
  const { message_id, implicit } = fold.open;
  const message = message_id === undefined ? undefined : fold.positions.messages.get(message_id);
  // The part that would show the end may be unloaded. The position from the daemon tells how many parts follow.
  const isEnded =
    fold.base.unloaded === undefined || origin.part_index === undefined
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
    ...titleFields(interruptTitle(reason)),
    ...(reason === undefined ? {} : { text: reason }),
  });
  closeTurn(fold, origin.at, "interrupted");
}
