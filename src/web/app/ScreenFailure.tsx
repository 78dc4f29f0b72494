import { type ReactNode, useEffect, useRef } from "react";
import { en } from "../text/en.ts";
import { reasonOf } from "../ui/ErrorBoundary.tsx";
import { useConnection } from "./store.ts";

/** What Chromium, Firefox and WebKit say of a script that could not be fetched. */
const SCRIPT_LOST = /dynamically imported module|importing a module script failed/i;

/** In place of a screen that cannot be shown: why, and the ways on. */
export function ScreenFailure({ error, tryAgain }: { error: unknown; tryAgain(): void }): ReactNode {
  const { status } = useConnection();
  const reason = reasonOf(error);
  const before = useRef(status);
  // A script that could not be fetched can be once the daemon is back.
  useEffect(() => {
    if (status === "live" && before.current !== "live") tryAgain();
    before.current = status;
  }, [status, tryAgain]);
  useEffect(() => {
    document.title = "Verbatim: this page cannot be shown";
  }, []);
  return (
    <main className="blank">
      <div role="alert">
        <h1>This page cannot be shown</h1>
        <p>
          <code>{reason}</code>
        </p>
      </div>
      <p>
        {status === "live"
          ? SCRIPT_LOST.test(reason)
            ? en.app.updated
            : "Nothing is lost: the session's record is in the daemon and its files."
          : "The daemon does not answer. Start it with npm start; this page then goes on by itself."}
      </p>
      <p className="ways-on">
        <button type="button" className="button button-main" onClick={tryAgain}>
          Try again
        </button>
        <button type="button" className="button" onClick={() => location.reload()}>
          {en.app.reload}
        </button>
        <a href="/">All sessions</a>
      </p>
    </main>
  );
}
