import type { SessionSummary } from "../../../model/session.ts";
import { tokensOf } from "../../../model/tokens.ts";
import { LIST_COLUMNS, type ListColumn, type ListSort } from "../../app/settings.ts";

const VALUES: Readonly<Record<ListColumn, (row: SessionSummary) => number>> = {
  turns: ({ turns }) => turns,
  tools: ({ tool_calls }) => tool_calls,
  errors: ({ errors }) => errors,
  tokens: ({ usage }) => (usage === undefined ? 0 : tokensOf(usage)),
  active: ({ last_activity_at }) => last_activity_at,
};

/** The column of a sort setting. `up`: lowest value first. */
export function sortOf(sort: ListSort): { by: ListColumn | undefined; up: boolean } {
  const by = LIST_COLUMNS.find((column) => sort.startsWith(`${column} `));
  return { by, up: sort.endsWith(" up") };
}

/** Compares rows by the chosen column; 0 for equal values. `undefined`: no column is chosen. */
export function columnOrder(sort: ListSort): ((a: SessionSummary, b: SessionSummary) => number) | undefined {
  const { by, up } = sortOf(sort);
  if (by === undefined) return undefined;
  const value = VALUES[by];
  return (a, b) => (up ? value(a) - value(b) : value(b) - value(a));
}
