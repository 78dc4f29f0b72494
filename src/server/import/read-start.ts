import type { FileIdentity } from "../../store/contract.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import { openContent, type ReadBytes } from "../files/file-content.ts";
import { isCompressed, isSame, openRegular, readAt } from "../files/follow.ts";
import type { SegmentList, Tail } from "./large-files/segment-list.ts";
import { lineStart } from "./large-files/segments.ts";
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

/** The end of a huge file that is kept in memory. `undefined`: the file no longer exists. */
export async function tailStart(
  entry: SessionFile,
  archive: ArchiveWriter<SessionFile>,
  segments: SegmentList,
): Promise<Tail | undefined> {
  const content = await openContent(entry, archive);
  if (!content) return undefined;
  try {
    return await segments.tailOf(entry, content);
  } finally {
    await content.close();
  }
}
