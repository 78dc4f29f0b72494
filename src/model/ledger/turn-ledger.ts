import type { Transcript } from "../transcript/transcript-state.ts";
import { type Ledger, ledgerOf } from "./ledger.ts";

/** What a turn (from 1) or all turns of a session changed. `undefined`: the session has no such turn. */
export function turnLedger(
  { turns, parts }: Pick<Transcript, "turns" | "parts">,
  number: number | "all",
): Ledger | undefined {
  if (number === "all") return ledgerOf(parts);
  const turn = turns.at(number - 1);
  if (number < 1 || turn === undefined) return undefined;
  const positions = Array.from({ length: turn.part_count }, (_, at) => turn.first_part + at);
  return ledgerOf(positions.map((position) => parts.at(position)));
}
