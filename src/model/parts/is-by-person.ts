import type { TranscriptPart } from "../transcript/transcript.ts";

/**
 * Whether a person wrote a part. The prompts of a sub-agent are written by its parent, so filters for a person's text exclude
 * runs.
 */
export function isByPerson(part: TranscriptPart): boolean {
  return (
    (part.type === "prompt" && part.origin === undefined) ||
    (part.type === "request" && part.answer !== undefined) ||
    (part.type === "legacy" && part.role === "user")
  );
}
