import { type ReactNode, useRef } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { visibleText } from "../../../../hidden-text/hidden-text.ts";
import { isWaiting, type SessionSummary } from "../../../../model/session.ts";
import { sessionState } from "../../../../model/session-state.ts";
import { tokensOf } from "../../../../model/tokens.ts";
import { navigate, sessionHref } from "../../../app/router.ts";
import { runKind, sessionTitle } from "../../../app/session-title.ts";
import { rowsOf, useClient } from "../../../app/store.ts";
import { ancestorsOf, useWaiting } from "../../../app/waiting.ts";
import { shortTokens } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { activityOf } from "../../../transcript/activity.ts";
import { StateBadge } from "../../../transcript/StateBadge.tsx";
import { visible } from "../../../ui/hidden-text.tsx";
import { useRowsInView } from "../../../virtual-list/rows-in-view.ts";
import "./runs.css";

/** Height of a run's row, in pixels. Must match runs.css. */
const ROW = 52;

/** The runs of a session in the order in which they started, live. The array keeps its identity until a run changes. */
export function useRuns(session_id: string): SessionSummary[] {
  return useStore(
    rowsOf(useClient(), session_id),
    useShallow(({ byId, runs }) =>
      [...(runs.get(session_id) ?? [])]
        .map((id) => byId.get(id))
        .filter((run): run is SessionSummary => run !== undefined)
        .sort((a, b) => (a.started_at ?? a.last_activity_at) - (b.started_at ?? b.last_activity_at)),
    ),
  );
}

/** Lists the runs of a session: what each one does, with links that open it beside the session or instead of it. */
export function RunsPanel({
  session_id,
  beside,
}: {
  session_id: string;
  beside: string | undefined;
}): ReactNode {
  const runs = useRuns(session_id);
  return runs.length === 0 ? null : <Runs session_id={session_id} beside={beside} runs={runs} />;
}

function Runs({
  session_id,
  beside,
  runs,
}: {
  session_id: string;
  beside: string | undefined;
  runs: readonly SessionSummary[];
}): ReactNode {
  const box = useRef<HTMLElement>(null);
  const { from, to } = useRowsInView(box, ROW);
  const { byId } = useClient().rows.getState();
  const waiting = useWaiting();
  const above = new Set(waiting.flatMap(({ row }) => ancestorsOf(byId, row)));
  return (
    <nav ref={box} className="runs" aria-label={t.session.runs}>
      <h2 className="side-title">
        {t.session.runs} <span className="side-count">{runs.length}</span>
      </h2>
      <ul className="runs-list" style={{ height: runs.length * ROW }}>
        {runs.slice(from, to).map((run, at) => (
          <li
            key={run.id}
            className={`runs-item${run.id === beside ? " is-beside" : ""}`}
            style={{ top: (from + at) * ROW }}
            aria-setsize={runs.length}
            aria-posinset={from + at + 1}
          >
            <a
              href={sessionHref(run.id)}
              className="runs-link"
              title={visibleText(run.run?.task ?? run.first_prompt ?? "", "prose")}
            >
              <span className="runs-name">
                {sessionTitle(run)}{" "}
                {runKind(run) !== undefined && (
                  <span className="run-kind">{visible(runKind(run) ?? "", "name")}</span>
                )}
              </span>
              <StateBadge state={sessionState(run)} />
            </a>
            <span className="runs-about">
              <span className="runs-activity">
                {(isWaiting(run) || above.has(run.id)) && (
                  <>
                    <span className="needs-you">
                      {isWaiting(run) ? t.waiting.self : t.waiting.below}
                    </span>{" "}
                  </>
                )}
                {visible(
                  activityOf(run) ??
                    [
                      t.count.calls(run.tool_calls),
                      run.errors > 0 ? t.count.errors(run.errors) : undefined,
                      run.usage === undefined || run.errors > 0
                        ? undefined
                        : shortTokens(tokensOf(run.usage)),
                    ]
                      .filter((figure) => figure !== undefined)
                      .join(" · "),
                  "prose",
                )}
              </span>
              <button
                type="button"
                className="button runs-beside"
                aria-pressed={run.id === beside}
                aria-label={t.session.openSplit(sessionTitle(run))}
                onClick={() => navigate(sessionHref(session_id, "", run.id === beside ? undefined : run.id))}
              >
                {t.session.splitButton}
              </button>
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
}
