import { callPositionOf, fillParts, type PlacedPart, positionOf } from "../../model/transcript/accumulate.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { truncateForOverview } from "../../model/truncate/truncate.ts";
import { Refused } from "./refused.ts";
import type { OpenSession } from "./sessions.ts";

/** Number of parts that are requested at a time while all parts of a session are read. */
const PIECE = 2_000;
/** Maximum number of parts in an overview. */
const MAX_OVERVIEW = 400_000;

/** The session's transcript with the parts `[from, to)` loaded, as far as they fit in memory. */
export async function loadParts(open: OpenSession, from: number, to: number): Promise<Transcript> {
  return open.load && isUnloaded(open) ? await open.load(from, to) : open.transcript;
}

/**
 * The session's transcript with the parts of a turn (from 1) loaded. If the turn does not fit in memory, its texts, arguments and
 * outputs are truncated as in `overviewOf`.
 */
export async function loadTurn(open: OpenSession, number: number): Promise<Transcript> {
  const turn = open.transcript.turns.at(number - 1);
  if (turn === undefined || turn.part_count === 0) return open.transcript;
  const last = turn.first_part + turn.part_count - 1;
  const transcript = await loadParts(open, turn.first_part, last + 1);
  return transcript.parts.at(last) === undefined ? await overviewOf(open) : transcript;
}

/** The position of a part in the whole session. */
export async function locatePart(open: OpenSession, part_id: string): Promise<number | undefined> {
  return positionOf(open.transcript, part_id) ?? (await open.locate?.(part_id));
}

/** The position of a call in the whole session, by the agent's id of the call. */
export async function locateCall(open: OpenSession, tool_call_id: string): Promise<number | undefined> {
  const position = callPositionOf(open.transcript, tool_call_id);
  return position ?? (isUnloaded(open) ? callPositionOf(await overviewOf(open), tool_call_id) : undefined);
}

/** A part of the session with the transcript that has it loaded. */
export async function loadPart(open: OpenSession, part_id: string) {
  const index = await locatePart(open, part_id);
  if (index === undefined) return undefined;
  const transcript = await loadParts(open, index, index + 1);
  const part = transcript.parts.at(index);
  return part && { index, part, transcript };
}

/** Consecutive ranges of parts, with a transcript in which the parts of the range are loaded. */
export async function* loadPieces(
  open: OpenSession,
  first = 0,
  end = open.transcript.parts.length,
): AsyncGenerator<{ transcript: Transcript; from: number; to: number }> {
  for (let from = first; from < end; ) {
    const before = Math.min(end, open.transcript.unloaded ?? 0);
    const wanted = from < before ? Math.min(before, from + PIECE) : end;
    const transcript = await loadParts(open, from, wanted);
    let to = from;
    while (to < wanted && transcript.parts.at(to) !== undefined) to += 1;
    // The record of the parts no longer exists.
    if (to === from) return;
    yield { transcript, from, to };
    from = to;
  }
}

const overviews = new WeakMap<OpenSession, { epoch: string; parts: Promise<readonly PlacedPart[]> }>();

/**
 * A transcript with all parts of the session. In a session whose parts do not all fit in memory, texts, arguments and outputs are
 * truncated to their first lines. Throws a `Refused` (413 `too_long`) if there are too many parts for that too.
 */
export async function overviewOf(open: OpenSession): Promise<Transcript> {
  const { transcript } = open;
  if (!isUnloaded(open)) return transcript;
  if (transcript.parts.length > MAX_OVERVIEW)
    throw new Refused(
      413,
      "too_long",
      `The session has ${transcript.parts.length} parts, which is too many for this view of all of them.`,
      "Choose a single turn.",
    );
  return fillParts(transcript, await overviewParts(open));
}

/**
 * Like `overviewOf`, but the parts before a position are whole, about as many as a model call can contain.
 */
export async function overviewBefore(open: OpenSession, position: number): Promise<Transcript> {
  const overview = await overviewOf(open);
  if (!isUnloaded(open)) return overview;
  for (let count = PIECE; count > 1; count = Math.floor(count / 4)) {
    const transcript = await loadParts(open, Math.max(0, position - count), position + 1);
    if (transcript.parts.at(position)) return fillParts(transcript, await overviewParts(open));
  }
  return overview;
}

/** The truncated parts that are not in the view. They do not change while its epoch lasts. */
function overviewParts(open: OpenSession): Promise<readonly PlacedPart[]> {
  const { epoch } = open;
  const known = overviews.get(open);
  if (known?.epoch === epoch) return known.parts;
  const parts = readOverview(open);
  overviews.set(open, { epoch, parts });
  // Failures are not cached.
  parts.catch(() => overviews.delete(open));
  return parts;
}

async function readOverview(open: OpenSession): Promise<PlacedPart[]> {
  const placed: PlacedPart[] = [];
  for await (const { transcript, from, to } of loadPieces(open, 0, open.transcript.unloaded ?? 0))
    for (const [at, part] of transcript.parts.slice(from, to).entries())
      if (part) placed.push({ index: from + at, part: truncateForOverview(part) });
  return placed;
}

const isUnloaded = ({ transcript }: OpenSession): boolean => transcript.unloaded !== undefined;
