import "../../text/session-text.ts";
import { type MouseEvent, type ReactNode, useEffect } from "react";
import { navigate, parseRoute, sessionHref } from "../../app/router.ts";
import { loadCopiedText } from "../../transcript/copying.ts";
import { SessionPane } from "./SessionPane.tsx";
import "./pane.css";
import "./print.css";

interface Props {
  session_id: string;
  fragment: string;
  /** Changes when the user navigates to the fragment's target again. */
  visit: number;
  beside: string | undefined;
  /** Texts to mark, from the address. */
  find: readonly string[];
}
const NONE: readonly string[] = [];

/** A session and, in split view, the run that was opened with Shift, Alt or a "beside" button. */
export function SessionScreen({ session_id, fragment, visit, beside, find }: Props): ReactNode {
  // Prefetched, so that copying works while the daemon is unreachable. If this fails, copying retries and reports the failure.
  useEffect(() => {
    const timer = setTimeout(() => void loadCopiedText().catch(() => {}), 500);
    return () => clearTimeout(timer);
  }, []);
  const openBeside = (event: MouseEvent): void => {
    if (!(event.shiftKey || event.altKey) || event.button !== 0) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin) return;
    const route = parseRoute(link);
    if (route.screen !== "session" || route.session_id === session_id) return;
    // Otherwise the browser would open a window (Shift) or start a download (Alt).
    event.preventDefault();
    event.stopPropagation();
    navigate(sessionHref(session_id, fragment, route.session_id, find));
  };
  return (
    <div className={`split${beside === undefined ? "" : " split-two"}`} onClickCapture={openBeside}>
      <SessionPane
        key={session_id}
        session_id={session_id}
        fragment={fragment}
        visit={visit}
        beside={beside}
        find={find}
      />
      {beside !== undefined && (
        <SessionPane
          key={`beside ${beside}`}
          session_id={beside}
          fragment=""
          visit={0}
          beside={undefined}
          find={NONE}
          besideOf={session_id}
        />
      )}
    </div>
  );
}
