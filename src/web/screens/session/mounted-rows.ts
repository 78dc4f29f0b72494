import { watchReleases } from "../../virtual-list/pointer-release.ts";

/** The position that a row shows, or with which a heading's turn begins. */
export function positionAt(element: Element): number | undefined {
  const { index, first } = element.closest<HTMLElement>("[data-index], [data-first]")?.dataset ?? {};
  const position = index ?? first;
  return position === undefined ? undefined : Number(position);
}

const rowOf = (element: Element): number[] => {
  const position = positionAt(element);
  return position === undefined ? [] : [position];
};

/**
 * Tells which rows in a box the reader holds: those under a pointer that is down or in what is selected, in their order. A
 * heading holds where its turn begins. `undefined` when nothing is held any more. Ends with the function that it returns.
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
    const elements = [...box.querySelectorAll("[data-index], [data-first]")];
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
