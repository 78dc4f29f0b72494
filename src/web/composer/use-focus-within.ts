import { type RefObject, useEffect, useState } from "react";
import { watchReleases } from "../virtual-list/pointer-release.ts";

/**
 * Whether an element contains the focus. Does not change while a pointer is down: if it changed the layout, the click would hit
 * whatever moved under the pointer.
 */
export function useFocusWithin(element: RefObject<HTMLElement | null>): boolean {
  const [isWithin, setWithin] = useState(false);
  useEffect(() => {
    let isDown = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = (): void => {
      if (!isDown) setWithin(element.current?.contains(document.activeElement) ?? false);
    };
    // Deferred: when a touch ends, it moves the focus and then clicks.
    const scheduleCheck = (): void => {
      clearTimeout(timer);
      timer = setTimeout(check);
    };
    const press = (): void => {
      isDown = true;
    };
    // Releasing a pointer over a scroll bar may fire no event.
    const forget = (): void => {
      isDown = false;
    };
    const unwatch = watchReleases(() => {
      forget();
      check();
    });
    check();
    addEventListener("pointerdown", press, { capture: true });
    addEventListener("keydown", forget, { capture: true });
    document.addEventListener("focusin", scheduleCheck);
    document.addEventListener("focusout", scheduleCheck);
    return () => {
      unwatch();
      clearTimeout(timer);
      removeEventListener("pointerdown", press, { capture: true });
      removeEventListener("keydown", forget, { capture: true });
      document.removeEventListener("focusin", scheduleCheck);
      document.removeEventListener("focusout", scheduleCheck);
    };
  }, [element]);
  return isWithin;
}
