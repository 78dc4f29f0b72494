import { type RefObject, useEffect, useState } from "react";

/** Number of text rows below the visible area of a scroll container, at its current width. */
export function useRowsBelow(box: RefObject<HTMLElement | null>): number {
  const [rows, setRows] = useState(0);
  useEffect(() => {
    const element = box.current;
    const text = element?.firstElementChild;
    if (element === null || !text) return;
    const count = (): void => {
      const { lineHeight, paddingBlockEnd } = getComputedStyle(text);
      const below = element.scrollHeight - element.clientHeight - element.scrollTop;
      const ofText = below - Number.parseFloat(paddingBlockEnd);
      setRows(ofText > 0 ? Math.ceil(ofText / Number.parseFloat(lineHeight)) : 0);
    };
    count();
    const resized = new ResizeObserver(count);
    resized.observe(element);
    resized.observe(text);
    element.addEventListener("scroll", count);
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", count);
    };
  }, [box]);
  return rows;
}
