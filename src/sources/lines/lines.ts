import { messageOf } from "../../model/narrow.ts";
import type { RecordPlace } from "../contract.ts";

/** One record of a JSONL file: a JSON object, an error for other bytes, or a blank line. */
export type LineRecord =
  | {
      place: RecordPlace;
      value: Record<string, unknown>;
      text: string;
      error?: undefined;
      blank?: undefined;
    }
  | { place: RecordPlace; text: string; error: string; value?: undefined; blank?: undefined }
  /** Only white space. It is a separate record so that all lines are accounted for. */
  | { place: RecordPlace; blank: true; value?: undefined; text?: undefined; error?: undefined };

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

/** Maximum nesting of arrays and objects. It keeps later recursion from overflowing the stack. */
const MAX_DEPTH = 500;

/** Maximum length of a line in bytes. Several copies of a line are in memory while it is read. */
export const MAX_LINE = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const NUL = 0x00;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Reads from `start`, the start of a line or a `position`. A line of more than `max_line` bytes is a record with an error. */
export function createLineReader(
  start: LinePosition = { line: 1, byte: 0 },
  max_line = MAX_LINE,
): LineReader {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /**
   * The bytes of the current incomplete line. The buffer doubles when full, so that pushing single bytes stays linear. Not kept
   * for a line longer than `MAX_LINE`.
   */
  let pending = new Uint8Array(0);
  let pendingLength = 0;
  /** Number of NUL bytes before `pending` that were not returned yet. A file may have gigabytes of them. */
  let nuls = 0;
  /** `byte`: position of the first of them, or of the first pending byte. */
  let { byte, line, settled = false, followsNul = false } = start;
  /** Length of `pending` at the last unsuccessful `settle`, so that polling a long torn line does not parse it again. */
  let settleTried = 0;

  function append(bytes: Uint8Array): void {
    const length = pendingLength + bytes.length;
    if (length > max_line) {
      pending = new Uint8Array(0);
      pendingLength = length;
      return;
    }
    if (length > pending.length) {
      const grown = new Uint8Array(Math.max(length, pending.length * 2, 256));
      grown.set(pending.subarray(0, pendingLength));
      pending = grown;
    }
    pending.set(bytes, pendingLength);
    pendingLength = length;
  }

  /** The part of a line after its leading NUL bytes, which are returned once something follows. */
  function behindNul(bytes: Uint8Array, out: LineRecord[]): Uint8Array {
    if (pendingLength > 0 || (nuls === 0 && bytes[0] !== NUL)) return bytes;
    const end = skipNul(bytes, 0, bytes.length);
    nuls += end;
    if (end < bytes.length) tellNul(out);
    return bytes.subarray(end);
  }

  function tellNul(out: LineRecord[]): void {
    if (nuls === 0) return;
    out.push(nulRecord(0, nuls));
    byte += nuls;
    nuls = 0;
    settled = true;
    followsNul = true;
  }

  /** `length`: of the whole line, whose `bytes` may have been released. */
  function readLine(bytes: Uint8Array, length: number, out: LineRecord[]): void {
    if (length > max_line) {
      out.push({
        place: place(0, length),
        text: "",
        error: `a line of ${length} bytes, longer than ${max_line}`,
      });
      return;
    }
    const bom = byte === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    const from = skipSpace(bytes, bom, bytes.length);
    const to = trimEnd(bytes, from, bytes.length);
    if (from === to) {
      if (!settled) out.push({ place: { line, byte, length: bytes.length }, blank: true });
      return;
    }
    const record = parse(bytes, from, to);
    // A line of text or pretty-printed JSON is one unreadable record, even if it contains objects.
    const mayHoldRecords = bytes[from] === OPEN_BRACE || followsNul || bytes.includes(NUL, from);
    if (record.value !== undefined || !mayHoldRecords) out.push(record);
    else for (const part of takeApart(bytes, from, to, record)) out.push(part);
  }

  function place(from: number, to: number): RecordPlace {
    return { line, byte: byte + from, length: to - from };
  }

  function parse(bytes: Uint8Array, from: number, to: number): LineRecord {
    const text = decoder.decode(bytes.subarray(from, to));
    try {
      const value: unknown = JSON.parse(text);
      if (value === null || typeof value !== "object" || Array.isArray(value)) {
        return { place: place(from, to), text, error: `JSON, but ${nameOf(value)} instead of an object` };
      }
      // Shorter text cannot be nested that deeply.
      if (text.length > 2 * MAX_DEPTH && isDeeperThan(value, MAX_DEPTH)) {
        return { place: place(from, to), text, error: `nested deeper than ${MAX_DEPTH} levels` };
      }
      // JSON.parse returns a plain object with unknown members.
      return { place: place(from, to), value: value as Record<string, unknown>, text };
    } catch (problem) {
      return {
        place: place(from, to),
        text,
        error: `no valid JSON: ${messageOf(problem)}`,
      };
    }
  }

  /** Complete objects at the start of `[from, to)`, each directly followed by another one, by NUL bytes or by the end. */
  function leadingRecords(
    bytes: Uint8Array,
    from: number,
    to: number,
  ): { records: LineRecord[]; rest: number } {
    const records: LineRecord[] = [];
    let rest = from;
    while (rest < to) {
      if (bytes[rest] === NUL) {
        const end = skipNul(bytes, rest, to);
        records.push(nulRecord(rest, end));
        rest = skipSpace(bytes, end, to);
        continue;
      }
      if (bytes[rest] !== OPEN_BRACE) break;
      const end = objectEnd(bytes, rest, to);
      if (end === undefined) break;
      const next = skipSpace(bytes, end, to);
      if (next < to && bytes[next] !== OPEN_BRACE && bytes[next] !== NUL) break;
      const record = parse(bytes, rest, end);
      if (record.value === undefined) break;
      records.push(record);
      rest = next;
    }
    return { records, rest };
  }

  /** Reads a line that is not a single object: the records that can be separated, and the rest as unreadable. */
  function takeApart(bytes: Uint8Array, from: number, to: number, whole: LineRecord): LineRecord[] {
    const { records, rest } = leadingRecords(bytes, from, to);
    if (rest >= to) return records;
    const trailing: LineRecord[] = [];
    let pieces: Set<number> | undefined;
    let end = to;
    while (end > rest) {
      if (bytes[end - 1] === NUL) {
        const start = skipNulBack(bytes, rest, end);
        trailing.push(nulRecord(start, end));
        end = trimEnd(bytes, rest, start);
        continue;
      }
      const start = objectStart(bytes, rest, end);
      if (start === undefined || start === rest) break;
      pieces ??= piecesOf(bytes, rest, start + 1);
      if (pieces.has(start)) break;
      const record = parse(bytes, start, end);
      if (record.value === undefined || Object.keys(record.value).length === 0) break;
      trailing.push(record);
      end = trimEnd(bytes, rest, start);
    }
    if (end > rest) {
      records.push(rest === from && end === to ? whole : parse(bytes, rest, end));
    }
    for (const record of trailing.reverse()) records.push(record);
    return records;
  }

  function nulRecord(from: number, to: number): LineRecord {
    return { place: place(from, to), text: "", error: `${to - from} NUL bytes` };
  }

  function advance(length: number): void {
    byte += length + 1;
    if (line > 0) line += 1;
    settled = false;
    followsNul = false;
    settleTried = 0;
  }

  return {
    push(chunk) {
      const out: LineRecord[] = [];
      let from = 0;
      for (;;) {
        const newline = chunk.indexOf(NEWLINE, from);
        if (newline === -1) break;
        const rest = behindNul(chunk.subarray(from, newline), out);
        tellNul(out);
        if (pendingLength > 0) {
          append(rest);
          readLine(pending.subarray(0, pendingLength), pendingLength, out);
          advance(pendingLength);
          pendingLength = 0;
          // Release the memory of one long line.
          if (pending.length > 1 << 20) pending = new Uint8Array(0);
        } else {
          readLine(rest, rest.length, out);
          advance(rest.length);
        }
        from = newline + 1;
      }
      const rest = behindNul(chunk.subarray(from), out);
      if (rest.length > 0) append(rest);
      return out;
    },

    settle() {
      if (pendingLength === 0 || pendingLength === settleTried) return [];
      settleTried = pendingLength;
      const bytes = pending.subarray(0, pendingLength);
      const bom = byte === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
      const to = trimEnd(bytes, bom, bytes.length);
      if (bytes[to - 1] !== CLOSE_BRACE) return [];
      const from = skipSpace(bytes, bom, to);
      const whole = parse(bytes, from, to);
      const { records, rest } =
        whole.value === undefined ? leadingRecords(bytes, from, to) : { records: [whole], rest: to };
      if (records.length === 0) return [];
      const left = bytes.slice(rest);
      byte += rest;
      settled = true;
      followsNul = false;
      settleTried = 0;
      pending = left;
      pendingLength = left.length;
      return records;
    },

    close() {
      const out: LineRecord[] = [];
      tellNul(out);
      if (pendingLength > 0) {
        readLine(pending.subarray(0, pendingLength), pendingLength, out);
        byte += pendingLength;
        pendingLength = 0;
        settled = true;
      }
      followsNul = false;
      return out;
    },

    position: () => ({ line, byte, settled, followsNul }),
  };
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** Whether a byte is a space, tab or carriage return. Newlines cannot occur. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09;
}
function skipSpace(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(bytes[at])) at += 1;
  return at;
}
function trimEnd(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > from && isSpace(bytes[end - 1])) end -= 1;
  return end;
}
function skipNul(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] === NUL) at += 1;
  return at;
}
function skipNulBack(bytes: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at > from && bytes[at - 1] === NUL) at -= 1;
  return at;
}

