import type { Turn } from "../../model/transcript.ts";
import { exactNumber } from "../figures.ts";
import type { VisibleTurn } from "./layout.ts";

/** Rows that one print holds: all of them are on the page at once. */
const MOST_PRINTED = 2_000;

/** What of a session goes on paper, in the flow of its pages. */
export interface Printed {
  readonly turns: readonly { turn: Turn; top: number; rows: readonly { index: number }[] }[];
  /** What is not among it, in a sentence; absent: all is. */
  readonly leftOut?: string;
  /** Where parts are that another print would have, were they loaded. */
  readonly unloaded?: { readonly from: number; readonly to: number };
}

/** All rows of a session that are here, from the one in view on where they are too many. */
export function printed(
  turns: readonly VisibleTurn[],
  isHere: (index: number) => boolean,
  inView: number,
): Printed {
  const all = turns.flatMap(({ rows }) => rows.map(({ index }) => index));
  const here = all.filter(isHere);
  const first = Math.max(
    0,
    Math.min(
      here.findIndex((index) => index >= inView),
      here.length - MOST_PRINTED,
    ),
  );
  const shown = new Set(here.slice(first, first + MOST_PRINTED));
  const away = all.filter((index) => !isHere(index));
  const [from, to] = [away[0], away.at(-1)];
  const why = [
    away.length > 0 && `${exactNumber(away.length)} had not been loaded yet; another print has more of them`,
    here.length > shown.size &&
      `${exactNumber(here.length - shown.size)} are more than the ${exactNumber(MOST_PRINTED)} of one print`,
  ].filter((word) => word !== false);
  return {
    turns: turns
      .map(({ turn, top, rows }) => ({
        turn,
        top,
        isWhole: rows.length === 0,
        rows: rows.flatMap(({ index }) => (shown.has(index) ? [{ index }] : [])),
      }))
      .filter(({ rows, isWhole }) => isWhole || rows.length > 0),
    ...(why.length === 0
      ? {}
      : {
          leftOut: `${exactNumber(all.length - shown.size)} of ${exactNumber(all.length)} parts are not printed: ${why.join(", ")}.`,
        }),
    ...(from === undefined || to === undefined
      ? {}
      : { unloaded: { from: Math.max(from, to + 1 - MOST_PRINTED), to: to + 1 } }),
  };
}
