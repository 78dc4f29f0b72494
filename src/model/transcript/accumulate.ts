import type { Frame } from "../frames/frame.ts";
import type { Usage } from "../messages/message.ts";
import type { CallOutcome } from "../parts/outcome.ts";
import type { TodoItem } from "../parts/ui-extra.ts";
import { foldTitle } from "../text/fold-titles.ts";
import {
  changeTurn,
  closeTurn,
  endedTurn,
  endTurn,
  type Fold,
  lastTurn,
  replace,
  retractTurn,
  startTurn,
} from "./fold/fold.ts";
import {
  endMessage,
  endPart,
  growPart,
  putInterrupt,
  retract,
  startMessage,
  startPart,
} from "./fold/messages.ts";
import {
  closeRequest,
  putContext,
  putError,
  putLegacy,
  putMarker,
  putMedia,
  putPrompt,
  putRequest,
  putUnknown,
} from "./fold/standalone.ts";
import { growProgress, linkRun, putCall, putMetadata, putResult } from "./fold/tools.ts";
import { findPositions, type Positions } from "./positions.ts";
import { sequenceOf, sparseSequence } from "./sequence.ts";
import { abort, isFinished } from "./tool-state.ts";
import type { TranscriptPart, TurnStatus } from "./transcript.ts";
import type { Open, Transcript } from "./transcript-state.ts";
import { turnsOfTable } from "./turn-table.ts";
import type { TurnTable } from "./turn-table-schema.ts";

/** Frames that do not change a transcript, with the reason. All other types are handled by `accumulate`. */
export const SKIPPED = {
  "message.record": "the message as its provider needs it back: for history only",
  "session.update": "facts about the session as a whole: folded by `summarize`",
  "task.finish": "the run's own session and the result of the call that started it report the end of a run",
} as const satisfies { readonly [Type in Frame["type"]]?: string };

