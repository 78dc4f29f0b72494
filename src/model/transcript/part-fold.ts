import { turnOfPart } from "./positions.ts";
import type { Turn } from "./transcript.ts";
import type { Transcript } from "./transcript-state.ts";

/**
 * Derives a view of a session from its parts, which are added in order, so that they need not all be in memory. Its own size is
 * bounded, or a few bytes per part.
 */
export interface PartFold<Self = unknown> {
  /** Adds the parts `[from, to)`, which follow those added before. They are loaded in `transcript`, with the results of their calls. */
  add(transcript: Transcript, from: number, to: number): void;
  /** A fold with the same parts, to which others can be added. */
  copy(): Self;
}

/** Adds all parts of a transcript to a fold. */
export function withAllParts<Fold extends PartFold>(fold: Fold, transcript: Transcript): Fold {
  fold.add(transcript, 0, transcript.parts.length);
  return fold;
}

/** The turns of the parts `[from, to)`, each with its range of these parts. */
export function* turnsIn(
  { turns }: Pick<Transcript, "turns">,
  from: number,
  to: number,
): Generator<{ turn: Turn; from: number; to: number }> {
  for (let number = Math.max(0, turnOfPart(turns, from)); number < turns.length; number += 1) {
    const turn = turns.at(number);
    if (turn === undefined) continue;
    if (turn.first_part >= to) return;
    const end = Math.min(to, turn.first_part + turn.part_count);
    const begin = Math.max(from, turn.first_part);
    if (begin < end) yield { turn, from: begin, to: end };
  }
}
