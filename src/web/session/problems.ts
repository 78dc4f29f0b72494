import { turnOfPart } from "../../model/positions.ts";
import { PAGE_SIZE } from "../../protocol.ts";
import type { OpenSession } from "../open-session.ts";
import { isError } from "./layout.ts";

/**
 * The next (1) or previous (−1) failure from a position on. Turns that count no error are passed over without loading
 * them; of the others the pages are fetched that are not here. `undefined`: there is none in that direction.
 */
export async function findError(session: OpenSession, from: number, by: 1 | -1): Promise<number | undefined> {
  const start = session.state.getState().transcript;
  if (start === undefined) return undefined;
  for (let turn = turnOfPart(start.turns, from); turn >= 0 && turn < start.turns.length; turn += by) {
    const here = start.turns.at(turn);
    if (here === undefined || here.errors === 0) continue;
    const end = start.turns.at(turn + 1)?.first_part ?? start.parts.length;
    let index = by === 1 ? Math.max(here.first_part, from + 1) : Math.min(end - 1, from - 1);
    for (; index >= here.first_part && index < end; index += by) {
      if (session.partAt(index) === undefined) {
        const page = Math.floor(index / PAGE_SIZE) * PAGE_SIZE;
        await session.load(page, page + PAGE_SIZE);
      }
      const part = session.partAt(index);
      // What could not be loaded cannot be searched: better to stop there than to pass over a failure.
      if (part === undefined) return index;
      if (isError(part)) return index;
    }
  }
  return undefined;
}
