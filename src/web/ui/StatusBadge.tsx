import type { ReactNode } from "react";
import { t } from "../text/text.ts";

export type BadgeStatus = "running" | "ok" | "failed";

/** One of three badges. Details (stopped, not allowed) are shown beside it, in words. */
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

/** The state of a session, turn or run. A waiting or stopped one has a word in place of a badge. */
export function StateBadge({
  status,
  isWaiting,
  hasNoEnd,
  reason,
}: {
  status: "running" | "completed" | "failed" | "interrupted";
  /** It waits for a person. Takes precedence over the status of its turn. */
  isWaiting?: boolean;
  /** Its record has no end: whether it failed is not known. */
  hasNoEnd?: boolean | undefined;
  /** The evidence for the state, in words. */
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
