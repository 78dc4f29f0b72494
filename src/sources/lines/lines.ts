import {
  type LineRecord,
  type LineState,
  leadingRecords,
  nulRecord,
  parse,
  readLine,
  readObject,
  skipNul,
  skipSpace,
  trimEnd,
} from "./line-records.ts";

export type { LineRecord } from "./line-records.ts";

/**
 * Splits bytes into JSON records. Splits at newline bytes only (never at U+2028) and accepts chunks that end anywhere.
 * Separates records that are joined on one line (`}{`, also after a torn record), and gives every record its position. A run of
 * NUL bytes before, between or after records is a separate record with an error. A byte-order mark at the start of the file and
 * a carriage return before the newline belong to no record. JSON that is not an object or is nested deeper than `MAX_DEPTH` is an
 * error, and so is a line longer than `MAX_LINE`, not counting leading NUL bytes.
 */
export interface LineReader {
  /** The chunk may be reused by the caller afterwards. */
  push(chunk: Uint8Array): LineRecord[];
  /** Reads a last line without a newline if it is complete. Later bytes of that line are joined to it. */
  settle(): LineRecord[];
  /** Reads the rest as if it ended with a newline. */
  close(): LineRecord[];
  /** The position from which a new reader resumes, after the last returned record. Bytes after it have to be pushed again. */
  position(): LinePosition;
}

/** A position between records. `line` is one-based; 0: lines are not counted. */
export interface LinePosition {
  line: number;
  byte: number;
  /** Part of the line was already returned, so an empty rest is not a blank line. */
  settled?: boolean;
  /** NUL bytes of the line were already returned. */
  followsNul?: boolean;
}

/** Maximum length of a line in bytes. Several copies of a line are in memory while it is read. */
export const MAX_LINE = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const NUL = 0x00;
const CLOSE_BRACE = 0x7d;

/** Reads from `start`, the start of a line or a `position`. A line of more than `max_line` bytes is a record with an error. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the bytes of the current line: its functions are short
export function createLineReader(
  start: LinePosition = { line: 1, byte: 0 },
  max_line = MAX_LINE,
): LineReader {
  /**
   * The bytes of the current incomplete line. The buffer doubles when full, so that pushing single bytes stays linear. Not kept
   * for a line longer than `MAX_LINE`.
   */
  let pending = Buffer.alloc(0);
  let pendingLength = 0;
  /** Number of NUL bytes before `pending` that were not returned yet. A file may have gigabytes of them. */
  let nuls = 0;
  const { line, byte, settled = false, followsNul = false } = start;
  /** `byte`: position of the first of them, or of the first pending byte. */
  const at: LineState = { line, byte, settled, followsNul };
  /** Length of `pending` at the last unsuccessful `settle`, so that polling a long torn line does not parse it again. */
  let settleTried = 0;

  function append(bytes: Buffer): void {
    const length = pendingLength + bytes.length;
    if (length > max_line) {
      pending = Buffer.alloc(0);
      pendingLength = length;
      return;
    }
    if (length > pending.length) {
      const grown = Buffer.alloc(Math.max(length, pending.length * 2, 256));
      grown.set(pending.subarray(0, pendingLength));
      pending = grown;
    }
    pending.set(bytes, pendingLength);
    pendingLength = length;
  }

  /** The part of a line after its leading NUL bytes, which are returned once something follows. */
  function skipLeadingNul(bytes: Buffer, out: LineRecord[]): Buffer {
    if (pendingLength > 0 || (nuls === 0 && bytes[0] !== NUL)) return bytes;
    const end = skipNul(bytes, 0, bytes.length);
    nuls += end;
    if (end < bytes.length) emitNul(out);
    return bytes.subarray(end);
  }

  function emitNul(out: LineRecord[]): void {
    if (nuls === 0) return;
    out.push(nulRecord(at, 0, nuls));
    at.byte += nuls;
    nuls = 0;
    at.settled = true;
    at.followsNul = true;
  }

  function advance(length: number): void {
    at.byte += length + 1;
    if (at.line > 0) at.line += 1;
    at.settled = false;
    at.followsNul = false;
    settleTried = 0;
  }

  return {
    push(bytes) {
      const chunk =
        bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const out: LineRecord[] = [];
      let from = 0;
      for (;;) {
        const newline = chunk.indexOf(NEWLINE, from);
        if (newline === -1) break;
        if (pendingLength === 0 && nuls === 0 && newline - from <= max_line) {
          const record = readObject(at, chunk, from, newline);
          if (record !== undefined) {
            out.push(record);
            advance(newline - from);
            from = newline + 1;
            continue;
          }
        }
        const rest = skipLeadingNul(chunk.subarray(from, newline), out);
        emitNul(out);
        if (pendingLength > 0) {
          append(rest);
          readLine(at, pending.subarray(0, pendingLength), pendingLength, max_line, out);
          advance(pendingLength);
          pendingLength = 0;
          // Release the memory of one long line.
          if (pending.length > 1 << 20) pending = Buffer.alloc(0);
        } else {
          readLine(at, rest, rest.length, max_line, out);
          advance(rest.length);
        }
        from = newline + 1;
      }
      const rest = skipLeadingNul(chunk.subarray(from), out);
      if (rest.length > 0) append(rest);
      return out;
    },

    settle() {
      if (pendingLength === 0 || pendingLength === settleTried) return [];
      settleTried = pendingLength;
      const bytes = pending.subarray(0, pendingLength);
      const bom = at.byte === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
      const to = trimEnd(bytes, bom, bytes.length);
      if (bytes[to - 1] !== CLOSE_BRACE) return [];
      const from = skipSpace(bytes, bom, to);
      const whole = parse(at, bytes, from, to);
      const { records, rest } =
        whole.value === undefined ? leadingRecords(at, bytes, from, to) : { records: [whole], rest: to };
      if (records.length === 0) return [];
      const left = Buffer.from(bytes.subarray(rest));
      at.byte += rest;
      at.settled = true;
      at.followsNul = false;
      settleTried = 0;
      pending = left;
      pendingLength = left.length;
      return records;
    },

    close() {
      const out: LineRecord[] = [];
      emitNul(out);
      if (pendingLength > 0) {
        readLine(at, pending.subarray(0, pendingLength), pendingLength, max_line, out);
        at.byte += pendingLength;
        pendingLength = 0;
        at.settled = true;
      }
      at.followsNul = false;
      return out;
    },

    position: () => ({ ...at }),
  };
}
