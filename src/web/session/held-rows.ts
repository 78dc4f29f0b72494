import { watchReleases } from "../releases.ts";

const rowOf = (element: Element): number[] => {
  const index = element.closest<HTMLElement>("[data-index]")?.dataset.index;
  return index === undefined ? [] : [Number(index)];
};

/**
 * Tells which rows in a box the reader holds: those under a pointer that is down or in what is selected, in their order. None
 * where a turn's heading is held, `undefined` when nothing is any more. Ends with the function that it returns.
 */
export function watchHeldRows(
  box: HTMLElement,
  changed: (rows: readonly number[] | undefined) => void,
): () => void {
  let pressed: number[] | undefined;
  let isHeld = false;

  const selected = (): number[] | undefined => {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed || !selection.containsNode(box, true)) return undefined;
    const elements = [...box.querySelectorAll("[data-index], .turn-heading")];
    const within = elements.filter((element) => selection.containsNode(element, true));
    return within.length === 0 ? undefined : within.flatMap(rowOf);
  };
  const look = (): void => {
    const marked = selected();
    if (pressed === undefined && marked === undefined && !isHeld) return;
    isHeld = pressed !== undefined || marked !== undefined;
    changed(isHeld ? [...new Set([...(pressed ?? []), ...(marked ?? [])])].sort((a, b) => a - b) : undefined);
  };
  const press = ({ button, target }: PointerEvent): void => {
    // Of another button, and of the box's own scroll bar, the release may never be told.
    if (button !== 0 || !(target instanceof Element) || target === box) return;
    pressed = rowOf(target);
    look();
  };
  const unwatch = watchReleases(() => {
    if (pressed === undefined) return;
    pressed = undefined;
    look();
  });
  box.addEventListener("pointerdown", press);
  document.addEventListener("selectionchange", look);
  return () => {
    unwatch();
    box.removeEventListener("pointerdown", press);
    document.removeEventListener("selectionchange", look);
  };
}
