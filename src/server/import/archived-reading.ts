import type { FileContent } from "../files/file-content.ts";
import { type SegmentList, windowOfTail } from "./large-files/segment-list.ts";
import { isHuge } from "./large-files/segments.ts";
import type { Reading, ReadingWindow } from "./reading.ts";
import type { SessionFile } from "./session-file.ts";

interface ArchivedReadingOptions {
  /** Creates a reading that builds transcripts. */
  startReading(window: ReadingWindow | undefined): Reading;
  segments: SegmentList;
  rowOf: ReadingWindow["rowOf"];
  isClosed(): boolean;
}

const ARCHIVE_BLOCK = 256 * 1024;

/** Reads a deleted file from the archive; of a huge one, only the end (`is_tail`). The reading is closed. */
export async function readArchived(
  entry: SessionFile,
  content: FileContent,
  { startReading, segments, rowOf, isClosed }: ArchivedReadingOptions,
): Promise<{ reading: Reading; is_tail: boolean }> {
  const tail = isHuge(entry.path, content.size) ? await segments.tailOf(entry, content) : undefined;
  const from = tail?.checkpoint?.byte ?? tail?.byte ?? 0;
  const reading = startReading(
    tail && {
      from,
      ...windowOfTail(tail),
      count_from: Number.POSITIVE_INFINITY,
      was_ended: false,
      rowOf,
    },
  );
  for (let at = from; at < content.size && !isClosed(); ) {
    const bytes = await content.read(at, Math.min(ARCHIVE_BLOCK, content.size - at));
    if (bytes.length === 0) break;
    await reading.decoder.write(bytes);
    at += bytes.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await reading.decoder.end();
  if (entry.side_text !== undefined) reading.take(reading.reader.readSide(entry.side_text));
  reading.close();
  reading.ended = true;
  return { reading, is_tail: tail !== undefined };
}
