import { uuidFrom } from "../../../model/uuid.ts";
import type { ReadBytes } from "../../files/file-content.ts";
import { isCompressed } from "../../files/follow.ts";

/**
 * A session of a file too large to be held whole is shown in segments: pieces of the file, each a transcript of its own with
 * a way to the one before and the one after. The last one goes by the session's own id and grows.
 */
export const SEGMENT = 8 * 1024 * 1024;
/** A file of more bytes than this is shown in segments; of a compressed one no more text than this is read. */
export const HUGE = 6 * SEGMENT;

const BLOCK = 64 * 1024;
const NEWLINE = 0x0a;

/** A compressed file can only be read from its beginning. */
export function isHuge(path: string, size: number): boolean {
  return size > HUGE && !isCompressed(path);
}

/** Which segment a file of that size ends in: it holds between one and two segments' bytes, later more. */
export function lastSegment(size: number): number {
  return Math.max(0, Math.floor(size / SEGMENT) - 1);
}

/** The id of the segment that begins at the first line after `segment × SEGMENT` bytes. */
export function segmentId(session_id: string, segment: number): string {
  return uuidFrom(session_id, `segment ${segment}`);
}

/** Which segment of a session of that many bytes goes by an id, if any does. */
export function segmentOf(id: string, session_id: string, size: number): number | undefined {
  for (let segment = 0; segment < lastSegment(size); segment += 1) {
    if (segmentId(session_id, segment) === id) return segment;
  }
  return undefined;
}

/** Where a segment begins, in bytes: at a line's beginning, however often it is asked; where the file ends if none follows. */
export function segmentStart(read: ReadBytes, size: number, segment: number): Promise<number> {
  return lineStart(read, size, segment * SEGMENT);
}

/** The first beginning of a line at or after a byte; `size` if there is none before it. */
export async function lineStart(read: ReadBytes, size: number, byte: number): Promise<number> {
  if (byte <= 0) return 0;
  const buffer = new Uint8Array(BLOCK);
  // A newline directly before the place makes the place itself a beginning.
  for (let at = byte - 1; at < size; ) {
    const block = await read(at, Math.min(BLOCK, size - at), buffer);
    if (block.length === 0) break;
    const newline = block.indexOf(NEWLINE);
    if (newline !== -1) return at + newline + 1;
    at += block.length;
  }
  return size;
}

/** `205 MB`, for a person. */
export function sizeText(bytes: number): string {
  const rounded = (size: number) => Number((bytes / size).toPrecision(3));
  return bytes >= 1e9 ? `${rounded(1e9)} GB` : `${rounded(1e6)} MB`;
}
