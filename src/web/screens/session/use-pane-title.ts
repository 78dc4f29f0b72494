import type { SessionSummary } from "../../../model/session.ts";
import { type SessionState, sessionState } from "../../../model/session-state.ts";
import { sessionTitle } from "../../app/session-title.ts";
import { useIsWaiting, usePageTitle } from "../../app/waiting.ts";
import { t } from "../../text/text.ts";

/** States that are shown before a session's name in the window's title. */
const TITLE_STATES: Partial<Record<SessionState, string>> = {
  waiting: "[WAITING] ",
  working: "[RUNNING] ",
  failed: "[FAILED] ",
};

/** The window's title names the session of its main pane. */
export function usePaneTitle(row: SessionSummary | undefined, isMain: boolean): void {
  const waits = useIsWaiting(row);
  usePageTitle(
    isMain && row !== undefined
      ? t.app.titled(`${TITLE_STATES[sessionState(row, waits)] ?? ""}${sessionTitle(row)}`)
      : undefined,
  );
}
