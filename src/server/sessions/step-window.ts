import { turnOfPart } from "../../model/transcript/positions.ts";
import { sparseSequence } from "../../model/transcript/sequence.ts";
import type { TranscriptPart, Turn } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { truncateForOverview } from "../../model/truncate/truncate.ts";
import { loadParts, loadPieces, untilAborted } from "./load-parts.ts";
import type { OpenSession } from "./sessions.ts";

/** Maximum number of parts before a step that are read: more than a model's input has. */
const MAX_PARTS = 20_000;
/** Number of these parts that are whole. The texts and outputs of those before are truncated to their first lines. */
const WHOLE = 2_000;

/** The parts around a step of a session that does not fit in memory. */
export interface StepWindow {
  /** The session with only these parts: from a compaction before the previous step, to the end of the step. */
  transcript: Transcript;
  /** Number of steps before the first one in the window. */
  steps_before: number;
  /** Earlier parts that may belong to the step's input are left out. */
  is_cut: boolean;
}

/** The number of steps in a session, or of those before a turn. */
export function countSteps({ turns }: Transcript, before = turns.length): number {
  return turns.slice(0, before).reduce((sum, turn) => sum + (turn?.steps ?? 0), 0);
}

/** The position of a step (from 1). `undefined`: there is no such step. */
export async function locateStep(
  open: OpenSession,
  number: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  let left = number;
  const turn = [...open.transcript.turns].find((each) => {
    if (each !== undefined && each.steps >= left) return true;
    left -= each?.steps ?? 0;
    return false;
  });
  if (turn === undefined || number < 1) return undefined;
  const pieces = loadPieces(open, turn.first_part, turn.first_part + turn.part_count);
  for await (const { transcript, from, to } of untilAborted(pieces, signal)) {
    const at = transcript.parts
      .slice(from, to)
      .findIndex((part) => part?.type === "step_start" && part.step === left);
    if (at >= 0) return from + at;
  }
  return undefined;
}

/**
 * The parts around the last step that begins at or before a position. `isForSearch`: it contains as many earlier steps as
 * possible.
 */
export async function stepWindow(
  open: OpenSession,
  position: number,
  { isForSearch, signal }: { isForSearch: boolean; signal: AbortSignal },
): Promise<StepWindow> {
  const { transcript } = open;
  let parts = await withEnd(open, position);
  let first: TranscriptPart | undefined;
  let first_turn: Turn | undefined;
  let steps = 0;
  let from = position + 1;
  while (from > 0 && position - from < MAX_PARTS) {
    const before = await partsOf(open, Math.max(0, from - WHOLE), from, signal);
    for (const part of before.toReversed()) {
      from -= 1;
      if (part === undefined) continue;
      parts = parts.set(from, position - from < WHOLE ? part : truncateForOverview(part));
      if (part.type === "step_start") {
        steps += 1;
        first = part;
        first_turn = transcript.turns.at(turnOfPart(transcript.turns, from));
      }
      const isCompaction =
        part.type === "marker" && part.kind === "compaction" && part.retracted === undefined;
      if (isCompaction && steps >= 2 && !isForSearch) return windowOf(false);
    }
  }
  return windowOf(from > 0);

  function windowOf(is_cut: boolean): StepWindow {
    const steps_before = countSteps(transcript, first_turn?.index ?? 0) + (first?.step ?? 1) - 1;
    return { transcript: { ...transcript, parts }, steps_before, is_cut };
  }
}

/** Only the parts after a position up to the end of its step. */
async function withEnd(open: OpenSession, position: number): Promise<Transcript["parts"]> {
  const { length } = open.transcript.parts;
  let parts = sparseSequence<TranscriptPart>(length);
  const { parts: loaded } = await loadParts(open, position, Math.min(length, position + WHOLE));
  for (let index = position + 1; index < length; index += 1) {
    const part = loaded.at(index);
    if (part === undefined || part.type === "step_start") break;
    parts = parts.set(index, part);
    if (part.type === "step_finish") break;
  }
  return parts;
}

async function partsOf(open: OpenSession, from: number, to: number, signal: AbortSignal) {
  const parts: (TranscriptPart | undefined)[] = [];
  for await (const piece of untilAborted(loadPieces(open, from, to), signal))
    parts.push(...piece.transcript.parts.slice(piece.from, piece.to));
  return parts;
}
