import type { ReactNode } from "react";

export type BadgeStatus = "running" | "ok" | "failed";

const WORDS: Record<BadgeStatus, string> = { running: "[RUNNING]", ok: "[OK]", failed: "[FAILED]" };

/** The only three badges there are. What more there is to say (stopped, not allowed) stands beside it, in words. */
export function StatusBadge({ status }: { status: BadgeStatus }): ReactNode {
  return <span className={`status-badge status-${status}`}>{WORDS[status]}</span>;
}

/** How a session, turn or run stands. What was stopped neither failed nor ended by itself: it has the word alone. */
export function StateBadge({
  status,
}: {
  status: "running" | "completed" | "failed" | "interrupted";
}): ReactNode {
  if (status !== "interrupted") return <StatusBadge status={status === "completed" ? "ok" : status} />;
  return (
    <span className="stopped" title="Stopped before its end">
      stopped
    </span>
  );
}
