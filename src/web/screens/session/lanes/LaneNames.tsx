import { memo, type ReactNode } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { hasNoEnd, isWaiting, type SessionSummary } from "../../../../model/session.ts";
import type { Lane } from "../../../../protocol.ts";
import { sessionHref } from "../../../app/router.ts";
import { useClient } from "../../../app/store.ts";
import { shortDuration } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { activityOf } from "../../../transcript/activity.ts";
import { visible } from "../../../ui/hidden-text.tsx";
import { sessionTitle } from "../../sessions/session-list.ts";

/** A running lane that has recorded nothing for so long says so, in milliseconds. */
const SILENT_MS = 10_000;

/** The names of the lanes, with what each does now, or how it ended. */
export const LaneNames = memo(function LaneNames({
  lanes,
  selected,
  now,
}: {
  lanes: readonly Lane[];
  selected: number | undefined;
  now: number;
}): ReactNode {
  const rows = useStore(
    useClient().rows,
    useShallow(({ byId }) => lanes.map(({ session_id }) => byId.get(session_id))),
  );
  return (
    <ol className="lane-names">
      {lanes.map(({ session_id, depth, problem }, index) => {
        const row = rows[index];
        return (
          <li
            key={session_id}
            className={`lane-name lane-${row === undefined ? "completed" : isWaiting(row) ? "waiting" : row.status}`}
            {...(index === selected && { "aria-current": "true" as const })}
            style={{ paddingInlineStart: 8 + 12 * Math.min(depth, 6) }}
          >
            <span className="lane-title">
              <a href={sessionHref(session_id)} tabIndex={-1}>
                {visible(row === undefined ? session_id : sessionTitle(row), "name")}
              </a>
            </span>
            <span className="lane-state">
              {problem === undefined ? row && stateOf(row, now) : visible(problem, "prose")}
            </span>
          </li>
        );
      })}
    </ol>
  );
});

/** The tool that runs and how long nothing was recorded, or how it ended. */
function stateOf(row: SessionSummary, now: number): string {
  if (isWaiting(row)) return t.waiting.name;
  switch (row.status) {
    case "running": {
      const silent = now - row.last_activity_at;
      const doing = activityOf(row) ?? t.attention.working;
      return silent < SILENT_MS ? doing : t.lanes.silent(doing, shortDuration(silent));
    }
    case "failed":
      return hasNoEnd(row) ? t.lanes.noEnd : t.attention.kinds.failed;
    case "interrupted":
      return t.lanes.stopped;
    case "completed":
      return "";
  }
  return row.status satisfies never;
}
