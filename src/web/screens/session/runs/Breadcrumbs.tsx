import type { ReactNode } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { SessionSummary } from "../../../../model/session.ts";
import { sessionHref } from "../../../app/router.ts";
import { sessionTitle } from "../../../app/session-title.ts";
import { rowsOf, useClient } from "../../../app/store.ts";
import { t } from "../../../text/text.ts";

const MAX_DEPTH = 12;

/** Links to all ancestors of a session, each to the call that started the next session. */
export function Breadcrumbs({
  row,
  besideOf,
}: {
  row: SessionSummary;
  /** The session that this one is open beside. The link to it keeps this one open. */
  besideOf?: string | undefined;
}): ReactNode {
  const above = useStore(
    rowsOf(useClient(), row.id),
    useShallow(({ byId }) => sessionsAbove(byId, row)),
  );
  const path: { id: string; row: SessionSummary | undefined; call: string | undefined }[] = [];
  let below: SessionSummary | undefined = row;
  for (const session of above) {
    if (below?.parent === undefined) break;
    path.unshift({ id: below.parent.session_id, row: session, call: below.parent.tool_call_id });
    below = session;
  }
  return (
    <nav className="crumbs" aria-label={besideOf === undefined ? t.common.path : t.session.runPath}>
      <a href="/">{t.common.sessions}</a>
      {path.map(({ id, row: above, call }) => (
        <span key={id} className="crumb">
          <span aria-hidden="true">/</span>
          <a
            href={sessionHref(
              id,
              call === undefined ? "" : `call-${call}`,
              id === besideOf ? row.id : undefined,
            )}
            title={call === undefined ? undefined : t.session.toCall}
          >
            {above === undefined ? t.session.parent : sessionTitle(above)}
          </a>
        </span>
      ))}
      <span aria-hidden="true">/</span>
    </nav>
  );
}

/** The ancestors of a session, nearest first. The last one is `undefined` if it is not in the list. */
function sessionsAbove(
  byId: ReadonlyMap<string, SessionSummary>,
  row: SessionSummary,
): (SessionSummary | undefined)[] {
  const above: (SessionSummary | undefined)[] = [];
  let below: SessionSummary | undefined = row;
  while (below?.parent !== undefined && above.length < MAX_DEPTH) {
    below = byId.get(below.parent.session_id);
    above.push(below);
  }
  return above;
}
