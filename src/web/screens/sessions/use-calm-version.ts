import { useEffect, useState } from "react";
import { useClient } from "../../app/store.ts";

/** The list changes with every sign of life of every agent: looked at again at most so often, in milliseconds. */
const LOOK_MS = 250;
/** After these no pointer is down in the page any more. */
const RELEASES = ["pointerup", "pointercancel", "contextmenu", "blur"] as const;

/** The list's version, at a calmer pace than the store's; while a pointer is down nothing moves away from under it. */
export function useCalmVersion(): number {
  const { rows } = useClient();
  const [version, setVersion] = useState(() => rows.getState().version);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isPressed = false;
    let waits = false;
    const look = (): void => {
      timer = undefined;
      waits = isPressed;
      if (!isPressed) setVersion(rows.getState().version);
    };
    // The release of another button may fire no event, because it opens the browser's menu.
    const press = ({ button }: PointerEvent): void => {
      if (button === 0) isPressed = true;
    };
    const release = (): void => {
      isPressed = false;
      // The click comes after this event.
      if (waits) timer ??= setTimeout(look);
    };
    look();
    const stop = rows.subscribe((now, before) => {
      if (!before.loaded && now.loaded) look();
      else timer ??= setTimeout(look, LOOK_MS);
    });
    addEventListener("pointerdown", press);
    for (const type of RELEASES) addEventListener(type, release);
    return () => {
      clearTimeout(timer);
      stop();
      removeEventListener("pointerdown", press);
      for (const type of RELEASES) removeEventListener(type, release);
    };
  }, [rows]);
  return version;
}
