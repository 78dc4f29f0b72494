import { type MouseEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";

/**
 * Nobody has read so soon what came to where it stands, or before their eyes: a click then was meant for what stood there
 * before, perhaps in another window. In milliseconds.
 */
const UNREAD_MS = 500;
/** How often it is looked at whether buttons moved: the page has no event for it. */
const LOOK_MS = 100;

/** Buttons that only take clicks that were meant for them. */
interface MeantClicks {
  /** What moves with the buttons. */
  readonly place: RefObject<HTMLDivElement | null>;
  /** They came to where they stand, or their window to the front, only just now. */
  readonly isNew: boolean;
  /** The keyboard's clicks are whatever moves, as it is where its reader put it; but not those that began in another window. */
  isMeant(click: MouseEvent): boolean;
}

/** Tells clicks that were meant for a button from those that it came under, as another one went or the page moved. */
export function useMeantClicks(): MeantClicks {
  const place = useRef<HTMLDivElement>(null);
  const stood = useRef({ left: Number.NaN, top: Number.NaN, since: 0 });
  /** Since when the window is in front, as far as it was seen to come there. */
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
