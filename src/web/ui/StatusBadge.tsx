import type { ReactNode } from "react";

export type BadgeStatus = "running" | "ok" | "failed";

const WORDS: Record<BadgeStatus, string> = { running: "[RUNNING]", ok: "[OK]", failed: "[FAILED]" };

const OF_STATE = { running: "running", completed: "ok", failed: "failed", interrupted: "failed" } as const;

/** The badge of a session, turn or run. What a person stopped did not end as it should: the word "stopped" stands beside it. */
export const badgeOf = (state: keyof typeof OF_STATE): BadgeStatus => OF_STATE[state];

/** The only three badges there are. What more there is to say (stopped, denied) stands beside it, in words. */
export function StatusBadge({ status }: { status: BadgeStatus }): ReactNode {
  return <span className={`status-badge status-${status}`}>{WORDS[status]}</span>;
}
