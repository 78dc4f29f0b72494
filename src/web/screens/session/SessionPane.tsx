import { type ReactNode, useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { isOpenedSession } from "../../../model/opened-session.ts";
import { apiOf } from "../../api/api.ts";
import { lostText } from "../../app/ConnectionState.tsx";
import { openSession } from "../../app/open-session.ts";
import { sessionHref } from "../../app/router.ts";
import { keepOpenedRows, useClient, useConnection, useRow } from "../../app/store.ts";
import { usePageTitle } from "../../app/waiting.ts";
import { t } from "../../text/text.ts";
import type { PaneProps } from "./pane-props.ts";
import { ReadyPane } from "./ReadyPane.tsx";
import { useFocusOnOpening } from "./use-pane-focus.ts";

/** One session: header, transcript, turns and runs. With a run in split view there are two panes. */
export function SessionPane(props: PaneProps): ReactNode {
  const { session_id, besideOf } = props;
  const client = useClient();
  const connection = useConnection();
  const session = useMemo(() => openSession(client, session_id), [client, session_id]);
  useEffect(() => session.subscribe(), [session]);
  const ready = useStore(session.state, (state) => state.transcript !== undefined);
  const refused = useStore(session.state, (state) => state.refused);
  const isMissing = refused?.code === "no_channel";

  useFocusOnOpening({ isBeside: besideOf !== undefined, isReady: ready });
  // The daemon may find the file of a session only after the page has subscribed, in particular right after startup.
  const known = useRow(session_id) !== undefined;
  useEffect(() => {
    if (known && isMissing) session.retry();
  }, [known, isMissing, session]);

  const isOpened = isOpenedSession(session_id);
  useEffect(() => {
    if (!isOpened || known) return;
    const ended = new AbortController();
    void apiOf(client)
      .openedTogether(session_id, ended.signal)
      .then((reply) => {
        if (reply.ok && !ended.signal.aborted) keepOpenedRows(client, reply.value.sessions);
      });
    return () => ended.abort();
  }, [client, session_id, isOpened, known]);

  const missing = isOpened ? t.opened.gone : t.session.noSuch;
  const why = isMissing ? missing : t.session.broken;
  usePageTitle(!ready && refused && besideOf === undefined ? t.app.titled(why) : undefined);
  if (ready) return <ReadyPane key={session_id} {...props} session={session} />;
  const [title, text] = refused
    ? isMissing
      ? [why, isOpened ? t.opened.goneText : t.session.noSuchText]
      : [why, refused.message]
    : connection.status === "lost"
      ? lostText(connection)
      : [t.session.reading, ""];
  const [Body, Heading] = besideOf === undefined ? (["main", "h1"] as const) : (["section", "h2"] as const);
  return (
    <Body className="blank" aria-busy={!refused} aria-label={besideOf && t.session.split}>
      <Heading>{title}</Heading>
      {text !== "" && <p>{text}</p>}
      <p>
        {besideOf === undefined ? (
          <a href="/">{t.common.allSessions}</a>
        ) : (
          <a href={sessionHref(besideOf)}>{t.common.close}</a>
        )}
      </p>
    </Body>
  );
}
