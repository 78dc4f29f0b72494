import type { Disposition } from "../contract.ts";

export const SHOWN: Disposition = { kind: "shown" };
/** The rule is a short name that a person reads: what is hidden is counted by it. */
export const hidden = (rule: string): Disposition => ({ kind: "hidden", rule });
/** What the record went into, in words. */
export const folded = (into: string): Disposition => ({ kind: "folded", into });
