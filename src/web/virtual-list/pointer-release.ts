/** After these no pointer is down in the page any more. */
const RELEASES = ["pointerup", "pointercancel", "contextmenu", "blur"] as const;

/** Tells when no pointer is down any more and the click that came of it is done. Ends with the function that it returns. */
export function watchReleases(released: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const press = (): void => clearTimeout(timer);
  const release = (): void => {
    clearTimeout(timer);
    // The click comes after this event.
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
