import { hasNoEnd, isUnread, isWaiting, type SessionSummary } from "./session.ts";
import type { Turn } from "./transcript/transcript.ts";

/**
 * The states of a session, the most urgent first. A session is in exactly one of them.
 *
 * - `waiting`: it, or a run below it, waits for a person: for an approval, an answer, a plan's approval or input.
 * - `working`: its agent, or one of its runs, works.
 * - `failed`: its record says that the last turn failed.
 * - `unknown`: the record of its last turn has no end, and nothing works on it. Whether it finished is not known.
 * - `stopped`: a person stopped the last turn.
 * - `idle`: its last turn ended, and not all of it was seen.
 * - `finished`: its last turn ended, and everything was seen.
 */
export const SESSION_STATES = [
  "waiting",
  "working",
  "failed",
  "unknown",
  "stopped",
  "idle",
  "finished",
] as const;
export type SessionState = (typeof SESSION_STATES)[number];

/**
 * The state of a session. The row's `status_rule` says how it was determined. `waitsBelow`: a run below it waits for a person.
 */
export function sessionState(row: SessionSummary, waitsBelow = false): SessionState {
  if (waitsBelow || isWaiting(row)) return "waiting";
  switch (row.status) {
    case "running":
      return "working";
    case "failed":
      return hasNoEnd(row) ? "unknown" : "failed";
    case "interrupted":
      return "stopped";
    case "completed":
      return isUnread(row) ? "idle" : "finished";
  }
  return row.status satisfies never;
}

/** The state of one turn. `isWaiting`: its session waits for a person. */
export function turnState(
  { status, no_end }: Pick<Turn, "status" | "no_end">,
  isWaiting = false,
): SessionState {
  switch (status) {
    case "running":
      return isWaiting ? "waiting" : "working";
    case "failed":
      return no_end === true ? "unknown" : "failed";
    case "interrupted":
      return "stopped";
    case "completed":
      return "finished";
  }
  return status satisfies never;
}
