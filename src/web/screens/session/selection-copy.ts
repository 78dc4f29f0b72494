import { type RefObject, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { isTextField } from "../../app/keys.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { Layout, VisibleTurn } from "./layout.ts";
import { selectRows } from "./print-view.ts";

/** If a selection spans more parts than this, only its ends are kept rendered; the rest is rendered in view and during a copy. */
export const MAX_HELD_ROWS = 300;
/** Class of the box during a copy: scroller.css then excludes the page's own texts from the selection. */
const COPYING_CLASS = "is-copied";

/**
 * Renders the rows between the ends of a selection during a copy, because browsers copy only what is rendered. `omissionText`: a
 * message about what was not copied, until the selection changes.
 */
export function useSelectionCopy(
  session: OpenSession,
  layout: Layout,
  box: RefObject<HTMLElement | null>,
  held: RefObject<{ readonly rows: readonly number[] } | undefined>,
): { copiedTurns: readonly VisibleTurn[]; omissionText: string | undefined } {
  const [copiedTurns, setCopiedTurns] = useState<readonly VisibleTurn[]>([]);
  const [omissionText, setOmissionText] = useState<string>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const copy = (event: ClipboardEvent): void => {
      // Leave it to the browser to copy from a field, even if there is a selection in the transcript as well.
      if (isTextField(event.target)) return;
      const first = held.current?.rows[0];
      const last = held.current?.rows.at(-1);
      box.current?.classList.toggle(COPYING_CLASS, !isInMargin(getSelection()));
      if (first !== undefined && last !== undefined && first < layout.parts && last < layout.parts) {
        const { turns, omissionText, unloaded } = selectRows(
          layout.visible(layout.topOf(first), layout.topOf(last)),
          (index) => session.partAt(index) !== undefined,
          first,
          "copy",
        );
        flushSync(() => {
          setCopiedTurns(turns);
          setOmissionText(omissionText);
        });
        if (unloaded !== undefined) void session.load(unloaded.from, unloaded.to);
        if (last - first > MAX_HELD_ROWS) {
          // For so many rows, serializing them as HTML with all styles and painting them would take the browser seconds.
          event.clipboardData?.setData("text/plain", String(getSelection()));
          event.preventDefault();
          flushSync(() => setCopiedTurns([]));
        }
      }
      clearTimeout(timer);
      // Deferred, because the browser reads the selection after this event.
      timer = setTimeout(() => {
        box.current?.classList.remove(COPYING_CLASS);
        setCopiedTurns([]);
      });
    };
    const forget = (): void => setOmissionText(undefined);
    document.addEventListener("copy", copy);
    document.addEventListener("selectionchange", forget);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("copy", copy);
      document.removeEventListener("selectionchange", forget);
    };
  }, [session, layout, box, held]);
  return { copiedTurns, omissionText };
}

/** Whether the selection is within one gutter, whose text is otherwise excluded from copies. */
function isInMargin(selection: Selection | null): boolean {
  const node = selection?.rangeCount ? selection.getRangeAt(0).commonAncestorContainer : undefined;
  const element = node instanceof Element ? node : node?.parentElement;
  return (element?.closest(".part-gutter") ?? null) !== null;
}
