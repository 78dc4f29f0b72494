import type { ReactNode } from "react";
import type { OpenSessionState } from "../../app/open-session.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";

/** Notices above a transcript: results of keys, missing parts, and why the session is not live. */
export function PaneNotices({
  message,
  failure,
  refused,
  isOpened,
  landed,
}: {
  message: string;
  /** Why parts in view could not be loaded. */
  failure: OpenSessionState["failure"] | undefined;
  /** Why the daemon does not send the session. */
  refused: OpenSessionState["refused"] | undefined;
  /** The session is in a file that the reader opened. */
  isOpened: boolean;
  /** The row that a button led to while the keyboard stayed. */
  landed: { readonly name: string; readonly count: number };
}): ReactNode {
  return (
    <>
      {/* There before anything is said in it. */}
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
      {refused && (
        <p className="notice notice-warning" role="status">
          {refused.code === "no_channel" && isOpened
            ? t.opened.goneText
            : refused.code === "no_channel"
              ? t.session.noLonger
              : refused.message}{" "}
          {t.session.shownAsLoaded}
        </p>
      )}
      <p className="unseen" role="status">
        <span key={landed.count}>{landed.name}</span>
      </p>
    </>
  );
}
