import type { ReactNode } from "react";
import { sessionTitle } from "../sessions/session-list.ts";
import { useClient } from "../store.ts";
import { visible } from "../ui/hidden-text.tsx";
import { ancestorsOf, requestHref, useWaiting } from "../waiting.ts";

/** The transcript keeps its room, however many ask at once. */
const SHOWN = 3;

/** What runs below this session wait for, at any depth: nobody looks for a question three levels down. */
export function WaitingBanner({ session_id }: { session_id: string }): ReactNode {
  const { rows } = useClient();
  const waiting = useWaiting();
  const { byId } = rows.getState();
  const below = waiting.filter(({ row }) => ancestorsOf(byId, row).includes(session_id));
  if (below.length === 0) return null;
  const more = below.length - SHOWN;
  return (
    <section className="waiting-banner" aria-label="Waits for you">
      {below.slice(0, SHOWN).map((waiting) => (
        <p key={waiting.request.request_id} className="notice">
          <span className="needs-you">Waits for you</span> The run{" "}
          <strong>{sessionTitle(waiting.row)}</strong> asks:{" "}
          <a href={requestHref(waiting)}>{visible(waiting.request.title, "prose")}</a>
        </p>
      ))}
      {more > 0 && <p className="notice">{more} more, the key w goes through them.</p>}
    </section>
  );
}