/** End of the object that starts at `from`, by brace depth outside strings; `undefined`: it is incomplete. */
function objectEnd(bytes: Uint8Array, from: number, to: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACE) depth += 1;
    else if (byte === CLOSE_BRACE) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Start of the object that ends at `to`, read backwards: `to` is outside strings, so every quote is unambiguous. */
function objectStart(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (bytes[to - 1] !== CLOSE_BRACE) return undefined;
  let depth = 0;
  let inString = false;
  for (let at = to - 1; at >= from; at -= 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      let backslashes = 0;
      while (at - 1 - backslashes >= from && bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
      if (!inString) inString = true;
      else if (backslashes % 2 === 0) inString = false;
      at -= backslashes;
    } else if (inString) continue;
    else if (byte === CLOSE_BRACE) depth += 1;
    else if (byte === OPEN_BRACE) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return undefined;
}

/**
 * Starts of objects that may be nested in the torn record at `from`, as array items or member values. They are pieces of that
 * record. Any other object is a separate record that was joined to a torn one.
 */
function piecesOf(bytes: Uint8Array, from: number, to: number): Set<number> {
  const pieces = new Set<number>();
  const containers: number[] = [];
  let inString = false;
  let before = 0;
  for (let position = from; position < to; position += 1) {
    const byte = bytes[position] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) position += 1;
      else if (byte === QUOTE) inString = false;
      continue;
    }
    if (byte === OPEN_BRACE) {
      const isItem = containers.at(-1) === OPEN_BRACKET && (before === COMMA || before === OPEN_BRACKET);
      const isMember = containers.at(-1) !== OPEN_BRACKET && before === COLON;
      if (isItem || isMember) pieces.add(position);
    }
    if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) containers.push(byte);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) containers.pop();
    if (!isSpace(byte)) before = byte;
  }
  return pieces;
}

function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isNested(item) && isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  // A plain object from JSON.parse has only own members. `for…in` avoids creating a list of values for every record.
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (isNested(member) && isDeeperThan(member, levels - 1)) return true;
  }
  return false;
}

function isNested(value: unknown): value is object {
  return value !== null && typeof value === "object";
}
