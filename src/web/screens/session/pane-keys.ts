import type { RefObject } from "react";
import { isOpenedSession } from "../../../model/opened-session.ts";
import type { ReadStatePatch } from "../../../model/read-state.ts";
import type { SessionSummary } from "../../../model/session.ts";
import type { KeyBinding } from "../../app/keys.ts";
import { NEW_SESSION, navigate, sessionHref } from "../../app/router.ts";
import { t } from "../../text/text.ts";
import type { Inspected } from "./inspect/inspected.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import { answerKeys, scrollKeys } from "./session-keys.ts";
import type { SessionFilter } from "./use-filter.ts";
import type { PaneFind } from "./use-pane-find.ts";

/** The actions of the key bindings and buttons of a session's pane. */
export interface PaneActions {
  readonly session_id: string;
  readonly row: SessionSummary | undefined;
  readonly scroller: RefObject<ScrollerHandle | null>;
  readonly find: PaneFind;
  readonly filter: SessionFilter;
  /** Position of the first part that is new to the user. */
  readonly firstNew: number | undefined;
  /** Whether an agent in a terminal waits for an answer. */
  readonly hasRequests: boolean;
  readonly nextWaiting: KeyBinding;
  readonly isTimelineOpen: boolean;
  goTo(index: number, open: boolean): Promise<unknown>;
  stepTurn(by: 1 | -1): void;
  /** Goes to the next or previous entry of the outline, across turns. `undefined`: the outline is not open. */
  readonly stepOutline: ((by: 1 | -1) => void) | undefined;
  stepError(by: 1 | -1, keepsFocus?: boolean): Promise<void>;
  /** Goes to the part at which the last turn ended, if the turn failed. */
  toEnding(): Promise<void>;
  /** Cycles between expanding all rows, collapsing all, and following the settings. */
  changeAllOpen(): void;
  inspect(what: Inspected): void;
  /**
   * The model call of the highlighted row. Without one: at the end of the session, the last call; elsewhere, the call at the top
   * of the viewport.
   */
  callHere(): { part: string } | { call: number };
  /** Opens the form for a note on the part that is focused, highlighted or at the top of the viewport. */
  writeNote(): void;
  toggleTimeline(): void;
  toggleSide(): void;
  focusComposer(): void;
  openAgent(): void;
  mark(patch: ReadStatePatch): Promise<boolean>;
  setMessage(message: string): void;
  /** Closes what was opened last. If nothing is open, stops the agent. */
  readonly escape: { readonly label: string; run(): void };
}

/** All key bindings of a pane, in the order in which the help lists them. */
export function paneKeys(pane: PaneActions): KeyBinding[] {
  const { row } = pane;
  const control = row?.control;
  return [
    { keys: ["/", "Ctrl+f"], label: t.find.name, run: pane.find.open },
    ...scrollKeys(pane.scroller),
    { keys: ["]", "n"], label: t.session.keys.nextPrompt, run: () => pane.stepTurn(1) },
    { keys: ["[", "p"], label: t.session.keys.previousPrompt, run: () => pane.stepTurn(-1) },
    ...outlineKeys(pane.stepOutline),
    { keys: ["e"], label: t.session.nextError, run: () => void pane.stepError(1) },
    { keys: ["E"], label: t.session.keys.previousError, run: () => void pane.stepError(-1) },
    { keys: ["!"], label: t.session.keys.ending, run: () => void pane.toEnding() },
    {
      keys: ["x"],
      label: t.session.allKeys,
      run: () => pane.changeAllOpen(),
    },
    { keys: ["d"], label: t.session.keys.changes, run: () => pane.inspect({ view: "changes" }) },
    {
      keys: ["i"],
      label: t.session.keys.context,
      run: () => pane.inspect({ view: "context", which: pane.callHere() }),
    },
    { keys: ["F"], label: t.session.keys.figures, run: () => pane.inspect({ view: "figures" }) },
    { keys: ["T"], label: t.session.keys.timeline, run: () => pane.toggleTimeline() },
    { keys: ["C"], label: t.session.keys.compare, run: () => pane.inspect({ view: "compare" }) },
    { keys: ["o"], label: t.session.outline, run: () => pane.toggleSide() },
    {
      keys: ["u"],
      label: t.session.up,
      run: () =>
        navigate(
          row?.parent === undefined
            ? "/"
            : sessionHref(
                row.parent.session_id,
                row.parent.tool_call_id === undefined ? "" : `call-${row.parent.tool_call_id}`,
              ),
        ),
    },
    pane.nextWaiting,
    ...(control !== undefined || pane.hasRequests ? answerKeys() : []),
    ...(control === undefined
      ? []
      : [
          // Only listed here: the prompt field handles these keys itself, before the page does.
          ...(control.can_steer
            ? [
                {
                  keys: ["Alt+Enter"],
                  label: t.session.keys.steer,
                  keyOnly: true,
                  run: () => {},
                },
              ]
            : []),
          { keys: ["c"], label: t.composer.message, run: pane.focusComposer },
          { keys: ["a"], label: t.session.agentSettings, run: () => pane.openAgent() },
        ]),
    { keys: ["s"], label: t.common.newSession, run: () => navigate(NEW_SESSION) },
    { keys: ["Escape"], keyOnly: true, ...pane.escape },
    ...readingKeys(pane),
  ];
}

/** Key bindings for the read state and for filters. */
function readingKeys(pane: PaneActions): KeyBinding[] {
  const { session_id, row } = pane;
  return [
    { keys: ["f"], label: t.filter.key, run: pane.filter.open },
    {
      keys: ["v"],
      label: t.read.toFirst,
      run: () =>
        pane.firstNew === undefined
          ? pane.setMessage(t.read.nothingNew)
          : void pane.goTo(pane.firstNew, false),
    },
    // Sessions in opened files are not stored, so they cannot be marked.
    ...(isOpenedSession(session_id)
      ? []
      : [
          {
            keys: ["m"],
            label: t.read.markUnread,
            run: () => void pane.mark({ unread: true }).then((kept) => kept && navigate("/")),
          },
          {
            keys: ["P"],
            label: row?.pinned ? t.read.unpin : t.read.pin,
            run: () => void pane.mark({ pinned: row?.pinned !== true }),
          },
          { keys: ["b"], label: t.notes.addKey, run: () => pane.writeNote() },
          { keys: ["B"], label: t.notes.key, run: () => pane.inspect({ view: "notes" }) },
        ]),
  ];
}

function outlineKeys(step: PaneActions["stepOutline"]): KeyBinding[] {
  if (step === undefined) return [];
  return [
    { keys: ["J"], label: t.session.keys.nextEntry, run: () => step(1) },
    { keys: ["K"], label: t.session.keys.previousEntry, run: () => step(-1) },
  ];
}
