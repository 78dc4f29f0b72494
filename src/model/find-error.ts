import type { Transcript } from "./accumulate.ts";
import { turnOfPart } from "./positions.ts";
import type { TranscriptPart } from "./transcript.ts";

/** A failure that a reader may be looking for: those that a turn's `errors` counts, on the rows that show them. */
export function isError(part: TranscriptPart): boolean {
  if (part.retracted !== undefined) return false;
  switch (part.type) {
    case "tool_call":
      return part.state.status === "error";
    case "tool_result":
      return part.call_index === undefined && part.is_error;
    case "marker":
      return part.kind === "error";
    case "unknown":
    case "thinking":
    case "text":
    case "image":
    case "file":
    case "prompt":
    case "step_start":
    case "step_finish":
    case "request":
    case "legacy":
      return false;
  }
  return part satisfies never;
}

/**
 * The first failure downwards (1) or upwards (−1) from a position, that included. Turns that count no error are passed over.
 * `is_missing`: the search came to a part that is not here. `undefined`: there is none.
 */
export function findError(
  { turns, parts }: Pick<Transcript, "turns" | "parts">,
  from: number,
  by: 1 | -1,
): { index: number; is_missing: boolean } | undefined {
  const start = Math.min(Math.max(from, 0), parts.length - 1);
  for (let turn = turnOfPart(turns, start); turn >= 0 && turn < turns.length; turn += by) {
    const here = turns.at(turn);
    if (here === undefined || here.errors === 0) continue;
    const end = turns.at(turn + 1)?.first_part ?? parts.length;
    let index = by === 1 ? Math.max(here.first_part, from) : Math.min(end - 1, from);
    for (; index >= here.first_part && index < end; index += by) {
      const part = parts.at(index);
      if (part === undefined) return { index, is_missing: true };
      if (isError(part)) return { index, is_missing: false };
    }
  }
  return undefined;
}
