import { type ReactNode, useCallback } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { SessionError } from "../../../../model/parts/error-list.ts";
import type { SessionSummary } from "../../../../model/session.ts";
import { apiOf } from "../../../api/api.ts";
import { sessionHref } from "../../../app/router.ts";
import { sessionTitle } from "../../../app/session-title.ts";
import { rowsOf, useClient } from "../../../app/store.ts";
import { t } from "../../../text/text.ts";
import { titleText } from "../../../text/title-text.ts";
import { toolLabel } from "../../../transcript/tool-cards/tool-label.ts";
import { visible } from "../../../ui/hidden-text.tsx";
import { runsWithErrors } from "../problems.ts";
import { ReplyView } from "./ReplyView.tsx";

/** The order of the groups: an error that ended a turn matters more than an exit code that may have been expected. */
const RANKS = ["ending", "failed", "exit"] as const satisfies readonly SessionError["rank"][];

/** Lists the errors of a session by rank, with links to their parts, then the runs with errors. */
export function ErrorsView({ row, onClose }: { row: SessionSummary; onClose(): void }): ReactNode {
  const { id, errors: count, status } = row;
  const client = useClient();
  const api = apiOf(client);
  // `count` and `status` are dependencies, so that a change of them reloads the errors.
  const load = useCallback((signal: AbortSignal) => api.errors(id, signal), [api, id, count, status]);
  const runs = useStore(
    rowsOf(client, id),
    useShallow((rows) => runsWithErrors(rows, id)),
  );
  return (
    <ReplyView load={load} keepsLast>
      {({ errors, more }) => (
        <>
          {errors.length === 0 && runs.length === 0 && <p className="dialog-note">{t.errors.none}</p>}
          {RANKS.map((rank) => (
            <ErrorGroup
              key={rank}
              rank={rank}
              errors={errors.filter((error) => error.rank === rank)}
              session_id={id}
              onClose={onClose}
            />
          ))}
          {more > 0 && <p className="dialog-note">{t.errors.more(more)}</p>}
          {runs.length > 0 && (
            <section>
              <h3>{t.errors.runs(runs.length)}</h3>
              <ol className="error-list">
                {runs.map((run) => (
                  <li key={run.id}>
                    <a className="error-row" href={sessionHref(id, "", run.id)} onClick={onClose}>
                      <span className="error-subject">{visible(sessionTitle(run), "name")}</span>{" "}
                      {run.errors > 0 && <span className="error-place">{t.count.errors(run.errors)}</span>}
                    </a>
                  </li>
                ))}
              </ol>
            </section>
          )}
        </>
      )}
    </ReplyView>
  );
}

function ErrorGroup({
  rank,
  errors,
  session_id,
  onClose,
}: {
  rank: SessionError["rank"];
  errors: readonly SessionError[];
  session_id: string;
  onClose(): void;
}): ReactNode {
  if (errors.length === 0) return null;
  return (
    <section>
      <h3>{t.errors.ranks[rank](errors.length)}</h3>
      <ol className="error-list">
        {errors.map((error) => (
          <li key={error.part_id}>
            <a
              className="error-row"
              href={sessionHref(session_id, `part-${error.part_id}`)}
              onClick={onClose}
            >
              <span className="error-subject">
                {error.cut_off === true && <>{error.no_end === true ? t.errors.noEnd : t.errors.cutOff} </>}
                {error.tool_name !== undefined && <b>{visible(toolLabel(error.tool_name), "name")}</b>}{" "}
                {visible(titleText(error.subject, error.title_code), "code")}
              </span>{" "}
              <span className="error-place">
                {error.exit_code !== undefined && <>{t.errors.exit(error.exit_code)} · </>}
                {t.errors.place(error.turn, error.step)}
              </span>{" "}
              {error.reason !== undefined && (
                <span className="error-reason">{visible(error.reason, "prose")}</span>
              )}
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}
