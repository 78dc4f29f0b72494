import { type MouseEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";

/**
 * Time after a button appeared or moved during which clicks are ignored, in milliseconds: nobody can have read it yet, so the
 * click was meant for what was there before, perhaps in another window.
 */
const IGNORE_MS = 500;
/** Polling interval of the buttons' position, in milliseconds: there is no event for a move. */
const CHECK_MS = 100;

/** State of buttons that ignore unintended clicks. */
interface IntendedClicks {
  /** The element that moves with the buttons. */
  readonly buttons: RefObject<HTMLDivElement | null>;
  /** Whether the buttons moved, or their window came to the front, within the last `IGNORE_MS`. */
  readonly isNew: boolean;
  /**
   * Whether a click was intended. Keyboard clicks are, even if the buttons moved, because the focus stays on the button, unless
   * the key was pressed in another window.
   */
  isIntended(click: MouseEvent): boolean;
}

/** Distinguishes intended clicks on buttons from clicks that hit them only because the page moved. */
export function useIntendedClicks(): IntendedClicks {
  const buttons = useRef<HTMLDivElement>(null);
  const position = useRef({ left: Number.NaN, top: Number.NaN, since: 0 });
  /** When the window last came to the front, if that was observed. */
  const cameToFrontAt = useRef(Number.NEGATIVE_INFINITY);
  const [isNew, setNew] = useState(true);

  const check = useCallback((): boolean => {
    if (buttons.current === null) return false;
    const { left, top } = buttons.current.getBoundingClientRect();
    const now = performance.now();
    if (left !== position.current.left || top !== position.current.top)
      position.current = { left, top, since: now };
    const isRecent = now - Math.max(position.current.since, cameToFrontAt.current) < IGNORE_MS;
    setNew(isRecent);
    return isRecent;
  }, []);
  useEffect(() => {
    const comeToFront = (): void => {
      if (document.visibilityState === "visible") cameToFrontAt.current = performance.now();
      check();
    };
    check();
    const timer = setInterval(check, CHECK_MS);
    window.addEventListener("focus", comeToFront);
    document.addEventListener("visibilitychange", comeToFront);
    return () => {
      clearInterval(timer);
      window.removeEventListener("focus", comeToFront);
      document.removeEventListener("visibilitychange", comeToFront);
    };
  }, [check]);

  return {
    buttons,
    isNew,
    isIntended({ detail }) {
      if (!document.hasFocus() || performance.now() - cameToFrontAt.current < IGNORE_MS) return false;
      return detail === 0 || (detail === 1 && !check());
    },
  };
}
