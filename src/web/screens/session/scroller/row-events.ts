import { type KeyboardEvent as ReactKeyboardEvent, type RefObject, useEffect, useRef } from "react";
import { positionAt } from "../mounted-rows.ts";
import { anchorFocused, type Scrolling } from "./scroll-view.ts";

/** Controls that expand and collapse a row. */
const OPENS = ".show-all, [aria-expanded=false], details:not([open]) > summary";
const CLOSES = "[aria-expanded=true], details[open] > summary";
const LINE = 24;

/** Whether the user is moving the focus with Tab: the last key was Tab, and no pointer was pressed since. */
export function useTabbed(): RefObject<boolean> {
  const tabbed = useRef(false);
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent): void => {
      tabbed.current = key === "Tab";
    };
    const onPress = (): void => {
      tabbed.current = false;
    };
    document.addEventListener("keydown", onKey, { capture: true });
    document.addEventListener("pointerdown", onPress, { capture: true });
    return () => {
      document.removeEventListener("keydown", onKey, { capture: true });
      document.removeEventListener("pointerdown", onPress, { capture: true });
    };
  }, []);
  return tabbed;
}

/**
 * Handles the focus of an element. If the user got there with Tab, makes its row the anchor, and scrolls it out from under its
 * heading.
 */
export function focusRow(scrolling: Scrolling, target: Element, isTabbed: boolean): void {
  const { layout, view, place, tick } = scrolling;
  view.focusedRow.current = positionAt(target);
  const row = target.closest<HTMLElement>("[data-index]");
  if (!isTabbed || row === null) return;
  const index = Number(row.dataset.index);
  anchorFocused(scrolling, index);
  const behind = behindHeading(target);
  const box = view.box.current;
  if (box === null || behind <= 0) return;
  place({ end: false, index, offset: box.scrollTop - behind - layout.topOf(index) });
  tick();
}

/** Makes Enter on a focused row click the control that expands it. */
export function openByEnter(event: ReactKeyboardEvent): void {
  if (event.key !== "Enter" || !(event.target instanceof HTMLElement)) return;
  if (event.target.dataset.index === undefined) return;
  const control = event.target.querySelector<HTMLElement>("summary, button[aria-expanded]");
  if (control === null) return;
  event.preventDefault();
  control.click();
}

/**
 * Makes the row that the user clicks the anchor, so that it stays under the pointer when it expands or collapses. While the end
 * is followed, only a click that expands the row does this.
 */
export function holdRow({ layout, view, place }: Scrolling, target: EventTarget): void {
  const { anchor, resumesFollowing, leftEnd, viewport } = view;
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
  const index = Number(row?.dataset.index ?? Number.NaN);
  if (!(target instanceof Element) || !Number.isInteger(index)) return;
  if (anchor.current.end || resumesFollowing.current) {
    if (target.closest(OPENS) === null) return;
    leftEnd.current = "opened";
  } else if (leftEnd.current === "opened" && target.closest(CLOSES) !== null) leftEnd.current = "closed";
  place({ end: false, index, offset: viewport.current.top - layout.topOf(index) });
}

/**
 * How far a focused element is covered by its turn's sticky heading, in pixels: browsers ignore the heading when they scroll to
 * the element. 0 if at least one line is visible.
 */
function behindHeading(focused: Element): number {
  const heading = focused.closest(".turn")?.querySelector(".turn-heading");
  if (!heading) return 0;
  const edge = heading.getBoundingClientRect().bottom;
  const { top, bottom } = focused.getBoundingClientRect();
  return bottom - edge < LINE ? edge - top : 0;
}
