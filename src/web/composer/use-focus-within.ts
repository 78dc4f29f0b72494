import { type RefObject, useEffect, useState } from "react";
import { watchReleases } from "../virtual-list/pointer-release.ts";

/**
 * Whether the keyboard is in an element, as of when no pointer was down: what looks another way for it does so only once the
 * click is done, or the click would go to what came under the pointer.
 */
export function useFocusWithin(element: RefObject<HTMLElement | null>): boolean {
  const [isWithin, setWithin] = useState(false);
  useEffect(() => {
    let isDown = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      if (!isDown) setWithin(element.current?.contains(document.activeElement) ?? false);
    };
    // A touch moves the focus when it is over, and clicks at once.
    const lookSoon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(look);
    };
    const press = (): void => {
      isDown = true;
    };
    // Over a scroll bar the release may never be told.
    const forget = (): void => {
      isDown = false;
    };
    const unwatch = watchReleases(() => {
      forget();
      look();
    });
    look();
    addEventListener("pointerdown", press, { capture: true });
    addEventListener("keydown", forget, { capture: true });
    document.addEventListener("focusin", lookSoon);
    document.addEventListener("focusout", lookSoon);
    return () => {
      unwatch();
      clearTimeout(timer);
      removeEventListener("pointerdown", press, { capture: true });
      removeEventListener("keydown", forget, { capture: true });
      document.removeEventListener("focusin", lookSoon);
      document.removeEventListener("focusout", lookSoon);
    };
  }, [element]);
  return isWithin;
}
