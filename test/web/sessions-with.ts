import type { SessionSummary } from "../../src/model/session.ts";
import { createMemorySessions, type MemorySessions } from "../server/memory-sessions.ts";

/** Sessions whose rows have more fields than those of `createMemorySessions`. */
export function sessionsWith(facts: Record<string, Partial<SessionSummary>>): MemorySessions {
  const sessions = createMemorySessions();
  const { get, list, subscribe } = sessions;
  const full = (row: SessionSummary): SessionSummary => ({ ...row, ...facts[row.id] });
  return Object.assign(sessions, {
    get: (id: string) => {
      const row = get(id);
      return row && full(row);
    },
    list: () => list().map(full),
    subscribe: (listener: Parameters<typeof subscribe>[0]) =>
      subscribe((change) => listener({ ...change, changed: change.changed.map(full) })),
  });
}
