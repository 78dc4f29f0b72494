import { useLayoutEffect, useRef } from "react";
import type { Transcript } from "../../../../model/transcript/transcript-state.ts";
import type { OpenSession } from "../../../app/open-session.ts";
import type { TranscriptHost } from "../../../transcript/host.ts";
import { createLayout, type Layout, type LayoutSettings, type RowFilter } from "../layout.ts";
import { liveRows } from "../use-live-text.ts";
import type { Scrolling } from "./scroll-view.ts";

/** Creates the layout of a session's current transcript. `useLayoutUpdates` keeps it up to date. */
export function layoutOf(session: OpenSession, host: TranscriptHost): Layout {
  const layout = createLayout();
  const first = session.state.getState().transcript;
  if (first !== undefined) layout.reset(first, host);
  return layout;
}

/**
 * Updates the layout when the session, the settings or the filter change. `onAdded`: called with what was added below; must be
 * stable.
 */
export function useLayoutUpdates(
  session: OpenSession,
  { layout, view, tick }: Omit<Scrolling, "place">,
  { showSteps, everyRecord }: TranscriptHost,
  filter: RowFilter | undefined,
  onAdded: (added: { rows: number; errors: number }) => void,
): void {
  const latest = useRef<LayoutSettings & { transcript: Transcript | undefined }>({
    transcript: session.state.getState().transcript,
    showSteps,
    everyRecord,
  });
  const haveSettingsChanged =
    latest.current.showSteps !== showSteps ||
    latest.current.everyRecord !== everyRecord ||
    latest.current.filter !== filter;
  const transcript = latest.current.transcript;
  if (haveSettingsChanged && transcript !== undefined) {
    latest.current = { transcript, showSteps, everyRecord, filter };
    layout.reset(transcript, latest.current);
  }

  useLayoutEffect(() => {
    const { anchor, held } = view;
    const update = (): void => {
      const state = session.state.getState();
      const { transcript: next, change, stale } = state;
      const before = latest.current;
      if (next === undefined) return;
      const changedLive = layout.setLive(liveRows(state), next);
      if (next === before.transcript) {
        if (changedLive.length === 0) return;
        layout.update(next, changedLive);
        tick();
        return;
      }
      latest.current = { ...before, transcript: next };
      if (change.type === "reset" || before.transcript === undefined) {
        // If the file was rewritten, the held rows are gone. Otherwise they stay held, with the content of the snapshot.
        held.current = stale && held.current && { ...held.current, parts: new Map() };
        layout.reset(next, before);
      } else {
        const added = layout.update(next, [...change.touched, ...changedLive]);
        if (!anchor.current.end && added.rows + added.errors > 0) onAdded(added);
      }
      tick();
    };
    // Changes between the first render and this effect were missed, so reset the layout.
    const now = session.state.getState().transcript;
    const changedLive = now === undefined ? [] : layout.setLive(liveRows(session.state.getState()), now);
    if (now !== undefined && (now !== latest.current.transcript || changedLive.length > 0)) {
      latest.current = { ...latest.current, transcript: now };
      layout.reset(now, latest.current);
      tick();
    }
    return session.state.subscribe(update);
  }, [session, layout, view, tick, onAdded]);
}
