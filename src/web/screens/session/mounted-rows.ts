import { watchReleases } from "../../virtual-list/pointer-release.ts";

/** The position of the part whose row contains an element. For a turn's heading: of the turn's first part. */
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
 * Reports which rows of a box the user holds with a pressed pointer or a selection, in order. A heading counts as the first row
 * of its turn. Reports `undefined` when no rows are held any more. Returns a function that unsubscribes.
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
  const report = (): void => {
    const marked = selected();
    if (pressed === undefined && marked === undefined && !isHeld) return;
    isHeld = pressed !== undefined || marked !== undefined;
    changed(isHeld ? [...new Set([...(pressed ?? []), ...(marked ?? [])])].sort((a, b) => a - b) : undefined);
  };
  const press = ({ button, target }: PointerEvent): void => {
    // Other buttons, and the scroll bar, may fire no release event.
    if (button !== 0 || !(target instanceof Element) || target === box) return;
    pressed = rowOf(target);
    report();
  };
  const unwatch = watchReleases(() => {
    if (pressed === undefined) return;
    pressed = undefined;
    report();
  });
  box.addEventListener("pointerdown", press);
  document.addEventListener("selectionchange", report);
  return () => {
    unwatch();
    box.removeEventListener("pointerdown", press);
    document.removeEventListener("selectionchange", report);
  };
}
