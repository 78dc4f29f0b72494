/** Events after which no pointer is down on the page. */
const RELEASES = ["pointerup", "pointercancel", "contextmenu", "blur"] as const;

/** Calls `released` once no pointer is down and the resulting click was handled. Returns a function that unsubscribes. */
export function watchReleases(released: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const press = (): void => clearTimeout(timer);
  const release = (): void => {
    clearTimeout(timer);
    // The click event follows this one.
    timer = setTimeout(released);
  };
  addEventListener("pointerdown", press, { capture: true });
  for (const type of RELEASES) addEventListener(type, release);
  return () => {
    clearTimeout(timer);
    removeEventListener("pointerdown", press, { capture: true });
    for (const type of RELEASES) removeEventListener(type, release);
  };
}
