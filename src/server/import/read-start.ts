import type { FileIdentity } from "../../store/contract.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import { openContent, type ReadBytes } from "../files/file-content.ts";
import { isCompressed, isSame, openRegular, readAt } from "../files/follow.ts";
import type { PlaceOfSegment, SegmentPlace } from "./large-files/segment-places.ts";
import { lastSegment, lineStart } from "./large-files/segments.ts";
import type { SessionFile } from "./session-file.ts";

/** The byte from which to read an appended file: `look_back` bytes before its old end. `undefined`: read the whole file. */
export async function growthStart(
  entry: SessionFile,
  look_back: number,
  isOver: (identity: FileIdentity) => boolean,
): Promise<number | undefined> {
  const { identity } = entry;
  if (!identity || identity.size < 2 * look_back || isCompressed(entry.path)) return undefined;
  // An inferred end was counted for the old end of the file, and now the file continues.
  if (isOver(identity)) return undefined;
  const opened = await openRegular(entry.path);
  if (!opened) return undefined;
  try {
    if (!(await isSame(opened, identity))) return undefined;
    const read: ReadBytes = (at, length, buffer) => readAt(opened.handle, at, length, buffer);
    const start = await lineStart(read, identity.size, identity.size - look_back);
    return start < identity.size ? start : undefined;
  } finally {
    await opened.handle.close();
  }
}

/** The last segment of a huge file, and where it begins. `undefined`: the file no longer exists. */
export async function tailStart(
  entry: SessionFile,
  archive: ArchiveWriter<SessionFile>,
  placeOf: PlaceOfSegment,
): Promise<(SegmentPlace & { segment: number }) | undefined> {
  const content = await openContent(entry, archive);
  if (!content) return undefined;
  try {
    const segment = lastSegment(content.size);
    return { segment, ...(await placeOf(entry, content, segment)) };
  } finally {
    await content.close();
  }
}
