import type { SessionSummary } from "../../model/session.ts";
import { t } from "../text/text.ts";

/** The current activity of a running session: thinking, writing, or the running tool with its subject. */
export function activityOf(session: SessionSummary): string | undefined {
  if (session.status !== "running") return undefined;
  const { activity } = session;
  return activity === "text" || activity === "thinking" ? t.activity[activity] : activity;
}
