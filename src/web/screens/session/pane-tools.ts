import { t } from "../../text/text.ts";
import type { PaneTool } from "./PaneTools.tsx";
import type { PaneActions } from "./pane-keys.ts";
import { AgentDialog, FilterBar, Find, Inspector, LanesPanel } from "./pane-parts.tsx";

interface PaneState {
  /** Whether this is the main pane, not the one beside another session. */
  main: boolean;
  allOpen: boolean | undefined;
  isSideOpen: boolean;
  /** How many runs the session has started. */
  runs: number;
  /** Whether the session or one of its runs has failures. */
  hasErrors: boolean;
}

/** The buttons of a pane's header. */
export function paneTools(
  pane: PaneActions,
  { main, allOpen, isSideOpen, runs, hasErrors }: PaneState,
): PaneTool[] {
  const control = pane.row?.control;
  const allOpenWord =
    allOpen === undefined ? t.session.expandAll : allOpen ? t.session.collapseAll : t.session.reset;
  const inMain = (room: "wide" | "widest"): PaneTool["room"] => (main ? room : "more");
  return [
    { name: t.find.button, room: "all", run: pane.find.open, isOpen: pane.find.isOpen, load: Find.load },
    {
      name: t.filter.button,
      room: inMain("wide"),
      run: pane.filter.isOpen ? pane.filter.close : pane.filter.open,
      isOpen: pane.filter.isOpen,
      load: FilterBar.load,
    },
    {
      name: t.session.inspect,
      room: inMain("widest"),
      run: () => pane.inspect({ view: "changes", which: pane.callHere() }),
      opensDialog: true,
      load: Inspector.load,
    },
    ...(pane.row?.notes === undefined
      ? []
      : [
          {
            name: t.sessions.notes(pane.row.notes.count),
            room: inMain("widest"),
            run: () => pane.inspect({ view: "notes" }),
            opensDialog: true,
            load: Inspector.load,
          },
        ]),
    ...(main
      ? [
          {
            name: t.session.timeline,
            room: "widest" as const,
            run: () => pane.toggleTimeline(),
            isOpen: pane.isTimelineOpen,
            load: LanesPanel.load,
          },
        ]
      : []),
    ...(control === undefined
      ? []
      : [
          {
            name: t.session.agent,
            room: "wide" as const,
            run: () => pane.openAgent(),
            opensDialog: true,
            load: AgentDialog.load,
          },
        ]),
    {
      name: t.session.nextError,
      room: "all",
      run: () => void pane.stepError(1, true),
      isDisabled: !hasErrors,
    },
    { name: allOpenWord, room: inMain("wide"), run: pane.changeAllOpen },
    {
      name: t.session.turns,
      room: main ? "all" : "wide",
      run: pane.toggleSide,
      isOpen: isSideOpen,
      ...(runs > 0 && { detail: t.session.andRuns(runs) }),
    },
  ];
}
