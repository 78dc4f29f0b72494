import { kindOf, statusOf } from "../parts/part-kinds.ts";
import { preview } from "../parts/preview.ts";
import { searchText } from "../parts/search-text.ts";
import { toolOf } from "../parts/tool-of.ts";
import type { PartKindName, PartStatusName } from "../search/query.ts";
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
  part: TranscriptPart;
  turn: number;
  /** Equal parts have equal keys. */
  key: string;
}

/**
 * Compares two sessions from their beginnings to the first difference: prompts, thoughts, texts, calls and results. Times, ids,
 * tokens and markers are ignored.
 */
export function compareTranscripts(left: Transcript, right: Transcript): Comparison {
  const one = comparedParts(left);
  const other = comparedParts(right);
  let same = 0;
  while (same < one.length && one[same]?.key === other[same]?.key) same += 1;
  const last = one[same - 1];
  return {
    same,
    ...(last && { last_same: describe(last, left) }),
    left: sideOf(one, same, left),
    right: sideOf(other, same, right),
  };
}

function comparedParts(transcript: Transcript): Compared[] {
  const compared: Compared[] = [];
  let turn = -1;
  let index = -1;
  for (const part of transcript.parts) {
    index += 1;
    while ((transcript.turns.at(turn + 1)?.first_part ?? Number.POSITIVE_INFINITY) <= index) turn += 1;
    if (part === undefined || part.retracted !== undefined || !isCompared(part)) continue;
    const key = JSON.stringify([kindOf(part), toolAt(part, transcript), statusOf(part), searchText(part)]);
    compared.push({ part, turn: Math.max(0, turn), key });
  }
  return compared;
}

/** Whether a part says what happened, not only how the record was written. */
function isCompared(part: TranscriptPart): boolean {
  if (part.type === "thinking") return part.thinking.trim() !== "";
  if (part.type === "marker") return COMPARED_MARKERS.has(part.kind);
  return !NOT_COMPARED.has(part.type);
}
const NOT_COMPARED: ReadonlySet<TranscriptPart["type"]> = new Set(["step_start", "step_finish", "unknown"]);
const COMPARED_MARKERS: ReadonlySet<string> = new Set(["compaction", "interrupt", "error"]);

const sideOf = (parts: readonly Compared[], from: number, transcript: Transcript): ComparedSide => ({
  parts: parts.length,
  rest: parts.slice(from, from + MAX_PARTS).map((part) => describe(part, transcript)),
});

function describe({ part, turn }: Compared, transcript: Transcript): ComparedPart {
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
