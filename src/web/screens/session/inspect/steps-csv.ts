import type { StepFigures } from "../../../../model/figures/steps.ts";

const COLUMNS = [
  "turn",
  "step",
  "model",
  "started_at",
  "ended_at",
  "input",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "output",
  "reasoning",
  "cost",
  "list_cost",
  "calls",
  "failed",
] as const;

/** Steps as CSV (RFC 4180) with a header line. Times are in ISO 8601; unknown values are empty. */
export function stepsAsCsv(steps: readonly StepFigures[]): string {
  const rows = steps.map(({ turn, step, model, started_at, ended_at, usage, list_cost, calls, failed }) => {
    const values: Record<(typeof COLUMNS)[number], string | number | undefined> = {
      turn: turn + 1,
      step,
      model,
      started_at: isoTime(started_at),
      ended_at: isoTime(ended_at),
      input: usage?.input,
      cache_read: usage?.cache_read,
      cache_write: usage?.cache_write,
      cache_write_1h: usage?.cache_write_1h,
      output: usage?.output,
      reasoning: usage?.reasoning,
      cost: usage?.cost,
      list_cost,
      calls,
      failed,
    };
    return COLUMNS.map((column) => field(values[column])).join(",");
  });
  return [COLUMNS.join(","), ...rows, ""].join("\r\n");
}

function isoTime(at: number | undefined): string | undefined {
  const date = new Date(at ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function field(value: string | number | undefined): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
