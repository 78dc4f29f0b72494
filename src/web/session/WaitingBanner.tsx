import type { ReactNode } from "react";
import { sessionTitle } from "../sessions/session-list.ts";
import { useClient } from "../store.ts";
import { visible } from "../ui/hidden-text.tsx";
import { ancestorsOf, requestHref, useWaiting } from "../waiting.ts";

/** What runs below this session wait for, at any depth: nobody looks for a question three levels down. */
export function WaitingBanner({ session_id }: { session_id: string }): ReactNode {
  const { rows } = useClient();
  const waiting = useWaiting();
  const { byId } = rows.getState();
  const below = waiting.filter(({ row }) => ancestorsOf(byId, row).includes(session_id));
  const [first] = below;
  if (first === undefined) return null;
  return (
    <p className="notice waiting-banner" role="status">
      <span className="needs-you">Waits for you</span> The run <strong>{sessionTitle(first.row)}</strong>{" "}
      asks: <a href={requestHref(first)}>{visible(first.request.title, "prose")}</a>
      {below.length > 1 && ` and ${below.length - 1} more, w goes through them`}
    </p>
  );
}
