import type { SnapshotSession } from "../contract.ts";
import type { LogEntry } from "./log-line.ts";

/** What a log says of each record now: its last revision, by key; deleted ones are not in it. */
export type Cursor = Map<string, { revision: string; place: LogEntry["place"] }>;

/**
 * What became of a session since `cursor`, which it brings up to date: new and changed records in the agent's order, then those
 * that are gone.
 */
export function* changesOf(
  session: SnapshotSession,
  cursor: Cursor,
  digest: (text: string) => string,
): Generator<LogEntry> {
  const present = new Set<string>();
  for (const { key, revision: told, place, text } of session.records()) {
    if (present.has(key)) continue;
    present.add(key);
    const known = cursor.get(key);
    if (told !== undefined && known?.revision === told) continue;
    const whole = typeof text === "string" ? text : text();
    const revision = told ?? digest(whole);
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
