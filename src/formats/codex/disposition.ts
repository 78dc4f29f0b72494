import type { Disposition } from "../format.ts";

export const SHOWN: Disposition = { kind: "shown" };
export const hidden = (rule: string): Disposition => ({ kind: "hidden", rule });
export const folded = (into: string): Disposition => ({ kind: "folded", into });
