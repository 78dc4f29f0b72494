import type { ReactNode } from "react";
import { useStore } from "zustand";
import type { SessionSummary } from "../../model/session.ts";
import { sessionHref } from "../router.ts";
import { sessionTitle } from "../sessions/session-list.ts";
import { useClient } from "../store.ts";

const DEEPEST = 12;

/** The way up: every session above this one, each linked to the very call that started the next. */
export function Breadcrumbs({
  row,
  besideOf,
}: {
  row: SessionSummary;
  /** The session that this one stands beside: on the way to it this one stays open. */
  besideOf?: string | undefined;
}): ReactNode {
  const { rows } = useClient();
  useStore(rows, (now) => now.version);
  const { byId } = rows.getState();
  const path: { id: string; row: SessionSummary | undefined; call: string | undefined }[] = [];
  for (let below = row; below.parent !== undefined && path.length < DEEPEST; ) {
    const { session_id, tool_call_id } = below.parent;
    const above = byId.get(session_id);
    path.unshift({ id: session_id, row: above, call: tool_call_id });
    if (above === undefined) break;
    below = above;
  }
  return (
    <nav className="crumbs" aria-label="Path">
      <a href="/">Sessions</a>
      {path.map(({ id, row: above, call }) => (
        <span key={id} className="crumb">
          <span aria-hidden="true">/</span>
          <a
            href={sessionHref(
              id,
              call === undefined ? "" : `call-${call}`,
              id === besideOf ? row.id : undefined,
            )}
            title={call === undefined ? undefined : "To the call that started this run"}
          >
            {above === undefined ? "Parent session" : sessionTitle(above)}
          </a>
        </span>
      ))}
      <span aria-hidden="true">/</span>
    </nav>
  );
}
