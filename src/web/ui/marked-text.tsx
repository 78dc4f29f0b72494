import type { ReactNode } from "react";
import { visibleText } from "../../hidden-text/hidden-text.ts";

/** Renders a text with marked ranges, which must be in order and must not overlap. */
export function markedText(text: string, ranges: readonly { start: number; end: number }[]): ReactNode[] {
  const pieces: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    pieces.push(visibleText(text.slice(at, start), "prose"));
    pieces.push(<mark key={start}>{visibleText(text.slice(start, end), "prose")}</mark>);
    at = end;
  }
  pieces.push(visibleText(text.slice(at), "prose"));
  return pieces;
}
