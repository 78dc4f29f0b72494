import { type RefObject, useLayoutEffect, useRef, useState } from "react";

/** Rows per batch. One batch beyond the viewport is rendered on each side. */
const BATCH = 10;
/** Estimated height of the box until it is measured, in pixels. */
export const HEIGHT_ESTIMATE = 600;

/**
 * The rows to render, `to` excluded, of a scrolling list whose rows all have the height `row`, in pixels. `top`: the initial
 * scroll position. `shown`: called when the box was hidden and becomes visible; may scroll it.
 */
export function useRowsInView(
  box: RefObject<HTMLElement | null>,
  row: number,
  top = 0,
  shown?: (box: HTMLElement) => void,
): { from: number; to: number } {
  const [rows, setRows] = useState(() => rowsIn(row, top, HEIGHT_ESTIMATE));
  const onShown = useRef(shown);
  useLayoutEffect(() => {
    onShown.current = shown;
  });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const update = (): void => {
      // A hidden list keeps its rows: the focus may return to one of them.
      if (element.clientHeight === 0) return;
      const next = rowsIn(row, element.scrollTop, element.clientHeight);
      setRows((before) => (before.from === next.from && before.to === next.to ? before : next));
    };
    let height = element.clientHeight;
    const observer = new ResizeObserver(() => {
      // A list that is not displayed cannot be scrolled.
      if (height === 0) onShown.current?.(element);
      height = element.clientHeight;
      update();
    });
    observer.observe(element);
    element.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", update);
    };
  }, [box, row]);
  return rows;
}

function rowsIn(row: number, top: number, height: number): { from: number; to: number } {
  const batchHeight = BATCH * row;
  return {
    from: Math.max(0, (Math.floor(top / batchHeight) - 1) * BATCH),
    to: (Math.ceil((top + height) / batchHeight) + 1) * BATCH,
  };
}
