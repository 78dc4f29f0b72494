import type { Checkpoint } from "../../../sources/contract.ts";
import type { FileContent, ReadBytes } from "../../files/file-content.ts";
import type { IndexState } from "../../index/index-state.ts";
import type { SessionFile } from "../session-file.ts";
import { isLineStart, lineStart, SEGMENT_BYTES } from "./segments.ts";

/** Where a segment begins, and where its reading begins. */
export interface SegmentPlace {
  /** Offset of its first record; the file's size if none follows. */
  byte: number;
  /** The reader's state at or before `byte`. Absent: reading begins at `byte`, without knowledge of earlier records. */
  checkpoint?: Checkpoint;
}

/** The place of a segment in a file. */
export type PlaceOfSegment = (
  entry: SessionFile,
  content: Pick<FileContent, "read" | "size">,
  segment: number,
) => Promise<SegmentPlace>;

/** Takes places from the index. Until the file is indexed, a segment begins at the first line after `segment × SEGMENT_BYTES`. */
export function createSegmentPlaces(
  index: Pick<IndexState, "segmentStart"> | undefined,
  keyOf: (entry: SessionFile) => string,
): PlaceOfSegment {
  return async (entry, { read, size }, segment) => {
    if (segment === 0) return { byte: 0 };
    // A damaged index is rebuilt when it is searched.
    const start = await index?.segmentStart(keyOf(entry), segment).catch(() => undefined);
    if (start !== undefined && start.byte < size && (await isThere(read, start))) return start;
    return { byte: await lineStart(read, size, segment * SEGMENT_BYTES) };
  };
}

/** `false`: the file's content was replaced after it was indexed. */
const isThere = async (read: ReadBytes, { byte, checkpoint }: Required<SegmentPlace>): Promise<boolean> =>
  (await isLineStart(read, byte)) && (await isLineStart(read, checkpoint.byte));