/** A page of a session as clients receive it: see `sessionPage` in the protocol. */
export interface TranscriptPage {
  readonly session_id: string;
  readonly turns: TurnTable;
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

/** A client's transcript: every turn, as many positions as there are parts, and the parts of the page. The rest is unloaded. */
export function restoreTranscript(page: TranscriptPage): Transcript {
  const restored: Transcript = {
    session_id: page.session_id,
    turns: sequenceOf(turnsOfTable(page.turns, page.session_id)),
    parts: sparseSequence(page.part_count),
    open: page.open,
    unloaded: page.part_count,
    unpaired: { open_calls: page.open_calls, orphan_results: page.orphan_results ?? [] },
    ...(page.usage === undefined ? {} : { usage: page.usage }),
    ...(page.todos === undefined ? {} : { todos: page.todos }),
    ...(page.context === undefined ? {} : { context: page.context }),
  };
  return fillParts(restored, page.parts);
}

/** Adds fetched parts at their positions. Parts that are already loaded stay, because frames keep them current. */
export function fillParts(transcript: Transcript, placed: readonly PlacedPart[]): Transcript {
  let parts = transcript.parts;
  let unloaded = transcript.unloaded ?? 0;
  for (const { index, part } of placed) {
    if (index >= 0 && index < parts.length && parts.at(index) === undefined) {
      parts = parts.set(index, part);
      unloaded -= 1;
    }
  }
  if (parts === transcript.parts) return transcript;
  const { unloaded: _, ...rest } = transcript;
  return { ...rest, parts, ...(unloaded > 0 ? { unloaded } : {}) };
}

/** The calls and results in a page that wait for each other: see `TranscriptPage`. */
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

/** The position of the part with this id; the newest if there are several. */
export function positionOf(transcript: Transcript, part_id: string): number | undefined {
  return positionsOf(transcript).parts.get(part_id);
}

/** The position of the newest call with this id. */
export function callPositionOf(transcript: Transcript, tool_call_id: string): number | undefined {
  return positionsOf(transcript).calls.get(tool_call_id)?.call;
}

/**
 * Positions are computed once per transcript and handed on from each version to the next, which owns and changes them. Folding
 * onto an older version computes them again, with the same result.
 */
const positions_of = new WeakMap<Transcript, Positions>();

function positionsOf(transcript: Transcript): Positions {
  let positions = positions_of.get(transcript);
  if (positions === undefined) {
    positions = findPositions(transcript.turns, transcript.parts, transcript.unpaired);
    positions_of.set(transcript, positions);
  }
  return positions;
}

/** The reducer: `(transcript, frame) => transcript`. Never throws, never mutates; unchanged values keep their identity. */
export function accumulate(transcript: Transcript, frame: Frame): Transcript {
  if (frame.session_id !== transcript.session_id) return transcript;
  const fold = begin(transcript);
  apply(fold, frame);
  return finish(fold);
}

const textOf = (part: TranscriptPart | undefined): string | undefined =>
  part?.type === "text" ? part.text : part?.type === "thinking" ? part.thinking : undefined;

/**
 * Folds a frame and adds what a client with only part of the session needs: the position of the part that it opens or changes
 * (`part_index`), that part's id, and the offset of appended text. Known data is not repeated: a text that was sent completely in
 * deltas is removed from its end.
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
  } else if (addressed.type === "message.part_end" && part !== undefined) {
    const before = transcript.parts.at(touched);
    if (textOf(before) === textOf(part) && before?.truncated === part.truncated) delete addressed.text;
  } else if (addressed.type === "message.tool_result" && part !== undefined) {
    addressed.part_id = part.id;
    addressed.message_id = part.message_id;
  } else if (
    (addressed.type === "message.tool_call" || addressed.type === "message.tool_call_start") &&
    addressed.part_id !== undefined &&
    part !== undefined
  ) {
    addressed.part_id = part.id;
  }
  return { transcript: finish(fold), frame: addressed };
}

/** See `finalizeTranscript`. */
export interface FinalizeOptions {
  stopped?: boolean | undefined;
  recordsTurnEnds?: boolean | undefined;
}

/**
 * Ends what was left open when the session is next opened: calls become `aborted`, growing parts end. A running turn that ends in
 * the agent's text without an open call is `completed` (older agents write no end of a turn), unless the agent `recordsTurnEnds`.
 * A turn that contains only notes is `completed` too, because nobody has asked for anything in it. Others are `failed`, or
 * `interrupted` if a person `stopped` them. `at`: the time of the session's last activity, in milliseconds since 1970.
 */
export function finalizeTranscript(
  transcript: Transcript,
  at: number,
  { stopped = false, recordsTurnEnds = false }: FinalizeOptions = {},
): Transcript {
  const fold = begin(transcript);
  const cut = stopped ? "interrupted" : "failed";
  const outcome: CallOutcome = { kind: stopped ? "stopped" : "unknown" };
  const turn = lastTurn(fold);
  const first = turn?.first_part ?? 0;
  let ending: TurnStatus = !recordsTurnEnds && endsInText(transcript, first) ? "completed" : cut;
  for (const [, index] of unpairedOf(transcript).open_calls) {
    const part = fold.parts.at(index);
    if (part?.type === "tool_call" && !isFinished(part.state)) {
      replace(fold, index, {
        ...part,
        state: abort(part.state, at, foldTitle("agent_ended"), outcome),
      });
      if (index >= first) ending = cut;
    }
  }
  for (const index of [...fold.positions.running]) {
    const part = fold.parts.at(index);
    if (part?.type !== "tool_call" || part.result_index === undefined) continue;
    replace(fold, index, {
      ...part,
      state: abort(part.state, at, foldTitle("end_not_recorded"), { kind: "unknown" }),
    });
  }
  // Nobody waits for the answer any more.
  for (let index = fold.parts.length - 1; index >= first; index -= 1) {
    const part = fold.parts.at(index);
    if (part?.type === "request" && part.outcome === undefined) {
      replace(fold, index, { ...part, outcome: "cancelled", closed_at: at });
    }
  }
  if (fold.open.awaits_prompt === true && turn?.status === "running") {
    // A turn that waits for its prompt accepts it also later. Nothing in it was cut off unless a model call had begun.
    const onlyNotes = turn.part_count > 0 && fold.open.message_id === undefined;
    const status = fold.open.outcome ?? (onlyNotes ? "completed" : ending);
    const no_end = status === "failed" && fold.open.outcome === undefined;
    changeTurn(fold, turn.index, (waiting) => ({ ...endedTurn(waiting, status, at, no_end), ended_at: at }));
  } else if (fold.open.turn_open && fold.open.awaits_prompt !== true) {
    const { ended_parts } = fold.open;
    closeTurn(fold, at, fold.open.outcome ?? ending, true);
    // The end was inferred: later records of the turn do not count as revisions.
    const { ended_parts: _, ...open } = fold.open;
    fold.open = { ...open, ...(ended_parts === undefined ? {} : { ended_parts }) };
  }
  return finish(fold);
}

/** Whether the agent's last output since `first` is a text. Separators, notices and unknown records after it are ignored. */
function endsInText({ parts }: Transcript, first: number): boolean {
  for (let index = parts.length - 1; index >= first; index -= 1) {
    const type = parts.at(index)?.type;
    if (type !== "step_finish" && type !== "marker" && type !== "unknown") return type === "text";
  }
  return false;
}

// --- One step of the fold ---------------------------------------------------------------------------------------------

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
    ...(base.unloaded === undefined ? {} : { unloaded: base.unloaded }),
    ...(base.unpaired === undefined ? {} : { unpaired: base.unpaired }),
  };
  positions_of.delete(base);
  positions_of.set(next, fold.positions);
  return next;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with one call for each type of frame
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
    case "request.open":
      putRequest(fold, frame);
      return;
    case "request.close":
      closeRequest(fold, frame);
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
      // Without an open turn nothing is growing.
      if (fold.open.turn_open) closeTurn(fold, frame.at);
      return;
    case "session.update":
    case "message.record":
    case "task.finish":
      frame.type satisfies keyof typeof SKIPPED;
      return;
    default:
      frame satisfies never;
  }
}
