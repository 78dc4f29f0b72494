import { type MouseEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** Nobody has read so soon what came to where it stands: a click then was meant for what stood there before. In milliseconds. */
const UNREAD_MS = 500;
/** How often it is looked at whether buttons moved: the page has no event for it. */
const LOOK_MS = 100;

/** Buttons that only take clicks that were meant for them. */
interface MeantClicks {
  /** What moves with the buttons. */
  readonly place: RefObject<HTMLDivElement | null>;
  /** They came to where they stand only just now. */
  readonly isNew: boolean;
  /** The keyboard's clicks always are: it is where its reader put it, whatever moves. */
  isMeant(click: MouseEvent): boolean;
}

/** Tells clicks that were meant for a button from those that it came under, as another one went or the page moved. */
export function useMeantClicks(): MeantClicks {
  const place = useRef<HTMLDivElement>(null);
  const stood = useRef({ left: Number.NaN, top: Number.NaN, since: 0 });
  const [isNew, setNew] = useState(true);

  const look = useCallback((): boolean => {
    if (place.current === null) return false;
    const { left, top } = place.current.getBoundingClientRect();
    const now = performance.now();
    if (left !== stood.current.left || top !== stood.current.top) stood.current = { left, top, since: now };
    const cameNow = now - stood.current.since < UNREAD_MS;
    setNew(cameNow);
    return cameNow;
  }, []);
  useEffect(() => {
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [look]);

  return { place, isNew, isMeant: ({ detail }) => detail === 0 || (detail === 1 && !look()) };
}
