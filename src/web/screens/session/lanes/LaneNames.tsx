import { memo, type ReactNode } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { isWaiting, type SessionSummary } from "../../../../model/session.ts";
import { sessionState } from "../../../../model/session-state.ts";
import type { Lane } from "../../../../protocol.ts";
import { sessionHref } from "../../../app/router.ts";
import { sessionTitle } from "../../../app/session-title.ts";
import { rowsOf, useClient } from "../../../app/store.ts";
import { translatedText } from "../../../text/daemon-text.ts";
import { shortDuration } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { activityOf } from "../../../transcript/activity.ts";
import { visible } from "../../../ui/hidden-text.tsx";

/** Time without a record after which a running lane is shown as silent, in milliseconds. */
const SILENT_MS = 10_000;

/** The names of the lanes, with the current activity of each or how it ended. */
export const LaneNames = memo(function LaneNames({
  session_id: top,
  lanes,
  rows,
  selected,
  now,
}: {
  /** The session of the timeline. */
  session_id: string;
  lanes: readonly Lane[];
  /** The rows of the lanes' sessions. */
  rows: readonly (SessionSummary | undefined)[];
  selected: number | undefined;
  now: number;
}): ReactNode {
  return (
    <ol className="lane-names">
      {lanes.map(({ session_id, depth, problem, problem_code, phase }, index) => {
        const row = rows[index];
        if (phase !== undefined)
          return (
            <PhaseName
              key={`${session_id} ${phase.session_ids[0]}`}
              session_id={top}
              phase={phase}
              depth={depth}
              isSelected={index === selected}
            />
          );
        return (
          <li
            key={session_id}
            className={`lane-name lane-${row === undefined ? "completed" : isWaiting(row) ? "waiting" : row.status}`}
            {...(index === selected && { "aria-current": "true" as const })}
            style={{ paddingInlineStart: indent(depth) }}
          >
            <span className="lane-title">
              <a href={sessionHref(session_id)} tabIndex={-1}>
                {visible(row === undefined ? session_id : sessionTitle(row), "name")}
              </a>
            </span>
            <span className="lane-state">
              {problem === undefined
                ? row && stateOf(row, now)
                : visible(translatedText(problem, problem_code), "prose")}
            </span>
          </li>
        );
      })}
    </ol>
  );
});

const indent = (depth: number): number => 8 + 12 * Math.min(depth, 6);

/** The name of a workflow's phase, with the number of its agents that have ended. */
function PhaseName({
  session_id,
  phase: { title, session_ids },
  depth,
  isSelected,
}: {
  session_id: string;
  phase: NonNullable<Lane["phase"]>;
  depth: number;
  isSelected: boolean;
}): ReactNode {
  const states = useStore(
    rowsOf(useClient(), session_id),
    useShallow(({ byId }) =>
      session_ids.map((id) => {
        const row = byId.get(id);
        return row && sessionState(row);
      }),
    ),
  );
  const ended = states.filter((state) => state !== "working" && state !== "waiting").length;
  const failed = states.filter((state) => state === "failed").length;
  return (
    <li
      className="lane-name lane-phase"
      {...(isSelected && { "aria-current": "true" as const })}
      style={{ paddingInlineStart: indent(depth) }}
    >
      <span className="lane-title">{visible(title, "name")}</span>
      <span className="lane-state">{t.lanes.phaseState(ended, states.length, failed)}</span>
    </li>
  );
}

/** The running tool and the time since the last record, or how the lane ended. */
function stateOf(row: SessionSummary, now: number): string {
  const state = sessionState(row);
  switch (state) {
    case "waiting":
      return t.waiting.name;
    case "working": {
      const silent = now - row.last_activity_at;
      const doing = activityOf(row) ?? t.attention.working;
      return silent < SILENT_MS ? doing : t.lanes.silent(doing, shortDuration(silent));
    }
    case "unknown":
      return t.lanes.noEnd;
    case "failed":
      return t.attention.kinds.failed;
    case "stopped":
      return t.lanes.stopped;
    case "idle":
    case "finished":
      return "";
  }
  return state satisfies never;
}
