import type { ReactNode } from "react";
import type { Connection } from "../api/live.ts";
import { shortDuration } from "../text/format.ts";
import { t } from "../text/text.ts";
import { useNow } from "../ui/use-now.ts";
import { useClient, useConnection } from "./store.ts";
import "./connection.css";

/** Moves the focus to the screen's first scrolling element when the focused button is removed. */
const passFocusOn = (button: HTMLElement | null) => (): void => {
  if (button === document.activeElement)
    (button?.closest(".pane") ?? document)
      .querySelector<HTMLElement>("[tabindex]:not([role=slider])")
      ?.focus();
};

/** Shows that the page is live, or how long ago the connection was lost. */
export function ConnectionState(): ReactNode {
  const connection = useConnection();
  if (connection.status === "live") return <span className="connection">{t.connection.live}</span>;
  return <NotLive />;
}

function NotLive(): ReactNode {
  const { live } = useClient();
  const { status, last_message_at: received_at, retry_at } = useConnection();
  const now = useNow(1_000);
  if (status === "connecting") return <span className="connection">{t.connection.connecting}</span>;
  const age =
    received_at === undefined ? "" : t.app.lastUpdate(shortDuration(Math.max(0, now - received_at)));
  const next =
    retry_at === undefined || retry_at <= now
      ? t.connection.tryingAgain
      : t.connection.nextTry(Math.ceil((retry_at - now) / 1_000));
  return (
    <span className="connection not-live">
      {/* The age is not part of the announcement: it would be read out every second. */}
      <span>
        <strong role="status">{t.app.disconnected}</strong>
        {age}
      </span>
      <button ref={passFocusOn} type="button" className="button" title={next} onClick={live.reconnect}>
        {t.app.retry}
      </button>
    </span>
  );
}

/** Explains an empty screen while the connection is lost: a heading, and what to do. */
export const lostText = ({ blocked }: Connection): readonly [heading: string, text: string] =>
  blocked ? [t.connection.blocked, t.connection.blockedText] : [t.connection.lost, t.connection.lostText];
