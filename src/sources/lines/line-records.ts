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

/** The line that is being read: its number, the position of its first byte, and what was already returned of it. */
export interface LineState {
  line: number;
  byte: number;
  /** As in `LinePosition`. */
  settled: boolean;
  followsNul: boolean;
}

/** Maximum nesting of arrays and objects. It keeps later recursion from overflowing the stack. */
const MAX_DEPTH = 500;

const NUL = 0x00;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Reads a line without its newline. `length`: of the whole line, whose `bytes` may have been released. */
export function readLine(
  at: LineState,
  bytes: Buffer,
  length: number,
  max_line: number,
  out: LineRecord[],
): void {
  if (length > max_line) {
    out.push({
      place: place(at, 0, length),
      text: "",
      error: `a line of ${length} bytes, longer than ${max_line}`,
    });
    return;
  }
  const bom = at.byte === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const from = skipSpace(bytes, bom, bytes.length);
  const to = trimEnd(bytes, from, bytes.length);
  if (from === to) {
    if (!at.settled) out.push({ place: { line: at.line, byte: at.byte, length: bytes.length }, blank: true });
    return;
  }
  const record = parse(at, bytes, from, to);
  // A line of text or pretty-printed JSON is one unreadable record, even if it contains objects.
  const mayHoldRecords = bytes[from] === OPEN_BRACE || at.followsNul || bytes.includes(NUL, from);
  if (record.value !== undefined || !mayHoldRecords) out.push(record);
  else for (const part of splitLine(at, bytes, from, to, record)) out.push(part);
}

/**
 * Reads the line `[from, to)` of a chunk if it is one object and nothing else, as nearly all lines are. Other lines are
 * read from a buffer of their own, which costs half as much as finding the end of the line.
 */
export function readObject(at: LineState, chunk: Buffer, from: number, to: number): LineRecord | undefined {
  if (chunk[from] !== OPEN_BRACE || chunk[to - 1] !== CLOSE_BRACE) return undefined;
  const record = parse(at, chunk, from, to, from);
  return record.value === undefined ? undefined : record;
}

function place(at: LineState, from: number, to: number): RecordPlace {
  return { line: at.line, byte: at.byte + from, length: to - from };
}

/** Reads `[from, to)` as one record. `start`: where its line starts in `bytes`. */
export function parse(at: LineState, bytes: Buffer, from: number, to: number, start = 0): LineRecord {
  // Same result as a `TextDecoder`, which takes twice as long for text that is not ASCII.
  const text = bytes.toString("utf8", from, to);
  const found = place(at, from - start, to - start);
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      return { place: found, text, error: `JSON, but ${nameOf(value)} instead of an object` };
    }
    // Shorter text cannot be nested that deeply.
    if (text.length > 2 * MAX_DEPTH && isDeeperThan(value, MAX_DEPTH)) {
      return { place: found, text, error: `nested deeper than ${MAX_DEPTH} levels` };
    }
    // JSON.parse returns a plain object with unknown members.
    return { place: found, value: value as Record<string, unknown>, text };
  } catch (problem) {
    return { place: found, text, error: `no valid JSON: ${messageOf(problem)}` };
  }
}

/** Complete objects at the start of `[from, to)`, each directly followed by another one, by NUL bytes or by the end. */
export function leadingRecords(
  at: LineState,
  bytes: Buffer,
  from: number,
  to: number,
): { records: LineRecord[]; rest: number } {
  const records: LineRecord[] = [];
  let rest = from;
  while (rest < to) {
    if (bytes[rest] === NUL) {
      const end = skipNul(bytes, rest, to);
      records.push(nulRecord(at, rest, end));
      rest = skipSpace(bytes, end, to);
      continue;
    }
    if (bytes[rest] !== OPEN_BRACE) break;
    const end = objectEnd(bytes, rest, to);
    if (end === undefined) break;
    const next = skipSpace(bytes, end, to);
    if (next < to && bytes[next] !== OPEN_BRACE && bytes[next] !== NUL) break;
    const record = parse(at, bytes, rest, end);
    if (record.value === undefined) break;
    records.push(record);
    rest = next;
  }
  return { records, rest };
}

/** Reads a line that is not a single object: the records that can be separated, and the rest as unreadable. */
function splitLine(at: LineState, bytes: Buffer, from: number, to: number, whole: LineRecord): LineRecord[] {
  const { records, rest } = leadingRecords(at, bytes, from, to);
  if (rest >= to) return records;
  const trailing: LineRecord[] = [];
  let pieces: Set<number> | undefined;
  let end = to;
  while (end > rest) {
    if (bytes[end - 1] === NUL) {
      const start = skipNulBack(bytes, rest, end);
      trailing.push(nulRecord(at, start, end));
      end = trimEnd(bytes, rest, start);
      continue;
    }
    const start = objectStart(bytes, rest, end);
    if (start === undefined || start === rest) break;
    pieces ??= piecesOf(bytes, rest, start + 1);
    if (pieces.has(start)) break;
    const record = parse(at, bytes, start, end);
    if (record.value === undefined || Object.keys(record.value).length === 0) break;
    trailing.push(record);
    end = trimEnd(bytes, rest, start);
  }
  if (end > rest) {
    records.push(rest === from && end === to ? whole : parse(at, bytes, rest, end));
  }
  for (const record of trailing.reverse()) records.push(record);
  return records;
}

/** A run of NUL bytes as a record. */
export function nulRecord(at: LineState, from: number, to: number): LineRecord {
  return { place: place(at, from, to), text: "", error: `${to - from} NUL bytes` };
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** Whether a byte is a space, tab or carriage return. Newlines cannot occur. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09;
}

/** The first position from `from` on that is not white space. */
export function skipSpace(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(bytes[at])) at += 1;
  return at;
}

/** The end of `[from, to)` without the white space at its end. */
export function trimEnd(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && isSpace(bytes[end - 1])) end -= 1;
  return end;
}

/** The first position from `from` on that is not a NUL byte. */
export function skipNul(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] === NUL) at += 1;
  return at;
}

function skipNulBack(bytes: Buffer, from: number, to: number): number {
  let at = to;
  while (at > from && bytes[at - 1] === NUL) at -= 1;
  return at;
}

/** End of the object that starts at `from`, by brace depth outside strings; `undefined`: it is incomplete. */
function objectEnd(bytes: Buffer, from: number, to: number): number | undefined {
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
function objectStart(bytes: Buffer, from: number, to: number): number | undefined {
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
function piecesOf(bytes: Buffer, from: number, to: number): Set<number> {
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
