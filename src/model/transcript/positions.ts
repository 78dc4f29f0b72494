import type { Sequence } from "./sequence.ts";
import type { TranscriptPart, Turn } from "./transcript.ts";

/** Where things stand in a transcript: positions in its parts, so that a frame finds its part without a search. */
export interface Positions {
  readonly parts: Map<string, number>;
  /** The newest call of an id and its result; one of them may be missing so far. */
  readonly calls: Map<string, { readonly call?: number; readonly result?: number }>;
  readonly messages: Map<string, MessagePosition>;
  /** Text and thinking that still grow. */
  readonly open: Set<number>;
  /** Calls that run: one whose arguments never came whole is kept as that. */
  readonly running: Set<number>;
  /** Turns by id: positions in `turns`. */
  readonly turns: Map<string, number>;
}
export interface MessagePosition {
  readonly step?: number;
  readonly step_start?: number;
  readonly step_finish?: number;
  /** All of the message's parts lie in `[first, last]`. */
  readonly first: number;
  readonly last: number;
}

/** Calls without a result, and results without a call, by id: known to stand there even where the part is not loaded. */
export interface Unpaired {
  readonly open_calls: readonly (readonly [string, number])[];
  readonly orphan_results: readonly (readonly [string, number])[];
}

/** Records whether the part at a position still grows. */
export function placeGrowth(positions: Positions, part: TranscriptPart, index: number): void {
  if ((part.type === "text" || part.type === "thinking") && part.open === true) positions.open.add(index);
  else positions.open.delete(index);
}

/** Records the part at a position: a new one, or another value of the one that stood there. */
export function place(positions: Positions, part: TranscriptPart, index: number): void {
  placeGrowth(positions, part, index);
  // Ids are unique within a message only: of equal ones the newest is meant.
  positions.parts.set(part.id, index);
  const known = positions.messages.get(part.message_id);
  // One that stood there before changes nothing of what is known of its message.
  if (known === undefined || index > known.last) {
    const step = known?.step ?? part.step;
    positions.messages.set(part.message_id, {
      ...known,
      ...(step === undefined ? {} : { step }),
      ...(part.type === "step_start" ? { step_start: index } : {}),
      ...(part.type === "step_finish" ? { step_finish: index } : {}),
      first: known?.first ?? index,
      last: index,
    });
  }
  if (part.type === "tool_call" && part.state.status === "running") positions.running.add(index);
  else positions.running.delete(index);
  if (part.type === "tool_call" && index >= (positions.calls.get(part.tool_call_id)?.call ?? 0)) {
    positions.calls.set(part.tool_call_id, {
      call: index,
      ...(part.result_index === undefined ? {} : { result: part.result_index }),
    });
  }
  if (part.type === "tool_result") {
    const pair = positions.calls.get(part.tool_call_id);
    const call = part.call_index ?? -1;
    if (call >= (pair?.call ?? -1)) {
      positions.calls.set(part.tool_call_id, {
        result: index,
        ...(part.call_index === undefined ? {} : { call: part.call_index }),
      });
    }
  }
}

/** The positions of a whole transcript, found by reading it once. */
export function findPositions(
  turns: Sequence<Turn>,
  parts: Sequence<TranscriptPart>,
  unpaired: Unpaired | undefined,
): Positions {
  const positions: Positions = {
    parts: new Map(),
    calls: new Map(),
    messages: new Map(),
    open: new Set(),
    running: new Set(),
    turns: new Map(),
  };
  for (const [id, result] of unpaired?.orphan_results ?? []) positions.calls.set(id, { result });
  for (const [id, call] of unpaired?.open_calls ?? []) positions.calls.set(id, { call });
  let index = 0;
  for (const part of parts) {
    if (part !== undefined) place(positions, part, index);
    index += 1;
  }
  for (const turn of turns) if (turn !== undefined) positions.turns.set(turn.id, turn.index);
  return positions;
}

/** The turn that contains the part at a position; −1 without turns. */
export function turnOfPart(turns: Sequence<Turn>, position: number): number {
  let low = 0;
  let high = turns.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    const turn = turns.at(middle);
    if (turn !== undefined && turn.first_part <= position) low = middle;
    else high = middle - 1;
  }
  return turns.length === 0 ? -1 : low;
}
