import type { Usage } from "../../../model/messages/message.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { tokensOf } from "../../../model/tokens.ts";
import { countUsage } from "../../../model/usage.ts";
import type { UsageGroup } from "../../app/router.ts";

/** What the sessions of a day, a project, an agent or a model took. */
export interface UsageRow {
  /** The day as `2026-09-16`, the folder, the agent's id, or the model; empty: not known. */
  key: string;
  /** As people call it. */
  name: string;
  sessions: number;
  runs: number;
  steps: number;
  tool_calls: number;
  errors: number;
  usage: Usage;
  /** Sessions with tokens, and those of them without a price. */
  counted: number;
  unpriced: number;
}

/** When a session counts: it began then. One that has no such time counts when it was written last. */
export const usageTime = ({ started_at, last_activity_at }: SessionSummary): number =>
  started_at ?? last_activity_at;

/** Sums by group. Days: the newest first; all else by tokens, most first. `day`: the day of a time, by the reader's clock. */
export function usageRows(
  sessions: Iterable<SessionSummary>,
  by: UsageGroup,
  since: number,
  day: (at: number) => string,
): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const session of sessions) {
    if (session.sample === true || session.scripted === true || usageTime(session) < since) continue;
    const key = keyOf(session, by, day);
    const row = rows.get(key) ?? emptyRow(key, by === "agent" ? (session.agent_name ?? key) : key);
    add(row, session);
    rows.set(key, row);
  }
  return [...rows.values()].sort((one, other) =>
    by === "day"
      ? other.key.localeCompare(one.key)
      : tokensOf(other.usage) - tokensOf(one.usage) || other.sessions - one.sessions,
  );
}

/** The sum of rows. */
export function usageTotal(rows: readonly UsageRow[]): UsageRow {
  const total = emptyRow("", "");
  for (const row of rows) {
    for (const field of COUNTS) total[field] += row[field];
    total.usage = countUsage(total.usage, undefined, row.usage);
  }
  return total;
}

const COUNTS = ["sessions", "runs", "steps", "tool_calls", "errors", "counted", "unpriced"] as const;

function keyOf(session: SessionSummary, by: UsageGroup, day: (at: number) => string): string {
  switch (by) {
    case "day":
      return day(usageTime(session));
    case "project":
      return session.cwd ?? "";
    case "agent":
      return session.agent;
    case "model":
      return session.model ?? "";
  }
  return by satisfies never;
}

const emptyRow = (key: string, name: string): UsageRow => ({
  ...{ key, name, sessions: 0, runs: 0, steps: 0, tool_calls: 0, errors: 0, counted: 0, unpriced: 0 },
  usage: { input: 0, output: 0 },
});

function add(row: UsageRow, { parent, steps, tool_calls, errors, usage }: SessionSummary): void {
  row[parent === undefined ? "sessions" : "runs"] += 1;
  row.steps += steps;
  row.tool_calls += tool_calls;
  row.errors += errors;
  if (usage === undefined) return;
  row.usage = countUsage(row.usage, undefined, usage);
  row.counted += 1;
  if (usage.cost === undefined) row.unpriced += 1;
}
