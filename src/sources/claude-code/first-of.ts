import type { Disposition } from "../contract.ts";

/** A record that created several things is counted as the most visible one. */
export function firstOf(one: Disposition | undefined, other: Disposition): Disposition {
  const rank = ["shown", "unknown", "folded", "hidden", "unreadable"];
  return one !== undefined && rank.indexOf(one.kind) <= rank.indexOf(other.kind) ? one : other;
}
