import { useCallback, useEffect } from "react";
import { flushSync } from "react-dom";
import type { Left } from "./list-left.ts";
import type { ListView } from "./use-list-view.ts";

/** Where the focus goes: to the next row, the one before, or an end of the list. */
export type Move = 1 | -1 | "first" | "last";

/** The session whose row has the focus. */
export const focusedSession = (): string | undefined =>
  document.activeElement instanceof HTMLElement ? document.activeElement.dataset.session : undefined;

/** Moves the focus over the list's rows. At first, it is where a former visit left it. */
export function useListFocus(
  left: Left,
  { scroller, lines, total, look }: ListView,
): { move(by: Move): void } {
  const focus = useCallback(
    (id: string | undefined): void => {
      const links = scroller.current?.querySelectorAll<HTMLElement>("[data-session]") ?? [];
      [...links].find(({ dataset }) => dataset.session === id)?.focus({ preventScroll: true });
    },
    [scroller],
  );
  useEffect(() => focus(left.focused), [left, focus]);

  /** Loads the row into view before it is focused. */
  const move = (by: Move): void => {
    const element = scroller.current;
    if (element === null) return;
    const id = focusedSession();
    const sessions = lines.flatMap(({ item, top, end }) =>
      item.type === "session" ? { id: item.row.id, top, end } : [],
    );
    const here = sessions.findIndex(
      ({ id: session, top, end }) =>
        session === id && end > element.scrollTop && top < element.scrollTop + element.clientHeight,
    );
    const to = sessions.at(
      by === "first"
        ? 0
        : by === "last"
          ? -1
          : here < 0
            ? sessions.findIndex(({ top }) => top >= element.scrollTop)
            : Math.min(sessions.length - 1, Math.max(0, here + by)),
    );
    if (to === undefined) return;
    // Below the headers of the list and the group, and above the lower edge of the view.
    const least = to.end + element.scrollHeight - total - element.clientHeight;
    element.scrollTop = Math.min(to.top - 40, Math.max(element.scrollTop, least));
    // The row is in the document once the current view is rendered.
    flushSync(look);
    focus(to.id);
  };
  return { move };
}
