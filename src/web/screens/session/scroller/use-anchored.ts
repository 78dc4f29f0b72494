import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { flushSync } from "react-dom";
import { AT_END, anchorAt, isOnScreen, type Scrolling, scrollTop } from "./scroll-view.ts";
import { measureAll } from "./use-measured-rows.ts";

/** Scroll distance, in pixels, up to which the rendered rows still cover the viewport. */
const RENDERED_DISTANCE = 200;

/** What to report after the view has moved. The functions must be stable. */
interface Reports {
  isPrinting: RefObject<boolean>;
  /** `bottom`: the lower edge of the viewport, in pixels from the top of the transcript. */
  onScrollBelow(bottom: number): void;
  reportView(): void;
}

/** After each commit and before the paint: measures the rows, then scrolls to the anchor. */
export function useAnchored(
  { layout, view, place, tick }: Scrolling,
  { isPrinting, onScrollBelow, reportView }: Reports,
  { hasTail, forgetRemoved }: { hasTail: boolean; forgetRemoved(): void },
): void {
  const { box, pageScrolledTo, viewport, leftEnd, focusedRow, held, seeksEnd, mounted } = view;
  const rounds = useRef(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || isPrinting.current) return;
    forgetRemoved();
    // When a part is loaded, its row gets a new element: restore the focus.
    if (focusedRow.current !== undefined && document.activeElement === document.body)
      (mounted.current.get(`row ${focusedRow.current}`) ?? element).focus({ preventScroll: true });
    viewport.current.height = element.clientHeight;
    // While a run covers this pane, rows have no height.
    if (!isOnScreen(element)) return;
    const hasNoTail = !hasTail && layout.measureTail(0);
    const changed = measureAll(layout, mounted.current) || hasNoTail;
    const top = scrollTop(layout, view);
    if (Math.abs(element.scrollTop - top) >= 0.5) {
      element.scrollTop = top;
      pageScrolledTo.current = element.scrollTop;
    } else if (element.scrollTop !== viewport.current.top) {
      // The content became shorter, so the browser scrolled.
      pageScrolledTo.current = element.scrollTop;
    }
    viewport.current.top = element.scrollTop;
    if (leftEnd.current === "closed") {
      leftEnd.current = undefined;
      if (element.scrollTop + element.clientHeight >= layout.height - AT_END) place({ end: true });
    }
    // New heights may bring other rows into view: render again. The number of rounds is limited, so that this always ends.
    rounds.current = changed ? rounds.current + 1 : 0;
    if (changed && rounds.current < 10) tick();
    else {
      rounds.current = 0;
      reportView();
      const bottom = element.scrollTop + element.clientHeight;
      onScrollBelow(bottom);
      if (seeksEnd.current && held.current === undefined && bottom >= layout.height - AT_END) {
        seeksEnd.current = false;
        place({ end: true });
      }
    }
  });
}

/** Moves the anchor when the user scrolls, and renders again when the rendered rows no longer cover the view. */
export function useUserScroll(
  { layout, view, place, tick }: Scrolling,
  { isPrinting, onScrollBelow, reportView }: Reports,
): void {
  useLayoutEffect(() => {
    const { anchor, pageScrolledTo, viewport, leftEnd, held, resumesFollowing, seeksEnd } = view;
    const element = view.box.current;
    if (element === null) return;
    const onScroll = (): void => {
      // The box is hidden, or its position has not been restored yet after it was shown again.
      if (!isOnScreen(element) || viewport.current.height === 0 || isPrinting.current) return;
      const top = element.scrollTop;
      const { top: before, height } = viewport.current;
      viewport.current.top = top;
      viewport.current.height = element.clientHeight;
      // The browser scrolled, because the box was higher for a moment, for example while a prompt was replaced by pasting.
      if (anchor.current.end && element.clientHeight !== height) {
        flushSync(tick);
        return;
      }
      if (Math.abs(top - pageScrolledTo.current) > 1) {
        pageScrolledTo.current = Number.NEGATIVE_INFINITY;
        leftEnd.current = undefined;
        seeksEnd.current = false;
        // Scrolling up always leaves the end: otherwise the user could not scroll away from a growing session. If the box became
        // higher, the browser scrolled, not the user.
        const isUpwards = top < before && element.clientHeight <= height;
        const end = !isUpwards && top + element.clientHeight >= layout.height - AT_END;
        const isHeld = held.current !== undefined;
        place(end && !isHeld ? { end: true } : anchorAt(layout, top, element.clientHeight));
        resumesFollowing.current = end && isHeld;
        onScrollBelow(top + element.clientHeight);
      }
      if (Math.abs(top - viewport.current.rendered) > RENDERED_DISTANCE) flushSync(tick);
      else reportView();
    };
    const resized = new ResizeObserver(() => {
      // Re-render before the paint, as when rows are resized.
      if (element.clientHeight !== viewport.current.height && !isPrinting.current) flushSync(tick);
    });
    resized.observe(element);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, [layout, view, place, tick, isPrinting, onScrollBelow, reportView]);
}

/** Scrolls to the anchor again when the browser restores the page from its back/forward cache. */
export function useAnchoredAfterReturn(tick: () => void): void {
  useEffect(() => {
    // WebKit resets the scroll position of a restored page. That scroll event must not be taken for the user's.
    const comeBack = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) flushSync(tick);
    };
    addEventListener("pageshow", comeBack);
    return () => removeEventListener("pageshow", comeBack);
  }, [tick]);
}
