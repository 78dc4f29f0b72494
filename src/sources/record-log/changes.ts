import type { SnapshotSession } from "../contract.ts";
import type { LogEntry } from "./log-line.ts";

/** The last revision of each record in a log, by key, without deleted ones. */
export type Cursor = Map<string, { revision: string; place: LogEntry["place"] }>;

/**
 * The changes of a session since `cursor`, which is updated: new and changed records in the agent's order, then deleted ones.
 */
export function* changesOf(
  session: SnapshotSession,
  cursor: Cursor,
  digest: (text: string) => string,
): Generator<LogEntry> {
  const present = new Set<string>();
  for (const { key, revision: reported, place, text } of session.records()) {
    if (present.has(key)) continue;
    present.add(key);
    const known = cursor.get(key);
    if (reported !== undefined && known?.revision === reported) continue;
    const whole = typeof text === "string" ? text : text();
    const revision = reported ?? digest(whole);
    if (known?.revision === revision) continue;
    cursor.set(key, { revision, place });
    yield { key, revision, place, text: whole };
  }
  for (const [key, { place }] of cursor) {
    if (present.has(key)) continue;
    cursor.delete(key);
    yield { key, revision: "", place, text: undefined };
  }
}
