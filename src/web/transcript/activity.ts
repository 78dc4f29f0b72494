import type { SessionSummary } from "../../model/session.ts";
import { t } from "../text/text.ts";

/** What a running session does now: `thinking`, `writing`, or the tool that it waits for and what that is about. */
export function activityOf(session: SessionSummary): string | undefined {
  if (session.status !== "running") return undefined;
  const { activity } = session;
  return activity === "text" || activity === "thinking" ? t.activity[activity] : activity;
}
