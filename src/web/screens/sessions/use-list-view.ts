import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useSetting } from "../../app/store.ts";
import { BREAKPOINTS } from "../../ui/breakpoints.ts";
import { useMatch } from "../../ui/use-match.ts";
import type { ListState } from "./list-state.ts";
import type { ListItem } from "./session-list.ts";

/** Heights of rows and group headings, in pixels, as in theme.css. Narrow lists have rows for touch in any density. */
const HEIGHTS = {
  narrow: { row: 56, group: 40 },
  comfortable: { row: 32, group: 40 },
  compact: { row: 24, group: 32 },
} as const;

/** A line of the list with its position, in pixels from the top of the list. */
export interface PlacedLine {
  readonly item: ListItem;
  /** Index in the list. */
  readonly index: number;
  readonly key: string;
  readonly top: number;
  readonly end: number;
  /** For a heading: where the last row of its group ends. For a row: the same as `end`. */
  readonly groupEnd: number;
}

/** Computes the position of each line. */
function placed(
  items: readonly ListItem[],
  heights: { readonly row: number; readonly group: number },
): PlacedLine[] {
  let end = 0;
  const lines = items.map((item, index) => {
    const top = end;
    end += item.type === "group" ? heights.group : heights.row;
    const key = item.type === "group" ? `group ${item.key}` : `${item.depth} ${item.row.id}`;
    return { item, index, key, top, end, groupEnd: end };
  });
  let groupEnd = end;
  for (const line of lines.toReversed()) {
    if (line.item.type !== "group") continue;
    line.groupEnd = groupEnd;
    groupEnd = line.top;
  }
  return lines;
}

/** The lines of the list, and which part of the list is in view. */
export interface ListView {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly lines: readonly PlacedLine[];
  /** The lines that were rendered last. */
  readonly latest: RefObject<readonly PlacedLine[]>;
  /** The height of all lines, in pixels. */
  readonly total: number;
  readonly view: { readonly top: number; readonly height: number };
  /** Reads the scroll position again. */
  readScrollPosition(): void;
  /** Keeps this line at its position in the viewport when the lines change next. */
  hold(key: string): void;
}

/** Computes the positions of the lines and tracks the scroll position, which is stored in `listState`. */
export function useListView(listState: ListState, items: readonly ListItem[]): ListView {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: listState.scrollTop, height: 800 });
  const isNarrow = useMatch(BREAKPOINTS.narrow);
  const [density] = useSetting("density");
  const heights = HEIGHTS[isNarrow ? "narrow" : density];
  const lines = useMemo(() => placed(items, heights), [items, heights]);
  const total = lines.at(-1)?.end ?? 0;

  const readScrollPosition = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    listState.scrollTop = element.scrollTop;
    setView({ top: element.scrollTop, height: element.clientHeight });
  }, [listState]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    element.scrollTop = listState.scrollTop;
    const observer = new ResizeObserver(readScrollPosition);
    observer.observe(element);
    element.addEventListener("scroll", readScrollPosition, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", readScrollPosition);
    };
  }, [listState, readScrollPosition]);

  // Visible rows keep their position when rows above them change: scroll by the median shift of the visible rows.
  const latest = useRef(lines);
  const held = useRef<string>(undefined);
  useLayoutEffect(() => {
    const before = latest.current;
    latest.current = lines;
    const anchor = held.current;
    held.current = undefined;
    const element = scroller.current;
    if (element === null || listState.scrollTop === 0) return;
    const tops = new Map(lines.map(({ key, top }) => [key, top]));
    const visible = before.filter(
      ({ top, end }) => end > listState.scrollTop && top < listState.scrollTop + element.clientHeight,
    );
    const shifts = (anchor === undefined ? visible : before.filter(({ key }) => key === anchor))
      .map(({ key, top }) => (tops.get(key) ?? Number.NaN) - top)
      .filter((shift) => !Number.isNaN(shift))
      .sort((a, b) => a - b);
    const shift = shifts[shifts.length >> 1] ?? 0;
    if (shift === 0) return;
    element.scrollTop = listState.scrollTop + shift;
    readScrollPosition();
  }, [listState, lines, readScrollPosition]);

  const hold = useCallback((key: string) => {
    held.current = key;
  }, []);
  return { scroller, lines, latest, total, view, readScrollPosition, hold };
}
