import * as z from "zod";
import { isUuid } from "../is-uuid.ts";
import { optional, record } from "../record.ts";
import { textCode } from "../text/coded-text.ts";
import { type Turn, turnStatus } from "./transcript.ts";

// Separate from `turn-table.ts`, because the page uses tables and no schemas.

/** A column of values that pass a check. Checking each value with a schema would take several times as long. */
const column = <Value>(isValue: (value: unknown) => value is Value) =>
  z.custom<Value[]>(
    (values) => Array.isArray(values) && values.every(isValue),
    "A value in this column is invalid",
  );

const isNumber = (value: unknown): value is number => typeof value === "number";
const STATUSES: ReadonlySet<unknown> = new Set(turnStatus.options);
const isStatus = (value: unknown): value is Turn["status"] => STATUSES.has(value);

const numbers = column(isNumber);
// `null`: the turn lacks the field. Columns of fields that no turn has are absent.
const someNumbers = optional(column((value) => value === null || isNumber(value)));
const someTexts = optional(column((value) => value === null || typeof value === "string"));

/**
 * The turns of one session as columns: the value at a position of each column belongs to the turn at that position. Sessions have
 * up to tens of thousands of turns, and a page has all of them: as columns they take half the bytes of an array of objects, and are
 * faster to serialize and to parse.
 */
export const turnTable = record({
  id: column(isUuid),
  index: numbers,
  first_part: numbers,
  part_count: numbers,
  status: column(isStatus),
  steps: numbers,
  tool_calls: numbers,
  errors: numbers,
  no_end: optional(column((value) => value === null || value === true)),
  prompt_index: someNumbers,
  title: someTexts,
  started_at: someNumbers,
  ended_at: someNumbers,
  model: someTexts,
  retracted: someTexts,
  retracted_code: optional(z.array(z.nullable(textCode))),
  // The fields of `usage`. A turn without `input` has no usage.
  input: someNumbers,
  output: someNumbers,
  cache_read: someNumbers,
  cache_write: someNumbers,
  cache_write_1h: someNumbers,
  reasoning: someNumbers,
  cost: someNumbers,
});
export type TurnTable = z.infer<typeof turnTable>;
