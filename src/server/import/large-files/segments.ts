import { uuidFrom } from "../../../model/uuid.ts";
import type { ReadBytes } from "../../files/file-content.ts";
import { isCompressed } from "../../files/follow.ts";

/**
 * A file that is too large to hold in memory is read in segments of about this size. The last one is read when its session is
 * opened, the others when their parts are requested.
 */
export const SEGMENT_BYTES = 4 * 1024 * 1024;
/** Size of segments in versions that showed each segment as a session with its own id. */
const FORMER_SEGMENT_BYTES = 8 * 1024 * 1024;
/** The end of an indexed file that is kept in memory begins at the last segment that has at least this many bytes after its start. */
export const MIN_TAIL_BYTES = 512 * 1024;
/** Larger files are read in segments. Of a compressed file, no more text than this is read. */
export const HUGE_FILE_BYTES = 48 * 1024 * 1024;

const BLOCK = 64 * 1024;
const NEWLINE = 0x0a;

/** A compressed file is never huge: it can be read only from its beginning. */
export function isHuge(path: string, size: number): boolean {
  return size > HUGE_FILE_BYTES && !isCompressed(path);
}

/**
 * Whether an id is the one under which older versions showed a segment of a huge session: links with it still lead to the
 * session. `size`: bytes of the session's file.
 */
export function isSegmentId(id: string, session_id: string, size: number): boolean {
  for (let segment = 0; segment * FORMER_SEGMENT_BYTES < size; segment += 1)
    if (uuidFrom(session_id, `segment ${segment}`) === id) return true;
  return false;
}

/** Whether a line begins at this byte. If not, the content was replaced after the byte was determined. */
export async function isLineStart(read: ReadBytes, byte: number): Promise<boolean> {
  return byte === 0 || (await read(byte - 1, 1))[0] === NEWLINE;
}

/** The first start of a line at or after a byte; `size` if there is none. */
export async function lineStart(read: ReadBytes, size: number, byte: number): Promise<number> {
  if (byte <= 0) return 0;
  const buffer = new Uint8Array(BLOCK);
  // A newline just before the byte makes the byte itself the start of a line.
  for (let at = byte - 1; at < size; ) {
    const block = await read(at, Math.min(BLOCK, size - at), buffer);
    if (block.length === 0) break;
    const newline = block.indexOf(NEWLINE);
    if (newline !== -1) return at + newline + 1;
    at += block.length;
  }
  return size;
}

/** A size for display, as `205 MB`. */
export function sizeText(bytes: number): string {
  const rounded = (size: number) => Number((bytes / size).toPrecision(3));
  return bytes >= 1e9 ? `${rounded(1e9)} GB` : `${rounded(1e6)} MB`;
}
