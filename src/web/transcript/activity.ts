import type { SessionSummary } from "../../model/session.ts";

/** What a running session does now: `thinking`, `writing`, or the tool that it waits for and what that is about. */
export function activityOf(session: SessionSummary): string | undefined {
  if (session.status !== "running") return undefined;
  return session.activity === "text" ? "writing" : session.activity;
}
