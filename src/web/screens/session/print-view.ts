import { type RefObject, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Turn } from "../../../model/transcript/transcript.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { t } from "../../text/text.ts";
import type { Layout, VisibleTurn } from "./layout.ts";

/** Maximum number of rows that are printed or copied at once, because all of them are rendered. */
const MOST = 2_000;

interface Bounded {
  /** A message about what is left out. Absent: nothing is. */
  readonly leftOut?: string;
  /** The range of parts that are left out because they are not loaded. */
  readonly unloaded?: { readonly from: number; readonly to: number };
}

/** The rows of a session that are printed, in normal flow. */
export interface Printed extends Bounded {
  readonly turns: readonly { turn: Turn; top: number; rows: readonly { index: number }[] }[];
}

/** All loaded rows of a session. If there are too many: those starting at the row in view. */
export function printed(
  turns: readonly VisibleTurn[],
  isHere: (index: number) => boolean,
  inView: number,
): Printed {
  const taken = takeRows(turns, isHere, inView, "print");
  return {
    ...taken,
    turns: taken.turns.map(({ turn, top, rows }) => ({
      turn,
      top,
      rows: rows.map(({ index }) => ({ index })),
    })),
  };
}

/** Selects the loaded rows of `turns`. If there are too many: those starting at `start`. `takenBy`: selects the message. */
export function takeRows(
  turns: readonly VisibleTurn[],
  isHere: (index: number) => boolean,
  start: number,
  takenBy: "print" | "copy",
): Bounded & { readonly turns: readonly VisibleTurn[] } {
  const all = turns.flatMap(({ rows }) => rows.map(({ index }) => index));
  const here = all.filter(isHere);
  const first = Math.max(
    0,
    Math.min(
      here.findIndex((index) => index >= start),
      here.length - MOST,
    ),
  );
  const shown = new Set(here.slice(first, first + MOST));
  const away = all.filter((index) => !isHere(index));
  const [from, to] = [away[0], away.at(-1)];
  const why = [
    away.length > 0 && t[takenBy].notLoaded(away.length),
    here.length > shown.size && t[takenBy].tooMany(here.length - shown.size, MOST),
  ].filter((word) => word !== false);
  return {
    turns: turns.flatMap((turn) => {
      const rows = turn.rows.filter(({ index }) => shown.has(index));
      return turn.rows.length === 0 || rows.length > 0 ? [{ ...turn, rows }] : [];
    }),
    ...(why.length === 0
      ? {}
      : {
          leftOut: t[takenBy].leftOut(all.length - shown.size, all.length, why),
        }),
    ...(from === undefined || to === undefined
      ? {}
      : { unloaded: { from: Math.max(from, to + 1 - MOST), to: to + 1 } }),
  };
}

/** What is printed of a session. `isPrinting` is true from before it is rendered until after it is removed. */
export function usePrinted(
  session: OpenSession,
  layout: Layout,
  inView: () => number,
): { onPaper: Printed | undefined; isPrinting: RefObject<boolean> } {
  const isPrinting = useRef(false);
  const [onPaper, setOnPaper] = useState<Printed>();
  const first = useRef(inView);
  first.current = inView;
  useEffect(() => {
    const begin = (): void => {
      const rows = layout.visible(0, layout.height);
      const paper = printed(rows, (index) => session.partAt(index) !== undefined, first.current());
      isPrinting.current = true;
      flushSync(() => setOnPaper(paper));
      if (paper.unloaded !== undefined) void session.load(paper.unloaded.from, paper.unloaded.to);
    };
    const end = (): void => {
      isPrinting.current = false;
      flushSync(() => setOnPaper(undefined));
    };
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, [session, layout]);
  return { onPaper, isPrinting };
}
