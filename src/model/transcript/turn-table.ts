import type { Usage } from "../messages/message.ts";
import { USAGE_FIELDS } from "../messages/usage-fields.ts";
import type { Turn } from "./transcript.ts";
import type { TurnTable } from "./turn-table-schema.ts";

/** The optional fields of a turn besides `no_end`, `retracted_code` and `usage`, by the type of their values. */
const NUMBERS = ["prompt_index", "started_at", "ended_at"] as const;
const TEXTS = ["title", "model", "retracted"] as const;

/** Turns that are not loaded are left out. */
export function tableOfTurns(given: Iterable<Turn | undefined>): TurnTable {
  const turns = [...given].filter((turn) => turn !== undefined);
  const table: TurnTable = {
    id: turns.map(({ id }) => id),
    index: turns.map(({ index }) => index),
    first_part: turns.map(({ first_part }) => first_part),
    part_count: turns.map(({ part_count }) => part_count),
    status: turns.map(({ status }) => status),
    steps: turns.map(({ steps }) => steps),
    tool_calls: turns.map(({ tool_calls }) => tool_calls),
    errors: turns.map(({ errors }) => errors),
  };
  if (turns.some(({ no_end }) => no_end)) table.no_end = turns.map(({ no_end = null }) => no_end);
  for (const name of NUMBERS)
    if (turns.some((turn) => turn[name] !== undefined)) table[name] = turns.map((turn) => turn[name] ?? null);
  for (const name of TEXTS)
    if (turns.some((turn) => turn[name] !== undefined)) table[name] = turns.map((turn) => turn[name] ?? null);
  if (turns.some(({ retracted_code }) => retracted_code !== undefined))
    table.retracted_code = turns.map(({ retracted_code = null }) => retracted_code);
  for (const name of USAGE_FIELDS)
    if (turns.some(({ usage }) => usage?.[name] !== undefined))
      table[name] = turns.map(({ usage }) => usage?.[name] ?? null);
  return table;
}

/** Throws a `RangeError` if a column is not as long as the others. */
export function turnsOfTable(table: TurnTable, session_id: string): Turn[] {
  const { length } = table.id;
  for (const [name, values] of Object.entries(table))
    if (values.length !== length)
      throw new RangeError(`The table of ${length} turns has ${values.length} values of ${name}`);
  // Each field is named, because loops over names take twice as long.
  return table.id.map((id, at) => {
    const turn: Turn = {
      id,
      session_id,
      index: cell(table.index, at),
      first_part: cell(table.first_part, at),
      part_count: cell(table.part_count, at),
      status: cell(table.status, at),
      steps: cell(table.steps, at),
      tool_calls: cell(table.tool_calls, at),
      errors: cell(table.errors, at),
    };
    const prompt_index = table.prompt_index?.[at] ?? null;
    const title = table.title?.[at] ?? null;
    const started_at = table.started_at?.[at] ?? null;
    const ended_at = table.ended_at?.[at] ?? null;
    const model = table.model?.[at] ?? null;
    const usage = usageAt(table, at);
    const retracted = table.retracted?.[at] ?? null;
    const retracted_code = table.retracted_code?.[at] ?? null;
    if (table.no_end?.[at]) turn.no_end = true;
    if (prompt_index !== null) turn.prompt_index = prompt_index;
    if (title !== null) turn.title = title;
    if (started_at !== null) turn.started_at = started_at;
    if (ended_at !== null) turn.ended_at = ended_at;
    if (model !== null) turn.model = model;
    if (usage !== undefined) turn.usage = usage;
    if (retracted !== null) turn.retracted = retracted;
    if (retracted_code !== null) turn.retracted_code = retracted_code;
    return turn;
  });
}

function usageAt(table: TurnTable, at: number): Usage | undefined {
  const input = table.input?.[at] ?? null;
  const output = table.output?.[at] ?? null;
  if (input === null || output === null) return undefined;
  const usage: Usage = { input, output };
  const cache_read = table.cache_read?.[at] ?? null;
  const cache_write = table.cache_write?.[at] ?? null;
  const cache_write_1h = table.cache_write_1h?.[at] ?? null;
  const reasoning = table.reasoning?.[at] ?? null;
  const cost = table.cost?.[at] ?? null;
  if (cache_read !== null) usage.cache_read = cache_read;
  if (cache_write !== null) usage.cache_write = cache_write;
  if (cache_write_1h !== null) usage.cache_write_1h = cache_write_1h;
  if (reasoning !== null) usage.reasoning = reasoning;
  if (cost !== null) usage.cost = cost;
  return usage;
}

function cell<Value>(values: readonly Value[], at: number): Value {
  const value = values[at];
  if (value === undefined) throw new RangeError(`The table of turns has no value in row ${at} of a column`);
  return value;
}
