import type { TranscriptPart } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";

/** How a transcript that was followed live compares with one that was read anew from its record. */
export interface Verification {
  /** Parts of each. */
  shown: number;
  reread: number;
  /** The first part that differs, or that one of the two lacks. Absent: they are equal. */
  difference?: { index: number; part_id: string };
}

/** Compares part by part, in order. */
export function verify(shown: Transcript, reread: Transcript): Verification {
  const counts = { shown: shown.parts.length, reread: reread.parts.length };
  for (let index = 0; index < Math.max(counts.shown, counts.reread); index += 1) {
    const one = shown.parts.at(index);
    const other = reread.parts.at(index);
    if (one !== undefined && other !== undefined && isSame(one, other)) continue;
    const part = one ?? other;
    if (part !== undefined) return { ...counts, difference: { index, part_id: part.id } };
  }
  return counts;
}

/** The parts of a transcript as one text a line, as `verify` compares them: what a digest of a transcript is made of. */
export function* comparedLines({ parts }: Transcript): Generator<string> {
  for (const part of parts) if (part !== undefined) yield `${comparable(part)}\n`;
}

const isSame = (one: TranscriptPart, other: TranscriptPart): boolean => comparable(one) === comparable(other);

/** Runs are linked by the daemon from other files, and it ends calls whose agent is gone: neither is in the record. */
function comparable(part: TranscriptPart): string {
  if (part.type !== "tool_call") return JSON.stringify(part);
  const { run: _, state, ...call } = part;
  const isUnknown = state.status === "aborted" && state.outcome?.kind === "unknown";
  return JSON.stringify({ ...call, state: isUnknown || state.status === "running" ? "no result" : state });
}
