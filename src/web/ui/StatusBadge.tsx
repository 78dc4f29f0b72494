import type { ReactNode } from "react";
import type { SessionState } from "../../model/session-state.ts";
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
  state,
  reason,
}: {
  state: SessionState;
  /** The evidence for the state, in words. */
  reason?: string | undefined;
}): ReactNode {
  switch (state) {
    case "waiting":
      return (
        <span className="needs-you" title={reason}>
          {t.waiting.badge}
        </span>
      );
    case "unknown":
      return (
        <span className="status-badge status-unknown" title={reason}>
          {t.sessions.noEnd}
        </span>
      );
    case "stopped":
      return (
        <span className="stopped" title={reason ?? t.badge.stoppedTitle}>
          {t.badge.stopped}
        </span>
      );
    case "working":
      return <StatusBadge status="running" title={reason} />;
    case "failed":
      return <StatusBadge status="failed" title={reason} />;
    case "idle":
    case "finished":
      return <StatusBadge status="ok" title={reason} />;
  }
  return state satisfies never;
}
