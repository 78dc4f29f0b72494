import type { ReactNode } from "react";
import { useStore } from "zustand";
import { isOpenedSession } from "../../../model/opened-session.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { useClient, useRow } from "../../app/store.ts";
import { combinedText, noticeText } from "../../text/daemon-text.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";

/** Notices above a transcript: results of key presses, parts that could not be loaded, and why the session is not live. */
export function PaneNotices({
  session,
  message,
  scrolledTo,
}: {
  session: OpenSession;
  message: string;
  /** The row that a button scrolled to without moving the focus. */
  scrolledTo: { readonly name: string; readonly count: number };
}): ReactNode {
  const failure = useStore(session.state, (state) => state.failure);
  const refused = useStore(session.state, (state) => state.refused);
  const client = useClient();
  const agent = useRow(session.id)?.agent;
  const notices = useStore(client.status, ({ reply }) => reply?.notices);
  const ofAgent = notices?.filter((notice) => agent !== undefined && notice.agent === agent) ?? [];
  return (
    <>
      {/* Rendered while it is empty: screen readers may miss a live region that is added together with its text. */}
      <div role="status">
        {(message !== "" || failure !== undefined) && (
          <p className="notice notice-warning">
            {message !== ""
              ? message
              : failure === undefined
                ? ""
                : t.session.partsNotLoaded(failureText(failure))}
          </p>
        )}
      </div>
      {ofAgent.map(noticeText).map(({ text, remedy }) => (
        <p key={text} className="notice notice-warning" role="status">
          <strong>{text}</strong> {remedy}
        </p>
      ))}
      {refused && (
        <p className="notice notice-warning" role="status">
          {refused.code === "no_channel" && isOpenedSession(session.id)
            ? t.opened.goneText
            : refused.code === "no_channel"
              ? t.session.noLonger
              : combinedText(refused.message, refused)}{" "}
          {t.session.shownAsLoaded}
        </p>
      )}
      <p className="unseen" role="status">
        <span key={scrolledTo.count}>{scrolledTo.name}</span>
      </p>
    </>
  );
}
