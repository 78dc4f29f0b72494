import type { SessionSummary } from "../../model/session.ts";

/**
 * A row's fields alone. What its fold remembers beside them, to count each thing once, is neither shown nor stored, and is many
 * times the row's size: whoever keeps a row and folds no further keeps this.
 */
export function fieldsOf(summary: SessionSummary): SessionSummary {
  return structuredClone(summary);
}
