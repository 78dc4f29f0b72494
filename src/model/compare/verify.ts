import { sourceText } from "../transcript/source-text.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";

/** A part that differs between two transcripts, or that one of them lacks. */
export interface PartDifference {
  index: number;
  part_id: string;
  /** Excerpts of the part's JSON on each side, around the first difference. Absent if that side lacks the part. */
  shown?: string;
  reread?: string;
  /** Where the part's record is, for display. */
  place?: string;
}

/** The comparison of a transcript that was followed live with one that was read again from its record. */
export interface Verification {
  /** Number of parts on each side. */
  shown: number;
  reread: number;
  /** The first part that differs, or that one of the two lacks. Absent: they are equal. */
  difference?: PartDifference;
}

/** A difference with excerpts of both parts. `shown` and `reread` are results of `comparedText`. */
export function describeDifference(
  index: number,
  { id, source }: Pick<TranscriptPart, "id" | "source">,
  shown: string | undefined,
  reread: string | undefined,
): PartDifference {
  const from = firstDifference(shown ?? "", reread ?? "");
  return {
    index,
    part_id: id,
    ...(shown !== undefined && { shown: excerpt(shown, from) }),
    ...(reread !== undefined && { reread: excerpt(reread, from) }),
    ...(source !== undefined && { place: sourceText(source) }),
  };
}

/** Characters of an excerpt before and after the first difference. */
const BEFORE = 80;
const AFTER = 240;

function firstDifference(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  for (let at = 0; at < end; at += 1) if (one[at] !== other[at]) return at;
  return end;
}

function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - BEFORE);
  const cut = text.slice(from, at + AFTER).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${at + AFTER < text.length ? "…" : ""}`;
}

/**
 * A part as JSON with its members in alphabetical order. Links to runs and ends of calls with an unknown outcome are left out:
 * the daemon adds them, so they are not in the record.
 */
export function comparedText(part: TranscriptPart): string {
  if (part.type !== "tool_call") return canonicalJson(part);
  const { run: _, state, ...call } = part;
  const isUnknown = state.status === "aborted" && state.outcome?.kind === "unknown";
  return canonicalJson({ ...call, state: isUnknown || state.status === "running" ? "no result" : state });
}

const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
