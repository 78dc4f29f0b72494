import { type MouseEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";

/**
 * So soon after a button appeared or moved, nobody has read it: a click was meant for what was there before, perhaps in another window.
 * In milliseconds.
 */
const UNREAD_MS = 500;
/** Interval of checks whether buttons moved, for which there is no event. */
const LOOK_MS = 100;

/** Buttons that ignore clicks that were meant for something else. */
interface MeantClicks {
  /** The element that moves with the buttons. */
  readonly place: RefObject<HTMLDivElement | null>;
  /** They moved, or their window came to the front, just now. */
  readonly isNew: boolean;
  /** Clicks by keyboard count even if buttons moved, because the focus is where the user put it, unless they began in another window. */
  isMeant(click: MouseEvent): boolean;
}

/** Tells apart clicks that were meant for a button from those that hit it because the page moved. */
export function useMeantClicks(): MeantClicks {
  const place = useRef<HTMLDivElement>(null);
  const stood = useRef({ left: Number.NaN, top: Number.NaN, since: 0 });
  /** When the window came to the front, if that was observed. */
  const front = useRef(Number.NEGATIVE_INFINITY);
  const [isNew, setNew] = useState(true);

  const look = useCallback((): boolean => {
    if (place.current === null) return false;
    const { left, top } = place.current.getBoundingClientRect();
    const now = performance.now();
    if (left !== stood.current.left || top !== stood.current.top) stood.current = { left, top, since: now };
    const cameNow = now - Math.max(stood.current.since, front.current) < UNREAD_MS;
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
