import type { ReactNode } from "react";

export type BadgeStatus = "running" | "ok" | "failed";

const WORDS: Record<BadgeStatus, string> = { running: "[RUNNING]", ok: "[OK]", failed: "[FAILED]" };

/** The only three badges there are. What more there is to say (stopped, denied) stands beside it, in words. */
export function StatusBadge({ status }: { status: BadgeStatus }): ReactNode {
  return <span className={`status-badge status-${status}`}>{WORDS[status]}</span>;
}
