import { type RefObject, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Turn } from "../../../model/transcript/transcript.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { t } from "../../text/text.ts";
import type { Layout, VisibleTurn } from "./layout.ts";

/** Maximum number of rows that are printed or copied at once, because all of them are rendered. */
const MAX_ROWS = 2_000;

interface Omissions {
  /** A message about what is left out. Absent: nothing is. */
  readonly omissionText?: string;
  /** The range of parts that are left out because they are not loaded. */
  readonly unloaded?: { readonly from: number; readonly to: number };
}

/** The rows of a session that are printed, in normal flow. */
export interface PrintView extends Omissions {
  readonly turns: readonly { turn: Turn; top: number; rows: readonly { index: number }[] }[];
}

/** All loaded rows of a session. If there are too many: those starting at the row in view. */
export function createPrintView(
  turns: readonly VisibleTurn[],
  isLoaded: (index: number) => boolean,
  inView: number,
): PrintView {
  const selected = selectRows(turns, isLoaded, inView, "print");
  return {
    ...selected,
    turns: selected.turns.map(({ turn, top, rows }) => ({
      turn,
      top,
      rows: rows.map(({ index }) => ({ index })),
    })),
  };
}

/** Selects the loaded rows of `turns`. If there are too many: those starting at `start`. `purpose`: selects the message. */
export function selectRows(
  turns: readonly VisibleTurn[],
  isLoaded: (index: number) => boolean,
  start: number,
  purpose: "print" | "copy",
): Omissions & { readonly turns: readonly VisibleTurn[] } {
  const all = turns.flatMap(({ rows }) => rows.map(({ index }) => index));
  const loaded = all.filter(isLoaded);
  const first = Math.max(
    0,
    Math.min(
      loaded.findIndex((index) => index >= start),
      loaded.length - MAX_ROWS,
    ),
  );
  const shown = new Set(loaded.slice(first, first + MAX_ROWS));
  const notLoaded = all.filter((index) => !isLoaded(index));
  const [from, to] = [notLoaded[0], notLoaded.at(-1)];
  const reasons = [
    notLoaded.length > 0 && t[purpose].notLoaded(notLoaded.length),
    loaded.length > shown.size && t[purpose].tooMany(loaded.length - shown.size, MAX_ROWS),
  ].filter((word) => word !== false);
  return {
    turns: turns.flatMap((turn) => {
      const rows = turn.rows.filter(({ index }) => shown.has(index));
      return turn.rows.length === 0 || rows.length > 0 ? [{ ...turn, rows }] : [];
    }),
    ...(reasons.length === 0
      ? {}
      : {
          omissionText: t[purpose].leftOut(all.length - shown.size, all.length, reasons),
        }),
    ...(from === undefined || to === undefined
      ? {}
      : { unloaded: { from: Math.max(from, to + 1 - MAX_ROWS), to: to + 1 } }),
  };
}

/** What is printed of a session. `isPrinting` is true from before it is rendered until after it is removed. */
export function usePrintView(
  session: OpenSession,
  layout: Layout,
  inView: () => number,
): { printView: PrintView | undefined; isPrinting: RefObject<boolean> } {
  const isPrinting = useRef(false);
  const [printView, setPrintView] = useState<PrintView>();
  const first = useRef(inView);
  first.current = inView;
  useEffect(() => {
    const begin = (): void => {
      const rows = layout.visible(0, layout.height);
      const view = createPrintView(rows, (index) => session.partAt(index) !== undefined, first.current());
      isPrinting.current = true;
      flushSync(() => setPrintView(view));
      if (view.unloaded !== undefined) void session.load(view.unloaded.from, view.unloaded.to);
    };
    const end = (): void => {
      isPrinting.current = false;
      flushSync(() => setPrintView(undefined));
    };
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, [session, layout]);
  return { printView, isPrinting };
}
