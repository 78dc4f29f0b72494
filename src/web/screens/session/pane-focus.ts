import { typing } from "../../app/keys.ts";

/** The row of a part, if it is on the page. */
export const rowOf = (part_id: string): HTMLElement | null => document.getElementById(`part-${part_id}`);

/** Focuses where a key or a link led, unless the reader is typing by the time it is there. */
export function takeFocus(element: HTMLElement | null | undefined): void {
  if (!typing(document.activeElement)) element?.focus({ preventScroll: true });
}
