import type { ReactNode } from "react";
import { sessionTitle } from "../../app/session-title.ts";
import { useClient } from "../../app/store.ts";
import { ancestorsOf, useWaiting, type Wait } from "../../app/waiting.ts";
import { exactTime, shortDuration } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { useNow } from "../../ui/use-now.ts";

/** Maximum number of listed waits. The others are only counted, to leave room for the transcript. */
const MAX_SHOWN = 3;

/**
 * Lists waits that this transcript does not show: those of runs below the session, at any depth, and that of its agent in a
 * terminal.
 */
export function WaitingBanner({ session_id }: { session_id: string }): ReactNode {
  const { rows } = useClient();
  const waiting = useWaiting();
  const { byId } = rows.getState();
  const shown = waiting.filter(({ row, request_id }) =>
    row.id === session_id ? request_id === undefined : ancestorsOf(byId, row).includes(session_id),
  );
  if (shown.length === 0) return null;
  const more = shown.length - MAX_SHOWN;
  return (
    <section className="waiting-banner" aria-label={t.waiting.name}>
      {shown.slice(0, MAX_SHOWN).map((one) => (
        <p key={one.key} className="notice">
          <span className="needs-you">{t.waiting.name}</span>{" "}
          {one.row.id === session_id ? (
            <>
              {visible(one.title, "prose")} · {t.waiting.elsewhere}
              {one.row.waiting?.terminal && ` (${t.waiting.place(one.row.waiting.terminal)})`}
            </>
          ) : (
            <>
              <strong>{sessionTitle(one.row)}</strong>: <a href={one.href}>{visible(one.title, "prose")}</a>
            </>
          )}{" "}
          <Since since={one.since} />
        </p>
      ))}
      {more > 0 && <p className="notice">{t.waiting.more(more)}</p>}
    </section>
  );
}

function Since({ since }: Pick<Wait, "since">): ReactNode {
  const now = useNow(1_000);
  return (
    <time className="waiting-since" dateTime={new Date(since).toISOString()} title={exactTime(since)}>
      {t.waiting.since(shortDuration(Math.max(0, now - since)))}
    </time>
  );
}
