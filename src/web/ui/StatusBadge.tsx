import type { ReactNode } from "react";
import { t } from "../text/text.ts";

export type BadgeStatus = "running" | "ok" | "failed";

/** One of three badges. Details (stopped, denied) are shown beside it as text. */
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
