import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { typing } from "../../app/keys.ts";
import { cameFromWithin } from "../../app/router.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

/**
 * The focus goes into a session that is opened, once it can be read: into a run beside another session unless the reader has
 * taken it elsewhere, into one that takes the place of another screen where it went with that.
 */
export function useFocusOnOpening({ isBeside, isReady }: { isBeside: boolean; isReady: boolean }): void {
  const isTaken = useRef(false);
  useLayoutEffect(() => {
    if (!isReady) return;
    const isLeft = isBeside
      ? isTaken.current || typing(document.activeElement)
      : document.activeElement !== document.body || !cameFromWithin();
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

/** Returns the focus to the element that opened the split view when it closes, otherwise to the session's transcript. */
export function useFocusBack(scroller: RefObject<ScrollerHandle | null>, beside: string | undefined): void {
  const before = useRef<{ beside: string | undefined; opener: Element | null }>({ beside, opener: null });
  // Before the paint, when the browser removes the focus from hidden elements.
  useLayoutEffect(() => {
    const { beside: last, opener } = before.current;
    if (last === beside) return;
    before.current = { beside, opener: last === undefined ? document.activeElement : opener };
    if (beside !== undefined || document.activeElement !== document.body) return;
    if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    // It is gone, or hidden.
    if (document.activeElement === document.body) scroller.current?.focus();
  }, [beside, scroller]);
}
