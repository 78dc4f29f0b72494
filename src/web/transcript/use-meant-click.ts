import { type MouseEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";

/**
 * Time after a button appeared or moved during which clicks are ignored, in milliseconds: nobody can have read it yet, so the
 * click was meant for what was there before, perhaps in another window.
 */
const UNREAD_MS = 500;
/** Polling interval of the buttons' position, in milliseconds: there is no event for a move. */
const LOOK_MS = 100;

/** State of buttons that ignore unintended clicks. */
interface MeantClicks {
  /** The element that moves with the buttons. */
  readonly place: RefObject<HTMLDivElement | null>;
  /** Whether the buttons moved, or their window came to the front, within the last `UNREAD_MS`. */
  readonly isNew: boolean;
  /**
   * Whether a click was intended. Keyboard clicks are, even if the buttons moved, because the focus stays on the button, unless
   * the key was pressed in another window.
   */
  isMeant(click: MouseEvent): boolean;
}

/** Distinguishes intended clicks on buttons from clicks that hit them only because the page moved. */
export function useMeantClicks(): MeantClicks {
  const place = useRef<HTMLDivElement>(null);
  const position = useRef({ left: Number.NaN, top: Number.NaN, since: 0 });
  /** When the window last came to the front, if that was observed. */
  const front = useRef(Number.NEGATIVE_INFINITY);
  const [isNew, setNew] = useState(true);

  const look = useCallback((): boolean => {
    if (place.current === null) return false;
    const { left, top } = place.current.getBoundingClientRect();
    const now = performance.now();
    if (left !== position.current.left || top !== position.current.top)
      position.current = { left, top, since: now };
    const cameNow = now - Math.max(position.current.since, front.current) < UNREAD_MS;
    setNew(cameNow);
    return cameNow;
  }, []);
  useEffect(() => {
    const comeToFront = (): void => {
      if (document.visibilityState === "visible") front.current = performance.now();
      look();
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    window.addEventListener("focus", comeToFront);
    document.addEventListener("visibilitychange", comeToFront);
    return () => {
      clearInterval(timer);
      window.removeEventListener("focus", comeToFront);
      document.removeEventListener("visibilitychange", comeToFront);
    };
  }, [look]);

  return {
    place,
    isNew,
    isMeant({ detail }) {
      if (!document.hasFocus() || performance.now() - front.current < UNREAD_MS) return false;
      return detail === 0 || (detail === 1 && !look());
    },
  };
}
