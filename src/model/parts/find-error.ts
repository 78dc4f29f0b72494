import { turnOfPart } from "../transcript/positions.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { isError } from "./part-kinds.ts";

/**
 * The first failure at or after a position (1), or at or before it (−1). Turns without errors are skipped. `is_missing`: the
 * search reached a part that is not loaded. `undefined`: there is none.
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
