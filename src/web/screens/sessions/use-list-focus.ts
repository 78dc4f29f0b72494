import { useCallback, useEffect } from "react";
import { flushSync } from "react-dom";
import type { ListState } from "./list-state.ts";
import type { ListItem } from "./session-list.ts";
import type { ListView, PlacedLine } from "./use-list-view.ts";

/** Where to move the focus: to the next or previous row, or to an end of the list. */
export type Move = 1 | -1 | "first" | "last";

const focusedData = (): DOMStringMap =>
  document.activeElement instanceof HTMLElement ? document.activeElement.dataset : {};

/** The id of the session whose row has the focus. */
export const focusedSession = (): string | undefined => focusedData().session;

/** Whether a line has the focus: a row, or the heading of a group. */
export function hasFocus(item: ListItem): boolean {
  const { session, group } = focusedData();
  return item.type === "group" ? item.key === group : item.row.id === session;
}

/** Whether the focus can move to a line: rows, and headings of folded groups. */
const isStop = ({ item }: PlacedLine): boolean => item.type === "session" || item.folded;

/** Moves the focus within the list. */
export interface ListFocus {
  move(by: Move): void;
  /** The line that has the focus. */
  line(): PlacedLine | undefined;
  /** Applies a change to the list, then focuses the line for which `fits` is true. */
  goTo(fits: (item: ListItem) => boolean, change?: () => void): void;
}

/** Moves the focus between the rows of the list. Initially focuses the row that had the focus when the user left the list. */
export function useListFocus(
  listState: ListState,
  { scroller, lines, latest, total, readScrollPosition }: ListView,
): ListFocus {
  const focus = useCallback(
    (fits: (data: DOMStringMap) => boolean): void => {
      const links = scroller.current?.querySelectorAll<HTMLElement>("[data-session], [data-group]") ?? [];
      [...links].find(({ dataset }) => fits(dataset))?.focus({ preventScroll: true });
    },
    [scroller],
  );
  useEffect(() => {
    const { focused } = listState;
    if (focused !== undefined) focus(({ session }) => session === focused);
  }, [listState, focus]);

  /** Scrolls a line into view and renders it, so that it can be focused. */
  const enter = (element: HTMLElement, { item, top, end }: PlacedLine, height: number): void => {
    // Below the headers of the list and the group, and above the lower edge of the viewport.
    const least = end + element.scrollHeight - height - element.clientHeight;
    element.scrollTop = Math.min(top - 40, Math.max(element.scrollTop, least));
    // Render now, so that the row is in the document.
    flushSync(readScrollPosition);
    focus(({ session, group }) => (item.type === "group" ? group === item.key : session === item.row.id));
  };

  return {
    move(by) {
      const element = scroller.current;
      if (element === null) return;
      const { scrollTop, clientHeight } = element;
      const here = lines.findIndex(
        ({ item, top, end }) => hasFocus(item) && end > scrollTop && top < scrollTop + clientHeight,
      );
      const last = lines.findLast(isStop);
      const to =
        by === "first"
          ? lines.find(isStop)
          : by === "last"
            ? last
            : here < 0
              ? (lines.find((line) => isStop(line) && line.top >= scrollTop) ?? last)
              : ((by === 1 ? lines.slice(here + 1).find(isStop) : lines.slice(0, here).findLast(isStop)) ??
                lines[here]);
      if (to !== undefined) enter(element, to, total);
    },
    line: () => lines.find(({ item }) => hasFocus(item)),
    goTo(fits, change) {
      if (change !== undefined) flushSync(change);
      const element = scroller.current;
      const to = latest.current.find(({ item }) => fits(item));
      if (element !== null && to !== undefined) enter(element, to, latest.current.at(-1)?.end ?? 0);
    },
  };
}
