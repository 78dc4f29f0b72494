import { loadedItems, type Sequence } from "./sequence.ts";
import type { TranscriptPart, Turn } from "./transcript.ts";

/** Positions of a transcript's parts by id, so that a frame finds its part without a search. */
export interface Positions {
  readonly parts: Map<string, number>;
  /** The newest call with an id and its result. One of them may be missing. */
  readonly calls: Map<string, { readonly call?: number; readonly result?: number }>;
  readonly messages: Map<string, MessagePosition>;
  /** Growing text and thinking parts. */
  readonly open: Set<number>;
  /** Running calls, including those whose arguments are incomplete. */
  readonly running: Set<number>;
  /** Indexes in `turns` by turn id. */
  readonly turns: Map<string, number>;
}
export interface MessagePosition {
  readonly step?: number;
  readonly step_start?: number;
  readonly step_finish?: number;
  /** All of the message's parts are in `[first, last]`. */
  readonly first: number;
  readonly last: number;
}

/** Calls without a result and results without a call, by id, also if the part is not loaded. */
export interface Unpaired {
  readonly open_calls: readonly (readonly [string, number])[];
  readonly orphan_results: readonly (readonly [string, number])[];
}

/** Records whether the part at a position is growing. */
export function placeGrowth(positions: Positions, part: TranscriptPart, index: number): void {
  if ((part.type === "text" || part.type === "thinking") && part.open === true) positions.open.add(index);
  else positions.open.delete(index);
}

/** Records a new or changed part at a position. */
export function place(positions: Positions, part: TranscriptPart, index: number): void {
  placeGrowth(positions, part, index);
  // Ids are unique only within a message: of equal ones the newest counts.
  positions.parts.set(part.id, index);
  const known = positions.messages.get(part.message_id);
  // A changed part does not affect the range of its message.
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

/** Computes the positions of a whole transcript. */
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
  for (const [index, part] of loadedItems(parts)) place(positions, part, index);
  for (const turn of turns) if (turn !== undefined) positions.turns.set(turn.id, turn.index);
  return positions;
}

/** The turn that contains a position; −1 if there are no turns. */
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
