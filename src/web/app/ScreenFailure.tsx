import { type ReactNode, useEffect, useRef } from "react";
import { t } from "../text/text.ts";
import { reasonOf } from "../ui/ErrorBoundary.tsx";
import { useConnection } from "./store.ts";

/** Matches the error messages of Chromium, Firefox and WebKit for a script that could not be fetched. */
const SCRIPT_LOST = /dynamically imported module|importing a module script failed/i;

/** Shown instead of a screen that failed: says why it failed and what to do. */
export function ScreenFailure({ error, tryAgain }: { error: unknown; tryAgain(): void }): ReactNode {
  const { status } = useConnection();
  const reason = reasonOf(error);
  const before = useRef(status);
  // Once the connection is back, the script can be fetched.
  useEffect(() => {
    if (status === "live" && before.current !== "live") tryAgain();
    before.current = status;
  }, [status, tryAgain]);
  useEffect(() => {
    document.title = t.app.brokenTitle;
  }, []);
  return (
    <main className="blank">
      <div role="alert">
        <h1>{t.app.broken}</h1>
        <p>
          <code>{reason}</code>
        </p>
      </div>
      <p>
        {status === "live"
          ? SCRIPT_LOST.test(reason)
            ? t.app.updated
            : t.app.nothingLost
          : t.app.startDaemon}
      </p>
      <p className="ways-on">
        <button type="button" className="button button-main" onClick={tryAgain}>
          {t.common.tryAgain}
        </button>
        <button type="button" className="button" onClick={() => location.reload()}>
          {t.app.reload}
        </button>
        <a href="/">{t.common.allSessions}</a>
      </p>
    </main>
  );
}
