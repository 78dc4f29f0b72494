import type { SessionStatus } from "../../model/session.ts";
/** What the list can be filtered by, in order. `waiting`: for a person's answer, the session's own or a run's below it. */
export const STATES = [
  "waiting",
  "running",
  "failed",
  "interrupted",
  "completed",
] as const satisfies readonly (SessionStatus | "waiting")[];

export type StateFilter = (typeof STATES)[number];
