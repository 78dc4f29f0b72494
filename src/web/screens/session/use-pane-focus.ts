import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { isTextField } from "../../app/keys.ts";
import { hasNavigated } from "../../app/router.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

/**
 * Focuses the transcript of a session once it is ready. Beside another session: unless the user has moved the focus meanwhile. In
 * the main pane: only if the focus was lost together with the previous screen.
 */
export function useFocusOnOpening({ isBeside, isReady }: { isBeside: boolean; isReady: boolean }): void {
  const isTaken = useRef(false);
  useLayoutEffect(() => {
    if (!isReady) return;
    const isLeft = isBeside
      ? isTaken.current || isTextField(document.activeElement)
      : document.activeElement !== document.body || !hasNavigated();
    if (isLeft) return;
    const pane = isBeside ? ".pane-beside" : ".pane:not(.pane-beside)";
    document.querySelector<HTMLElement>(`${pane} .scroller`)?.focus({ preventScroll: true });
  }, [isBeside, isReady]);
  useEffect(() => {
    if (!isBeside || isReady) return;
    const take = (): void => {
      isTaken.current = true;
    };
    document.addEventListener("focusin", take);
    return () => document.removeEventListener("focusin", take);
  }, [isBeside, isReady]);
}

/** When the split view is closed, restores the focus to the element that opened it or, if that is gone, to the transcript. */
export function useFocusBack(scroller: RefObject<ScrollerHandle | null>, beside: string | undefined): void {
  const before = useRef<{ beside: string | undefined; opener: Element | null }>({ beside, opener: null });
  // A layout effect, because on the next paint the browser removes the focus from hidden elements.
  useLayoutEffect(() => {
    const { beside: last, opener } = before.current;
    if (last === beside) return;
    before.current = { beside, opener: last === undefined ? document.activeElement : opener };
    if (beside !== undefined || document.activeElement !== document.body) return;
    if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    // The opener is gone or hidden.
    if (document.activeElement === document.body) scroller.current?.focus();
  }, [beside, scroller]);
}
