import * as z from "zod";
import { NumberList } from "../number-list.ts";
import { optional, record } from "../record.ts";
import { PART_KINDS, PART_STATUSES, type PartKindName, type PartStatusName } from "../search/query.ts";
import { type PartFold, withAllParts } from "../transcript/part-fold.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { isRow, kindOf, statusOf } from "./part-kinds.ts";
import { isQuiet, type RowSettings } from "./quiet.ts";
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
export const isShownBy = (filter: PartFilter, part: TranscriptPart): boolean => shows(filter, rowOf(part));

/** What a filter depends on. */
interface Row {
  readonly kind: PartKindName;
  readonly tool?: string | undefined;
  readonly status?: PartStatusName | undefined;
}

const rowOf = (part: TranscriptPart): Row => ({
  kind: kindOf(part),
  tool: toolOf(part, NO_CALL),
  status: statusOf(part),
});

function shows({ kinds, tools, statuses }: PartFilter, { kind, tool, status }: Row): boolean {
  const allows = (values: readonly string[] | undefined, value: string | undefined): boolean =>
    values === undefined || values.length === 0 || (value !== undefined && values.includes(value));
  return allows(kinds, kind) && allows(statuses, status) && allows(tools, tool);
}

const WITH_STEPS: RowSettings = { showSteps: true, everyRecord: true };
const WITHOUT_STEPS: RowSettings = { showSteps: false, everyRecord: true };

/** The settings in which a part has a row, as bits: 1, with steps 2; and four times as much with every record. */
function shownIn(part: TranscriptPart): number {
  const bits = (isRow(part, WITH_STEPS) ? 2 : 0) + (isRow(part, WITHOUT_STEPS) ? 1 : 0);
  return bits * (isQuiet(part) ? 4 : 5);
}

/** The rows of the parts that were added, in four bytes each: the number of a distinct row, and the settings in which it is shown. */
export class RowFold implements PartFold<RowFold> {
  private codes = new NumberList();
  private readonly rows: Row[] = [];
  /** The numbers of the rows, by kind and status, and by tool. */
  private readonly numbers = new Map<string, Map<string | undefined, number>>();

  add({ parts }: Pick<Transcript, "parts">, from: number, to: number): void {
    for (const part of parts.slice(from, to)) this.codes.push(part === undefined ? 0 : this.codeOf(part));
  }

  private codeOf(part: TranscriptPart): number {
    const shown = shownIn(part);
    if (shown === 0) return 0;
    const row = rowOf(part);
    const key = row.status === undefined ? row.kind : `${row.kind} ${row.status}`;
    const numbers = this.numbers.get(key) ?? new Map<string | undefined, number>();
    let number = numbers.get(row.tool);
    if (number === undefined) {
      number = this.rows.length;
      this.rows.push(row);
      numbers.set(row.tool, number);
      this.numbers.set(key, numbers);
    }
    return number * 16 + shown;
  }

  copy(): RowFold {
    const copy = new RowFold();
    copy.codes = this.codes.copy();
    for (const row of this.rows) copy.rows.push(row);
    for (const [key, numbers] of this.numbers) copy.numbers.set(key, new Map(numbers));
    return copy;
  }

  /** Applies a filter to the rows. Never changes the order. */
  filter({ turns }: Pick<Transcript, "turns">, filter: PartFilter, settings: RowSettings): FilteredParts {
    const { showSteps, everyRecord = false } = settings;
    const bit = (showSteps ? 2 : 1) * (everyRecord ? 4 : 1);
    const headings = new Set<number>();
    for (const turn of turns) if (turn?.prompt_index !== undefined) headings.add(turn.prompt_index);
    const isShown = this.rows.map((row) => shows(filter, row));
    const numbers = this.rows.map(() => 0);
    const hidden: [number, number][] = [];
    let total = 0;
    let shown = 0;
    let isHiding = false;
    for (let index = 0; index < this.codes.length; index += 1) {
      const code = this.codes.at(index) ?? 0;
      if ((code & bit) === 0 || headings.has(index)) continue;
      const number = Math.floor(code / 16);
      total += 1;
      numbers[number] = (numbers[number] ?? 0) + 1;
      if (isShown[number] === true) {
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
    return { total, shown, hidden, counts: this.countsOf(numbers) };
  }

  /** The number of rows for each value, from the number of each distinct row. */
  private countsOf(numbers: readonly number[]): FilteredParts["counts"] {
    const count = (values: Map<string, number>, value: string | undefined, more: number): void => {
      if (value !== undefined && more > 0) values.set(value, (values.get(value) ?? 0) + more);
    };
    const kinds = new Map<string, number>();
    const tools = new Map<string, number>();
    const statuses = new Map<string, number>();
    for (const [number, { kind, tool, status }] of this.rows.entries()) {
      const more = numbers[number] ?? 0;
      count(kinds, kind, more);
      count(tools, tool, more);
      count(statuses, status, more);
    }
    return {
      kinds: Object.fromEntries(kinds),
      tools: Object.fromEntries(tools),
      statuses: Object.fromEntries(statuses),
    };
  }
}

/** Applies a filter to all rows of a complete transcript. */
export const filterParts = (
  transcript: Transcript,
  filter: PartFilter,
  settings: RowSettings,
): FilteredParts => withAllParts(new RowFold(), transcript).filter(transcript, filter, settings);
