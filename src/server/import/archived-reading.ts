import type { Frame } from "../../model/frames/frame.ts";
import type { FileContent } from "../files/file-content.ts";
import type { PlaceOfSegment } from "./large-files/segment-places.ts";
import { isHuge, lastSegment } from "./large-files/segments.ts";
import type { Reading, ReadingWindow } from "./reading.ts";
import type { SessionFile } from "./session-file.ts";

interface ArchivedReadingOptions {
  /** Creates a reading that builds transcripts. */
  startReading(window: ReadingWindow | undefined): Reading;
  placeOf: PlaceOfSegment;
  leadingMarkers(id: string, segment: number, from: number, at: number): Frame[];
  rowOf: ReadingWindow["rowOf"];
  isClosed(): boolean;
}

const ARCHIVE_BLOCK = 256 * 1024;

/** Reads a deleted file from the archive; of a huge one, the last segment. The reading is closed. */
export async function readArchived(
  entry: SessionFile,
  content: FileContent,
  { startReading, placeOf, leadingMarkers, rowOf, isClosed }: ArchivedReadingOptions,
): Promise<{ reading: Reading; is_segment: boolean }> {
  const is_segment = isHuge(entry.path, content.size);
  const segment = lastSegment(content.size);
  const place = is_segment ? await placeOf(entry, content, segment) : { byte: 0 };
  const from = place.checkpoint?.byte ?? place.byte;
  const reading = startReading(
    is_segment
      ? {
          from,
          ...(place.checkpoint && { checkpoint: place.checkpoint }),
          use_from: place.byte,
          count_from: Number.POSITIVE_INFINITY,
          was_ended: false,
          rowOf,
          leadingMarkers: (id, at) => leadingMarkers(id, segment, place.byte, at),
        }
      : undefined,
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
  return { reading, is_segment };
}
