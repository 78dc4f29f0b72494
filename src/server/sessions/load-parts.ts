import { daemonText } from "../../model/text/daemon-texts.ts";
import { callPositionOf, positionOf } from "../../model/transcript/accumulate.ts";
import { sequenceOf } from "../../model/transcript/sequence.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { truncateForOverview } from "../../model/truncate/truncate.ts";
import { MAX_OVERVIEW_PARTS } from "../../protocol.ts";
import { Refused } from "./refused.ts";
import type { OpenSession } from "./sessions.ts";

/** Number of parts that are requested at a time while all parts of a session are read. */
const PIECE = 2_000;

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
  const position = positionOf(open.transcript, part_id);
  return position ?? (isUnloaded(open) ? await open.locate?.(part_id) : undefined);
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
    // A reader that resumes may return one part fewer, if a record refers to one far before it (decision 30).
    if (to === from) to += 1;
    yield { transcript, from, to };
    from = to;
  }
}

type Parts = readonly (TranscriptPart | undefined)[];

interface Overview {
  readonly epoch: string;
  /** The parts that are not in the view, truncated. They do not change while the epoch lasts. */
  readonly before: Promise<Parts>;
  /** The newest overview, and the view that it was made from. */
  newest?: { readonly view: Transcript; readonly overview: Transcript };
}

const overviews = new WeakMap<OpenSession, Overview>();

/**
 * A transcript with all parts of the session. In a session whose parts do not all fit in memory, texts, arguments and outputs are
 * truncated to their first lines. Throws a `Refused` (413 `too_long`) if there are too many parts for that too.
 */
export async function overviewOf(open: OpenSession): Promise<Transcript> {
  if (!isUnloaded(open)) return open.transcript;
  const known = overviewFor(open);
  const before = await known.before;
  const view = open.transcript;
  if (known.newest?.view === view) return known.newest.overview;
  const overview = withParts(view, [...before, ...view.parts.slice(before.length)]);
  known.newest = { view, overview };
  return overview;
}

/** Like `overviewOf`, but the parts before a position are whole, about as many as a model call can contain. */
export async function overviewBefore(open: OpenSession, position: number): Promise<Transcript> {
  const overview = await overviewOf(open);
  if (!isUnloaded(open)) return overview;
  for (let count = PIECE; count > 1; count = Math.floor(count / 4)) {
    const from = Math.max(0, position - count);
    const transcript = await loadParts(open, from, position + 1);
    if (transcript.parts.at(position) === undefined) continue;
    const parts = [...overview.parts];
    for (let index = from; index <= position; index += 1) parts[index] = transcript.parts.at(index);
    return withParts(overview, parts);
  }
  return overview;
}

function withParts({ unloaded: _, unpaired: __, ...transcript }: Transcript, parts: Parts): Transcript {
  return { ...transcript, parts: sequenceOf(parts) };
}

function overviewFor(open: OpenSession): Overview {
  const { epoch, transcript } = open;
  if (transcript.parts.length > MAX_OVERVIEW_PARTS)
    throw new Refused(
      413,
      "too_long",
      daemonText("view_too_long", { parts: transcript.parts.length }),
      daemonText("choose_turn"),
    );
  const known = overviews.get(open);
  if (known?.epoch === epoch) return known;
  const overview = { epoch, before: readOverview(open) };
  overviews.set(open, overview);
  // Failures are not cached.
  overview.before.catch(() => overviews.delete(open));
  return overview;
}

async function readOverview(open: OpenSession): Promise<Parts> {
  const { unloaded = 0 } = open.transcript;
  const parts = Array.from({ length: unloaded }, (): TranscriptPart | undefined => undefined);
  for await (const { transcript, from, to } of loadPieces(open, 0, unloaded))
    for (const [at, part] of transcript.parts.slice(from, to).entries())
      if (part) parts[from + at] = truncateForOverview(part);
  return parts;
}

const isUnloaded = ({ transcript }: OpenSession): boolean => transcript.unloaded !== undefined;
