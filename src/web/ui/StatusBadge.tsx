import type { ReactNode } from "react";
import { t } from "../text/text.ts";

export type BadgeStatus = "running" | "ok" | "failed";

/** The only three badges there are. What more there is to say (stopped, not allowed) stands beside it, in words. */
export function StatusBadge({
  status,
  title,
}: {
  status: BadgeStatus;
  title?: string | undefined;
}): ReactNode {
  return (
    <span className={`status-badge status-${status}`} title={title}>
      [{t.badge[status]}]
    </span>
  );
}

/** How a session, turn or run stands. What waits, or was stopped, has a word in place of a badge. */
export function StateBadge({
  status,
  isWaiting,
  hasNoEnd,
  reason,
}: {
  status: "running" | "completed" | "failed" | "interrupted";
  /** It waits for a person, whatever its turn's state: nothing runs until they act. */
  isWaiting?: boolean;
  /** Its record has no end: whether it failed is not known. */
  hasNoEnd?: boolean | undefined;
  /** How that is known, in words. */
  reason?: string | undefined;
}): ReactNode {
  if (isWaiting)
    return (
      <span className="waiting-badge" title={reason}>
        {t.waiting.badge}
      </span>
    );
  if (status === "failed" && hasNoEnd)
    return (
      <span className="status-badge status-unknown" title={reason}>
        {t.sessions.noEnd}
      </span>
    );
  if (status !== "interrupted")
    return <StatusBadge status={status === "completed" ? "ok" : status} title={reason} />;
  return (
    <span className="stopped" title={reason ?? t.badge.stoppedTitle}>
      {t.badge.stopped}
    </span>
  );
}
