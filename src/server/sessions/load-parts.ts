import { positionOf } from "../../model/transcript/accumulate.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { truncateForOverview } from "../../model/truncate/truncate.ts";
import { CUT_OFF } from "./refused.ts";
import type { OpenSession } from "./sessions.ts";

/** Number of parts that are requested at a time while all parts of a session are read. */
const PIECE = 2_000;
/** Maximum number of truncated parts of a turn that are loaded together. */
const MAX_TURN_PARTS = 100_000;

/** The session's transcript with the parts `[from, to)` loaded, as far as they fit in memory. */
export async function loadParts(open: OpenSession, from: number, to: number): Promise<Transcript> {
  return open.load && isUnloaded(open) ? await open.load(from, to) : open.transcript;
}

/**
 * The session's transcript with the parts of a turn (from 1) loaded. If the turn does not fit in memory, its texts, arguments and
 * outputs are truncated to their first lines, and parts after the first `MAX_TURN_PARTS` are left out.
 */
export async function loadTurn(open: OpenSession, number: number): Promise<Transcript> {
  const turn = open.transcript.turns.at(number - 1);
  if (turn === undefined || turn.part_count === 0) return open.transcript;
  const end = turn.first_part + turn.part_count;
  const whole = await loadParts(open, turn.first_part, end);
  // The last part may be loaded as the result of an early call.
  if (!whole.parts.slice(turn.first_part, end).includes(undefined)) return whole;
  let { parts } = open.transcript;
  const last = Math.min(end, turn.first_part + MAX_TURN_PARTS);
  for await (const { transcript, from, to } of loadPieces(open, turn.first_part, last))
    for (const [at, part] of transcript.parts.slice(from, to).entries()) {
      if (part === undefined) continue;
      parts = parts.set(from + at, truncateForOverview(part));
      // The result of a call may be in a later turn.
      const result_index = part.type === "tool_call" ? part.result_index : undefined;
      const result = result_index === undefined ? undefined : transcript.parts.at(result_index);
      if (result_index !== undefined && result) parts = parts.set(result_index, truncateForOverview(result));
    }
  return { ...open.transcript, parts };
}

/** The position of a part in the whole session. */
export async function locatePart(open: OpenSession, part_id: string): Promise<number | undefined> {
  const position = positionOf(open.transcript, part_id);
  return position ?? (isUnloaded(open) ? await open.locate?.(part_id) : undefined);
}

/** A part of the session with the transcript that has it loaded. */
export async function loadPart(open: OpenSession, part_id: string) {
  const index = await locatePart(open, part_id);
  if (index === undefined) return undefined;
  const transcript = await loadParts(open, index, index + 1);
  const part = transcript.parts.at(index);
  return part && { index, part, transcript };
}

/** A range of parts `[from, to)`, with a transcript in which they are loaded. */
export interface Piece {
  transcript: Transcript;
  from: number;
  to: number;
}

/** Pieces until a request is aborted. Then throws `CUT_OFF`. */
export async function* untilAborted(
  pieces: AsyncIterable<Piece>,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    if (signal.aborted) throw CUT_OFF;
    yield piece;
  }
}

/** Consecutive ranges of parts, with a transcript in which the parts of the range are loaded. */
export async function* loadPieces(
  open: OpenSession,
  first = 0,
  end = open.transcript.parts.length,
): AsyncGenerator<Piece> {
  for (let from = first; from < end; ) {
    const before = Math.min(end, open.transcript.unloaded ?? 0);
    const wanted = from < before ? Math.min(before, from + PIECE) : end;
    const transcript = await loadParts(open, from, wanted);
    let to = from;
    while (to < wanted && transcript.parts.at(to) !== undefined) to += 1;
    // A reader that resumes may return one part fewer, if a record refers to one far before it (decision 30).
    if (to === from) to += 1;
    yield { transcript, from, to };
    from = to;
  }
}

/** Whether parts of the session are not in its view. */
export const isUnloaded = ({ transcript }: OpenSession): boolean => transcript.unloaded !== undefined;
