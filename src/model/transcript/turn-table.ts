import * as z from "zod";
import { usage } from "../messages/message.ts";
import { record, uuid } from "../record.ts";
import { type Turn, turnStatus } from "./transcript.ts";

const numbers = z.array(z.number());
// Of fields that turns may lack. `null`: the turn lacks it.
const nullableNumbers = z.array(z.nullable(z.number()));
const nullableTexts = z.array(z.nullable(z.string()));

/**
 * The turns of one session as columns: the value at a position of each column belongs to the turn at that position. Sessions have
 * up to tens of thousands of turns, and a page has all of them: as columns they take two thirds of the bytes of an array of objects,
 * and are faster to serialize and to parse.
 */
export const turnTable = record({
  id: z.array(uuid),
  index: numbers,
  first_part: numbers,
  part_count: numbers,
  status: z.array(turnStatus),
  no_end: z.array(z.boolean()),
  steps: numbers,
  tool_calls: numbers,
  errors: numbers,
  prompt_index: nullableNumbers,
  title: nullableTexts,
  started_at: nullableNumbers,
  ended_at: nullableNumbers,
  model: nullableTexts,
  usage: z.array(z.nullable(usage)),
  retracted: nullableTexts,
});
export type TurnTable = z.infer<typeof turnTable>;

/** Turns that are not loaded are left out. */
export function tableOfTurns(given: Iterable<Turn | undefined>): TurnTable {
  const turns = [...given].filter((turn) => turn !== undefined);
  return {
    id: turns.map(({ id }) => id),
    index: turns.map(({ index }) => index),
    first_part: turns.map(({ first_part }) => first_part),
    part_count: turns.map(({ part_count }) => part_count),
    status: turns.map(({ status }) => status),
    no_end: turns.map(({ no_end = false }) => no_end),
    steps: turns.map(({ steps }) => steps),
    tool_calls: turns.map(({ tool_calls }) => tool_calls),
    errors: turns.map(({ errors }) => errors),
    prompt_index: turns.map(({ prompt_index = null }) => prompt_index),
    title: turns.map(({ title = null }) => title),
    started_at: turns.map(({ started_at = null }) => started_at),
    ended_at: turns.map(({ ended_at = null }) => ended_at),
    model: turns.map(({ model = null }) => model),
    usage: turns.map((turn) => turn.usage ?? null),
    retracted: turns.map(({ retracted = null }) => retracted),
  } satisfies Record<Exclude<keyof Turn, "session_id">, readonly unknown[]>;
}

/** Throws a `RangeError` if a column is shorter than the others. */
export function turnsOfTable(table: TurnTable, session_id: string): Turn[] {
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
    const [prompt_index, title] = [cell(table.prompt_index, at), cell(table.title, at)];
    const [started_at, ended_at] = [cell(table.started_at, at), cell(table.ended_at, at)];
    const [model, retracted] = [cell(table.model, at), cell(table.retracted, at)];
    const tokens = cell(table.usage, at);
    if (cell(table.no_end, at)) turn.no_end = true;
    if (prompt_index !== null) turn.prompt_index = prompt_index;
    if (title !== null) turn.title = title;
    if (started_at !== null) turn.started_at = started_at;
    if (ended_at !== null) turn.ended_at = ended_at;
    if (model !== null) turn.model = model;
    if (tokens !== null) turn.usage = tokens;
    if (retracted !== null) turn.retracted = retracted;
    return turn;
  });
}

function cell<Value>(column: readonly Value[], at: number): Value {
  const value = column[at];
  if (value === undefined) throw new RangeError(`The table of turns has no value in row ${at} of a column`);
  return value;
}
