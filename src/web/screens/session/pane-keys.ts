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

/** What the keys and the buttons of a session's pane do. */
export interface PaneActions {
  readonly session_id: string;
  readonly row: SessionSummary | undefined;
  readonly scroller: RefObject<ScrollerHandle | null>;
  readonly find: PaneFind;
  readonly filter: SessionFilter;
  /** Position of the first part that is new to the reader. */
  readonly firstNew: number | undefined;
  /** An agent in a terminal waits for an answer. */
  readonly hasRequests: boolean;
  readonly nextWaiting: KeyBinding;
  readonly isTimelineOpen: boolean;
  goTo(index: number, open: boolean): Promise<unknown>;
  stepTurn(by: 1 | -1): void;
  /** Goes to the next or previous entry of the outline, over the borders of turns. `undefined`: the outline is not open. */
  readonly stepOutline: ((by: 1 | -1) => void) | undefined;
  stepError(by: 1 | -1, stays?: boolean): Promise<void>;
  /** Goes to what ended the last turn, if it failed. */
  toEnding(): Promise<void>;
  /** Opens all rows, closes all, or leaves each as the settings say, in turn. */
  changeAllOpen(): void;
  inspect(what: Inspected): void;
  /** The model call of the marked row; otherwise the last one at the end of the session, elsewhere that at the top of the view. */
  callHere(): { part: string } | { call: number };
  /** Opens the form of a note on the part that is focused, marked or at the top of the view. */
  writeNote(): void;
  toggleTimeline(): void;
  toggleSide(): void;
  focusComposer(): void;
  openAgent(): void;
  mark(patch: ReadStatePatch): Promise<boolean>;
  setMessage(message: string): void;
  /** Closes the last opened element; if there is none, stops the agent. */
  readonly escape: { readonly does: string; run(): void };
}

/** All keys of a pane, in the order in which the help lists them. */
export function paneKeys(pane: PaneActions): KeyBinding[] {
  const { row } = pane;
  const control = row?.control;
  return [
    { keys: ["/", "Ctrl+f"], does: t.find.name, run: pane.find.open },
    ...scrollKeys(pane.scroller),
    { keys: ["]", "n"], does: t.session.keys.nextPrompt, run: () => pane.stepTurn(1) },
    { keys: ["[", "p"], does: t.session.keys.previousPrompt, run: () => pane.stepTurn(-1) },
    ...outlineKeys(pane.stepOutline),
    { keys: ["e"], does: t.session.nextError, run: () => void pane.stepError(1) },
    { keys: ["E"], does: t.session.keys.previousError, run: () => void pane.stepError(-1) },
    { keys: ["!"], does: t.session.keys.ending, run: () => void pane.toEnding() },
    {
      keys: ["x"],
      does: t.session.allKeys,
      run: () => pane.changeAllOpen(),
    },
    { keys: ["d"], does: t.session.keys.changes, run: () => pane.inspect({ view: "changes" }) },
    {
      keys: ["i"],
      does: t.session.keys.context,
      run: () => pane.inspect({ view: "context", which: pane.callHere() }),
    },
    { keys: ["F"], does: t.session.keys.figures, run: () => pane.inspect({ view: "figures" }) },
    { keys: ["T"], does: t.session.keys.timeline, run: () => pane.toggleTimeline() },
    { keys: ["C"], does: t.session.keys.compare, run: () => pane.inspect({ view: "compare" }) },
    { keys: ["o"], does: t.session.outline, run: () => pane.toggleSide() },
    {
      keys: ["u"],
      does: t.session.up,
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
          // In the field itself, which looks at its keys before the page does; here they are only listed.
          ...(control.can_steer
            ? [
                {
                  keys: ["Alt+Enter"],
                  does: t.session.keys.steer,
                  keyOnly: true,
                  run: () => {},
                },
              ]
            : []),
          { keys: ["c"], does: t.composer.message, run: pane.focusComposer },
          { keys: ["a"], does: t.session.agentSettings, run: () => pane.openAgent() },
        ]),
    { keys: ["s"], does: t.common.newSession, run: () => navigate(NEW_SESSION) },
    { keys: ["Escape"], keyOnly: true, ...pane.escape },
    ...readingKeys(pane),
  ];
}

/** Keys for the read state and for filters. */
function readingKeys(pane: PaneActions): KeyBinding[] {
  const { session_id, row } = pane;
  return [
    { keys: ["f"], does: t.filter.key, run: pane.filter.open },
    {
      keys: ["v"],
      does: t.read.toFirst,
      run: () =>
        pane.firstNew === undefined
          ? pane.setMessage(t.read.nothingNew)
          : void pane.goTo(pane.firstNew, false),
    },
    // Nothing is kept of an opened file, so it cannot be marked.
    ...(isOpenedSession(session_id)
      ? []
      : [
          {
            keys: ["m"],
            does: t.read.markUnread,
            run: () => void pane.mark({ unread: true }).then((kept) => kept && navigate("/")),
          },
          {
            keys: ["P"],
            does: row?.pinned ? t.read.unpin : t.read.pin,
            run: () => void pane.mark({ pinned: row?.pinned !== true }),
          },
          { keys: ["b"], does: t.notes.addKey, run: () => pane.writeNote() },
          { keys: ["B"], does: t.notes.key, run: () => pane.inspect({ view: "notes" }) },
        ]),
  ];
}

function outlineKeys(step: PaneActions["stepOutline"]): KeyBinding[] {
  if (step === undefined) return [];
  return [
    { keys: ["J"], does: t.session.keys.nextEntry, run: () => step(1) },
    { keys: ["K"], does: t.session.keys.previousEntry, run: () => step(-1) },
  ];
}
