import type { Disposition } from "../contract.ts";

export const SHOWN: Disposition = { kind: "shown" };
/** The rule is a short name for people. Hidden records are counted by rule. */
export const hidden = (rule: string): Disposition => ({ kind: "hidden", rule });
/** `into` describes the part or fact that the record changed. */
export const folded = (into: string): Disposition => ({ kind: "folded", into });
