import { useEffect, useState } from "react";
import { useClient } from "../../app/store.ts";
import { watchReleases } from "../../virtual-list/pointer-release.ts";

/** Minimum time between two updates, in milliseconds: the rows change with each activity of each agent. */
const UPDATE_MS = 250;

/** The version of the rows, throttled. Does not change while a pointer is down, so that nothing moves under it. */
export function useListVersion(): number {
  const { rows } = useClient();
  const [version, setVersion] = useState(() => rows.getState().version);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isPressed = false;
    let isDue = false;
    const update = (): void => {
      timer = undefined;
      isDue = isPressed;
      if (!isPressed) setVersion(rows.getState().version);
    };
    // Only the main button: releasing another one may fire no event, because it opens the browser's menu.
    const press = ({ button }: PointerEvent): void => {
      if (button === 0) isPressed = true;
    };
    const unwatch = watchReleases(() => {
      isPressed = false;
      if (isDue) update();
    });
    update();
    const stop = rows.subscribe((now, before) => {
      if (!before.loaded && now.loaded) update();
      else timer ??= setTimeout(update, UPDATE_MS);
    });
    addEventListener("pointerdown", press);
    return () => {
      clearTimeout(timer);
      stop();
      unwatch();
      removeEventListener("pointerdown", press);
    };
  }, [rows]);
  return version;
}
