import type { Transcript } from "../transcript/transcript-state.ts";
import { type Ledger, ledgerOf } from "./ledger.ts";

/** The changes of a turn (one-based) or of all turns. `undefined`: no such turn. */
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
