import { isTextField } from "../../app/keys.ts";

/** The row of a part, if it is on the page. */
export const rowOf = (part_id: string): HTMLElement | null => document.getElementById(`part-${part_id}`);

/** Focuses the target of a key or link, unless the user is typing. */
export function takeFocus(element: HTMLElement | null | undefined): void {
  if (!isTextField(document.activeElement)) element?.focus({ preventScroll: true });
}
