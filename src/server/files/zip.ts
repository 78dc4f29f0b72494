import { closeSync, openSync, readSync } from "node:fs";
import { inflateRawSync, zstdDecompressSync } from "node:zlib";

/** An entry of an archive. Sizes and offsets in bytes. */
interface Entry {
  method: number;
  compressed: number;
  size: number;
  /** Offset of its local header. */
  offset: number;
  /** In milliseconds. The archive stores local time with a resolution of two seconds. */
  modified_at: number;
}

/** An open ZIP archive. Its directory is in memory; entries are read one at a time. */
export interface ZipArchive {
  /** Sorted names of the entries in a folder; empty if there is no such folder. */
  list(folder: string): string[];
  /** The text of an entry; `undefined`: there is none. Throws if it is damaged or too large. */
  readText(name: string): string | undefined;
  modifiedAt(name: string): number | undefined;
  close(): void;
}

/** Maximum uncompressed size of an entry in bytes. An entry is held in memory as a whole. */
const MAX_ENTRY = 256 * 1024 * 1024;
const MAX_DIRECTORY = 256 * 1024 * 1024;
const END = 0x06054b50;
const END_LENGTH = 22;
const MAX_COMMENT = 0xffff;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_LENGTH = 20;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
/** Marks a size or offset that is in the extra field of a 64-bit archive. */
const IN_EXTRA = 0xffffffff;

/** Opens an archive and reads its central directory. Throws if there is none: the file may be incomplete. */
export function openZip(path: string, length: number): ZipArchive {
  const handle = openSync(path, "r");
  try {
    const entries = readDirectory(handle, length);
    const folders = foldersOf(entries.keys());
    return {
      list: (folder) => folders.get(folder) ?? [],
      readText(name) {
        const entry = entries.get(name);
        return entry && new TextDecoder().decode(contentOf(handle, name, entry));
      },
      modifiedAt: (name) => entries.get(name)?.modified_at,
      close: () => closeSync(handle),
    };
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

/** Entry names by folder. */
function foldersOf(names: Iterable<string>): Map<string, string[]> {
  const folders = new Map<string, Set<string>>();
  for (const name of names) {
    const steps = name.split("/").filter((step) => step !== "");
    for (let depth = 0; depth < steps.length; depth += 1) {
      const folder = steps.slice(0, depth).join("/");
      const inside = folders.get(folder) ?? new Set();
      folders.set(folder, inside.add(steps[depth] ?? ""));
    }
  }
  return new Map([...folders].map(([folder, inside]) => [folder, [...inside].sort()]));
}

function readAt(handle: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const read = readSync(handle, bytes, done, length - done, position + done);
    if (read === 0) throw new Error("the archive ends too early");
    done += read;
  }
  return bytes;
}

/** All entries by name. The last one of several with the same name. */
function readDirectory(handle: number, length: number): Map<string, Entry> {
  const { offset, size } = directoryOf(handle, length);
  if (size > MAX_DIRECTORY || offset + size > length) throw new Error("the archive's directory is damaged");
  const bytes = readAt(handle, offset, size);
  const entries = new Map<string, Entry>();
  for (let at = 0; at + 46 <= bytes.length; ) {
    if (bytes.readUInt32LE(at) !== CENTRAL) break;
    const name_length = bytes.readUInt16LE(at + 28);
    const extra_length = bytes.readUInt16LE(at + 30);
    const name = bytes.toString("utf8", at + 46, at + 46 + name_length);
    const extra = bytes.subarray(at + 46 + name_length, at + 46 + name_length + extra_length);
    entries.set(name, entryAt(bytes, at, extra));
    at += 46 + name_length + extra_length + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

function directoryOf(handle: number, length: number): { offset: number; size: number } {
  const tail_length = Math.min(length, END_LENGTH + MAX_COMMENT + LOCATOR_LENGTH);
  const tail = readAt(handle, length - tail_length, tail_length);
  for (let at = tail.length - END_LENGTH; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END) continue;
    const before = at - LOCATOR_LENGTH;
    if (before >= 0 && tail.readUInt32LE(before) === LOCATOR_64) {
      const end = readAt(handle, Number(tail.readBigUInt64LE(before + 8)), 56);
      if (end.readUInt32LE(0) !== END_64) throw new Error("the archive's directory is damaged");
      return { size: Number(end.readBigUInt64LE(40)), offset: Number(end.readBigUInt64LE(48)) };
    }
    return { size: tail.readUInt32LE(at + 12), offset: tail.readUInt32LE(at + 16) };
  }
  throw new Error("it is not a ZIP archive, or it is incomplete");
}

function entryAt(bytes: Buffer, at: number, extra: Buffer): Entry {
  const large = largeFields(extra);
  const field = (place: number): number => {
    const value = bytes.readUInt32LE(at + place);
    return value === IN_EXTRA ? (large.shift() ?? value) : value;
  };
  // A 64-bit archive stores oversized values in this order.
  const size = field(24);
  const compressed = field(20);
  const offset = field(42);
  const [time, date] = [bytes.readUInt16LE(at + 12), bytes.readUInt16LE(at + 14)];
  const modified_at = Date.UTC(
    1980 + (date >> 9),
    ((date >> 5) & 0xf) - 1,
    date & 0x1f,
    time >> 11,
    (time >> 5) & 0x3f,
    (time & 0x1f) * 2,
  );
  return { method: bytes.readUInt16LE(at + 10), compressed, size, offset, modified_at };
}

function largeFields(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    const fields = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    return Array.from({ length: Math.floor(fields.length / 8) }, (_, index) =>
      Number(fields.readBigUInt64LE(index * 8)),
    );
  }
  return [];
}

function contentOf(handle: number, name: string, { method, compressed, size, offset }: Entry): Uint8Array {
  if (size > MAX_ENTRY || compressed > MAX_ENTRY)
    throw new Error(`${name} in it has ${Math.ceil(size / 1024 / 1024)} MB, which is too large`);
  const local = readAt(handle, offset, 30);
  if (local.readUInt32LE(0) !== LOCAL) throw new Error(`${name} in it is damaged`);
  const start = offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  const bytes = readAt(handle, start, compressed);
  const content = decompressed(name, method, bytes);
  if (content.length !== size) throw new Error(`${name} in it is damaged: its length is wrong`);
  return content;
}

function decompressed(name: string, method: number, bytes: Buffer): Uint8Array {
  switch (method) {
    case 0:
      return bytes;
    case 8:
      return inflateRawSync(bytes, { maxOutputLength: MAX_ENTRY });
    case 93:
      return allFrames(name, bytes);
    default:
      throw new Error(`${name} in it has the unsupported compression method ${method}`);
  }
}

/** Decompresses all zstd frames. Writers may produce several, and Node's function stops after the first. */
function allFrames(name: string, bytes: Buffer): Uint8Array {
  const frames: Uint8Array[] = [];
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const options = { maxOutputLength: MAX_ENTRY, info: true };
    // The types lack the result of the `info` option.
    const { buffer, engine } = zstdDecompressSync(bytes.subarray(at), options) as unknown as {
      buffer: Uint8Array;
      engine: { bytesWritten: number };
    };
    frames.push(buffer);
    at += engine.bytesWritten;
    length += buffer.length;
    if (engine.bytesWritten === 0 || length > MAX_ENTRY) throw new Error(`${name} in it is damaged`);
  }
  return Buffer.concat(frames);
}
