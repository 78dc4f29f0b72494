import type { SessionSummary } from "../../../src/model/session.ts";
import { uuidOf } from "../../uuid-of.ts";

type Change = { seq: number; changed: SessionSummary[]; removed: string[] };

/** Rows that a test sets. */
export function rowsOf(...first: SessionSummary[]) {
  const rows = new Map(first.map((row) => [row.id, row]));
  const listeners = new Set<(change: Change) => void>();
  return {
    list: () => [...rows.values()],
    get: (id: string) => rows.get(id),
    subscribe(listener: (change: Change) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(row: SessionSummary) {
      rows.set(row.id, row);
      for (const listener of listeners) listener({ seq: 1, changed: [row], removed: [] });
    },
  };
}

export const row = (name: string, fields: Partial<SessionSummary> = {}): SessionSummary => ({
  id: uuidOf(name),
  agent: "codex",
  title: name,
  status: "running",
  last_activity_at: 7,
  turns: 1,
  steps: 1,
  tool_calls: 0,
  errors: 0,
  parts: 1,
  runs: 0,
  byte_size: 0,
  ...fields,
});
export const asks = (name: string, title: string): SessionSummary =>
  row(name, {
    requests: [{ request_id: uuidOf(`${name} ${title}`), kind: "approval", title, asked_at: 42 }],
  });
