import type { SessionSummary } from "../../../model/session.ts";
import { type SessionState, sessionState } from "../../../model/session-state.ts";
import { sessionTitle } from "../../app/session-title.ts";
import { useIsWaiting, usePageTitle } from "../../app/waiting.ts";
import { t } from "../../text/text.ts";

/** Prefixes of the window title, by state. */
const TITLE_STATES: Partial<Record<SessionState, string>> = {
  waiting: "[WAITING] ",
  working: "[RUNNING] ",
  failed: "[FAILED] ",
};

/** Sets the window title to the title of the main pane's session. */
export function usePaneTitle(row: SessionSummary | undefined, isMain: boolean): void {
  const waits = useIsWaiting(row);
  usePageTitle(
    isMain && row !== undefined
      ? t.app.titled(`${TITLE_STATES[sessionState(row, waits)] ?? ""}${sessionTitle(row)}`)
      : undefined,
  );
}
