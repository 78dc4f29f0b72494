import { kindOf, statusOf } from "../parts/part-kinds.ts";
import { preview } from "../parts/preview.ts";
import { searchText } from "../parts/search-text.ts";
import { toolOf } from "../parts/tool-of.ts";
import type { PartKindName, PartStatusName } from "../search/query.ts";
import type { PartFold } from "../transcript/part-fold.ts";
import { turnOfPart } from "../transcript/positions.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";

/** Maximum length of a part's preview, in characters. */
const PREVIEW = 300;
/** Maximum number of parts per side after the first difference. */
const MAX_PARTS = 200;

/** A part in a comparison. */
export interface ComparedPart {
  part_id: string;
  kind: PartKindName;
  /** Zero-based. */
  turn: number;
  step?: number;
  tool?: string;
  status?: PartStatusName;
  /** The beginning of its text, on one line. */
  preview: string;
}

/** The rest of a session after the common beginning. */
export interface ComparedSide {
  /** Total number of compared parts. */
  parts: number;
  /** At most 200. */
  rest: readonly ComparedPart[];
}

/** The comparison of two sessions. */
export interface Comparison {
  /** Number of equal parts at the beginning. */
  same: number;
  /** The last equal part, in the left session. */
  last_same?: ComparedPart;
  left: ComparedSide;
  right: ComparedSide;
}

interface Compared {
  /** The part as it is shown, made on demand. */
  describe(): ComparedPart;
  /** Equal parts have equal keys. */
  key: string;
}

/** Consecutive ranges of a session's parts, from its first part on, with a transcript in which those of the range are loaded. */
export type Pieces = AsyncIterable<{ transcript: Transcript; from: number; to: number }>;

/** A session that is compared: its parts in pieces, and the total number of compared parts (`ComparedCount`). */
export interface ComparedSession {
  pieces: Pieces;
  count: number;
}

/**
 * Compares two sessions from their beginnings to the first difference: prompts, thoughts, texts, calls and results. Times, ids,
 * tokens and markers are ignored. Reads only the pieces up to the end of what it returns.
 */
export async function compareSessions(left: ComparedSession, right: ComparedSession): Promise<Comparison> {
  const one = comparedParts(left.pieces);
  const other = comparedParts(right.pieces);
  let same = 0;
  let last: Compared | undefined;
  let [here, there] = await Promise.all([one.next(), other.next()]);
  while (here.done !== true && there.done !== true && here.value.key === there.value.key) {
    same += 1;
    last = here.value;
    [here, there] = [await one.next(), await other.next()];
  }
  return {
    same,
    ...(last && { last_same: last.describe() }),
    left: { parts: left.count, rest: await restOf(here, one) },
    right: { parts: right.count, rest: await restOf(there, other) },
  };
}

async function restOf(
  first: IteratorResult<Compared, void>,
  later: AsyncGenerator<Compared, void>,
): Promise<ComparedPart[]> {
  const rest: ComparedPart[] = [];
  for (let next = first; next.done !== true; next = await later.next()) {
    rest.push(next.value.describe());
    if (rest.length === MAX_PARTS) break;
  }
  await later.return();
  return rest;
}

async function* comparedParts(pieces: Pieces): AsyncGenerator<Compared, void> {
  for await (const { transcript, from, to } of pieces) yield* comparedIn(transcript, from, to);
}

function* comparedIn(transcript: Transcript, from: number, to: number): Generator<Compared> {
  let turn = turnOfPart(transcript.turns, from);
  let index = from - 1;
  for (const part of transcript.parts.slice(from, to)) {
    index += 1;
    while ((transcript.turns.at(turn + 1)?.first_part ?? Number.POSITIVE_INFINITY) <= index) turn += 1;
    if (part === undefined || !isCompared(part)) continue;
    // The call of a result may not be loaded. It is compared on its own.
    const tool = part.type === "tool_result" ? undefined : toolAt(part, transcript);
    const number = Math.max(0, turn);
    yield {
      describe: () => describe(part, number, transcript),
      key: JSON.stringify([kindOf(part), tool, statusOf(part), searchText(part)]),
    };
  }
}

/** The number of parts that a comparison compares. */
export class ComparedCount implements PartFold<ComparedCount> {
  count: number;

  constructor(count = 0) {
    this.count = count;
  }

  add({ parts }: Pick<Transcript, "parts">, from: number, to: number): void {
    for (const part of parts.slice(from, to)) if (part !== undefined && isCompared(part)) this.count += 1;
  }

  copy(): ComparedCount {
    return new ComparedCount(this.count);
  }
}

/** Whether a part says what happened, not only how the record was written. */
function isCompared(part: TranscriptPart): boolean {
  if (part.retracted !== undefined) return false;
  if (part.type === "thinking") return part.thinking.trim() !== "";
  if (part.type === "marker") return COMPARED_MARKERS.has(part.kind);
  return !NOT_COMPARED.has(part.type);
}
const NOT_COMPARED: ReadonlySet<TranscriptPart["type"]> = new Set(["step_start", "step_finish", "unknown"]);
const COMPARED_MARKERS: ReadonlySet<string> = new Set(["compaction", "interrupt", "error"]);

function describe(part: TranscriptPart, turn: number, transcript: Transcript): ComparedPart {
  const tool = toolAt(part, transcript);
  const status = statusOf(part);
  return {
    part_id: part.id,
    kind: kindOf(part),
    turn,
    ...(part.step !== undefined && part.type !== "prompt" && { step: part.step }),
    ...(tool !== undefined && { tool }),
    ...(status !== undefined && { status }),
    preview: preview(searchText(part), PREVIEW),
  };
}

const toolAt = (part: TranscriptPart, { parts }: Transcript): string | undefined =>
  toolOf(part, (index) => parts.at(index));
