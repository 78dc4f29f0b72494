import { useEffect } from "react";
import type { TranscriptPart } from "../../../../model/transcript/transcript.ts";
import type { OpenSession } from "../../../app/open-session.ts";
import { watchHeldRows } from "../mounted-rows.ts";
import { anchorAt, type Held, type Scrolling } from "./scroll-view.ts";

/** Keeps the position and the content of the rows that the user holds. */
export function useHeldRows(session: OpenSession, { layout, view, place, tick }: Scrolling): void {
  useEffect(() => {
    const { box, anchor, viewport, held, resumesFollowing } = view;
    if (box.current === null) return;
    return watchHeldRows(box.current, (rows) => {
      if (rows === undefined) {
        held.current = undefined;
        if (resumesFollowing.current) place({ end: true });
        tick();
        return;
      }
      const before = held.current;
      held.current = { rows, parts: partsOf(session, rows, before?.parts) };
      if (rows[0] !== before?.rows[0] || rows.at(-1) !== before?.rows.at(-1)) tick();
      const { end } = anchor.current;
      if (before !== undefined && !end) return;
      const { top, height } = viewport.current;
      const [first] = rows;
      place(
        first === undefined || first < layout.at(top)
          ? anchorAt(layout, top, height)
          : { end: false, index: first, offset: top - layout.topOf(first) },
      );
      resumesFollowing.current = end;
    });
  }, [session, layout, view, place, tick]);
}

/** The parts of rows. Parts in `known` keep their content. */
function partsOf(
  session: OpenSession,
  rows: readonly number[],
  known: Held["parts"] = new Map(),
): Held["parts"] {
  const parts = new Map<number, TranscriptPart>();
  const take = (index: number | undefined): TranscriptPart | undefined => {
    const part = index === undefined ? undefined : (known.get(index) ?? session.partAt(index));
    // Not held: the state of a request must always be current.
    if (index !== undefined && part !== undefined && part.type !== "request") parts.set(index, part);
    return part;
  };
  for (const index of rows) {
    const part = take(index);
    if (part?.type === "tool_call") take(part.result_index);
  }
  return parts;
}
