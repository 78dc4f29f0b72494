import type { SessionStatus } from "../../model/session.ts";
/** States that the list can be filtered by, in order. `waiting`: the session or a run below it waits for the user. */
export const STATES = [
  "waiting",
  "running",
  "failed",
  "interrupted",
  "completed",
] as const satisfies readonly (SessionStatus | "waiting")[];

export type StateFilter = (typeof STATES)[number];
