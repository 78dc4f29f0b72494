import { isCompressed, readBeginning } from "../files/follow.ts";
import { fieldsOf } from "../sessions/row.ts";
import type { FileSessions } from "./file-sessions.ts";
import type { Reading } from "./reading.ts";
import { modifiedAt, type SessionFile } from "./session-file.ts";

/** Bytes from the start of a file that are read for a preview. */
const PREVIEW_BYTES = 64 * 1024;
/** A longer file is read only until its sessions are named, in chunks of this size. */
const PREVIEW_CHUNK = 8 * 1024;
/** Rows that the page shows first. */
const PREVIEW_BATCH = 30;

/** Lists a file that was never read, from its first bytes. `startReading`: creates a reading that builds rows only. */
export async function readPreview(
  entry: SessionFile,
  sessions: FileSessions,
  startReading: () => Reading,
): Promise<void> {
  const isKnown = entry.done || entry.identity !== undefined || entry.partial_identity !== undefined;
  if (isKnown || entry.sessions.size > 0 || entry.gone || isCompressed(entry.path)) return;
  const beginning = await readBeginning(entry.path, PREVIEW_BYTES);
  if (beginning === undefined) return;
  const reading = startReading();
  const isWhole = beginning.length < PREVIEW_BYTES;
  const isNamed = () =>
    [...reading.builders.values()].some(({ summary }) => summary.first_prompt !== undefined);
  for (let at = 0; at < beginning.length && (isWhole || !isNamed()); at += PREVIEW_CHUNK)
    await reading.decoder.write(beginning.subarray(at, at + PREVIEW_CHUNK));
  const rows = [...reading.builders.values()].map(({ id, summary, open_calls }) => {
    const row = fieldsOf(summary);
    if (isWhole) return { id, summary: row, open_calls };
    row.last_activity_at = Math.max(row.last_activity_at, modifiedAt(entry));
    // The end of the last turn was not read yet, and a new file may be a copy of an old one. Until the file is read, only the
    // process registries can say that it runs.
    if (row.status === "running") row.status = "completed";
    return { id, summary: row, open_calls: [] };
  });
  sessions.preview(entry, rows);
  sessions.setFacts(entry, reading.facts());
}

/** Previews files batch by batch, the newest first. */
export async function previewNewest({
  newest,
  preview,
  publish,
  isClosed,
}: {
  newest: readonly SessionFile[];
  preview(entry: SessionFile): Promise<unknown>;
  publish(): void;
  isClosed(): boolean;
}): Promise<void> {
  for (let at = 0; at < newest.length && !isClosed(); at += PREVIEW_BATCH) {
    const previews = newest.slice(at, at + PREVIEW_BATCH).map(preview);
    await Promise.all(previews);
    publish();
  }
}
