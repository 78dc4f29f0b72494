import { useEffect, useState } from "react";
import { useClient } from "../../app/store.ts";

/** Minimum time between two updates, in milliseconds: the rows change with each activity of each agent. */
const LOOK_MS = 250;
/** Events after which no pointer is down on the page. */
const RELEASES = ["pointerup", "pointercancel", "contextmenu", "blur"] as const;

/** The version of the rows, throttled. Does not change while a pointer is down, so that nothing moves under it. */
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
    // Only the main button: releasing another one may fire no event, because it opens the browser's menu.
    const press = ({ button }: PointerEvent): void => {
      if (button === 0) isPressed = true;
    };
    const release = (): void => {
      isPressed = false;
      // The click event follows this one.
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
