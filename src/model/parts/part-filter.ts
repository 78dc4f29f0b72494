import * as z from "zod";
import { optional, record } from "../record.ts";
import { PART_KINDS, PART_STATUSES } from "../search/query.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { isRow, kindOf, statusOf } from "./part-kinds.ts";
import type { RowSettings } from "./quiet.ts";
import { toolOf } from "./tool-of.ts";

/** A filter for the rows of a session. Several values of one field match either; an absent field matches all. */
export const partFilter = record({
  kinds: optional(z.array(z.enum(PART_KINDS))),
  tools: optional(z.array(z.string())),
  statuses: optional(z.array(z.enum(PART_STATUSES))),
});
export type PartFilter = z.infer<typeof partFilter>;

/** The result of a filter: `shown` and all of `hidden` add up to `total`. */
export const filteredParts = record({
  /** Number of rows, without headings of turns, which are never hidden. */
  total: z.number(),
  shown: z.number(),
  /** Ranges `[from, to)` of positions without a shown row, which begin and end with a hidden one. */
  hidden: z.array(z.tuple([z.number(), z.number()])),
  /** Number of rows for each possible filter value, whatever the filter is. */
  counts: record({
    kinds: z.record(z.string(), z.number()),
    tools: z.record(z.string(), z.number()),
    statuses: z.record(z.string(), z.number()),
  }),
});
export type FilteredParts = z.infer<typeof filteredParts>;

const NO_CALL = () => undefined;

/** Whether a filter shows a part. A result that is shown in its call's card is filtered with the call. */
export function isShownBy({ kinds, tools, statuses }: PartFilter, part: TranscriptPart): boolean {
  const allows = (values: readonly string[] | undefined, value: string | undefined): boolean =>
    values === undefined || values.length === 0 || (value !== undefined && values.includes(value));
  return (
    allows(kinds, kindOf(part)) && allows(statuses, statusOf(part)) && allows(tools, toolOf(part, NO_CALL))
  );
}

/** Applies a filter to all rows of a complete transcript. Never changes the order. */
export function filterParts(
  { parts, turns }: Pick<Transcript, "parts" | "turns">,
  filter: PartFilter,
  settings: RowSettings,
): FilteredParts {
  const headings = new Set<number>();
  for (const turn of turns) if (turn?.prompt_index !== undefined) headings.add(turn.prompt_index);
  const counts = {
    kinds: new Map<string, number>(),
    tools: new Map<string, number>(),
    statuses: new Map<string, number>(),
  };
  const count = (values: Map<string, number>, value: string | undefined): void => {
    if (value !== undefined) values.set(value, (values.get(value) ?? 0) + 1);
  };
  const hidden: [number, number][] = [];
  let total = 0;
  let shown = 0;
  let isHiding = false;
  let index = -1;
  for (const part of parts) {
    index += 1;
    if (part === undefined || headings.has(index) || !isRow(part, settings)) continue;
    total += 1;
    count(counts.kinds, kindOf(part));
    count(counts.tools, toolOf(part, NO_CALL));
    count(counts.statuses, statusOf(part));
    if (isShownBy(filter, part)) {
      shown += 1;
      isHiding = false;
      continue;
    }
    // Positions without a row between two hidden rows are included, so that one range is sent instead of two.
    const last = hidden.at(-1);
    if (isHiding && last !== undefined) last[1] = index + 1;
    else hidden.push([index, index + 1]);
    isHiding = true;
  }
  return {
    total,
    shown,
    hidden,
    counts: {
      kinds: Object.fromEntries(counts.kinds),
      tools: Object.fromEntries(counts.tools),
      statuses: Object.fromEntries(counts.statuses),
    },
  };
}
