import type { ReactNode } from "react";
import type { SessionState } from "../../model/session-state.ts";
import { t } from "../text/text.ts";
import { StatusBadge } from "../ui/StatusBadge.tsx";

/** The state of a session, turn or run. The states "waiting" and "stopped" are shown as a word instead of a badge. */
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
