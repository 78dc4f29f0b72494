import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { TurnWindow } from "../../../transcript/host.ts";
import type { Layout } from "../layout.ts";
import { isOnScreen, type Scrolling } from "./scroll-view.ts";

type Measure = TurnWindow["measure"];

/** Maximum number of cached measuring functions. When it is reached, the cache is cleared. */
const MAX_MEASURES = 500;

/** Callback refs for the rendered elements whose heights the layout needs. */
interface MeasuredRows {
  /** The callback refs for the rows and the heading of a turn. Stable per turn. */
  measureFor(turn_id: string, turn: number): Measure;
  /** The callback ref for the content below the last row. Stable. */
  measureTail(element: HTMLElement | null): void;
  /** Forgets the elements that are no longer rendered. */
  forgetRemoved(): void;
}

/** Observes the heights of the rendered rows, and re-renders in the same frame when one changes. */
export function useMeasuredRows(
  { layout, view, tick }: Omit<Scrolling, "place">,
  isPrinting: RefObject<boolean>,
): MeasuredRows {
  const { box, mounted } = view;
  const [observer] = useState(
    () =>
      new ResizeObserver(() => {
        // Before the paint, so that the rows below a row that grew move in the same frame.
        if (isPrinting.current) return;
        if (isOnScreen(box.current) && measureAll(layout, mounted.current)) flushSync(tick);
      }),
  );
  const measures = useRef(new Map<string, Measure>());
  const measureFor = (turn_id: string, turn: number): Measure => {
    const key = `${turn_id} ${turn}`;
    let measure = measures.current.get(key);
    if (measure === undefined) {
      measure = (element) => {
        if (element === null) return;
        const row = element.dataset.index;
        mounted.current.set(row === undefined ? `turn ${turn}` : `row ${row}`, element);
        observer.observe(element);
      };
      measures.current.set(key, measure);
    }
    return measure;
  };

  const measureTail = useCallback(
    (element: HTMLElement | null): void => {
      if (element === null) return;
      mounted.current.set("tail", element);
      observer.observe(element);
    },
    [mounted, observer],
  );
  const forgetRemoved = (): void => {
    for (const [key, row] of mounted.current) {
      if (row.isConnected) continue;
      observer.unobserve(row);
      mounted.current.delete(key);
    }
    if (measures.current.size > MAX_MEASURES) measures.current.clear();
  };
  useEffect(() => () => observer.disconnect(), [observer]);
  return { measureFor, measureTail, forgetRemoved };
}

/** Measures all rendered rows. Returns whether any height changed. */
export function measureAll(layout: Layout, mounted: ReadonlyMap<string, HTMLElement>): boolean {
  let changed = false;
  for (const [key, element] of mounted) {
    if (!element.isConnected) continue;
    const { height } = element.getBoundingClientRect();
    const [kind, number] = key.split(" ");
    const isNew =
      kind === "tail"
        ? layout.measureTail(height)
        : kind === "row"
          ? layout.measureRow(Number(number), height)
          : layout.measureHeading(Number(number), height);
    changed ||= isNew;
  }
  return changed;
}
