import type { FileHandle } from "node:fs/promises";
import { lstat, readlink, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { OUTPUT_PIECE } from "../../model/parts/kept-output.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { LineSource, Source, TranscriptPart } from "../../model/transcript/transcript.ts";
import { mediaOf } from "../../model/truncate/media-references.ts";
import type { RawReply } from "../../protocol.ts";
import type { FileIdentity } from "../../store/contract.ts";
import type { ReadBytes } from "./file-content.ts";
import { createDecoder, isCompressed, isSame, type OpenFile, openRegular, readAt } from "./follow.ts";

/** Maximum number of bytes of a record, or of an agent's result file, that are sent. */
const RECORD_LIMIT = 1024 * 1024;
const ATTACHMENT_LIMIT = 64 * 1024 * 1024;
const BLOCK = 256 * 1024;
const LINE_BLOCK = 4 * 1024 * 1024;
const NEWLINE = 0x0a;
/** Number of attempts to open a file that may be replaced at the same time. */
const MAX_ATTEMPTS = 16;

/** The bytes of a session's file: on disk if it is still the same file, otherwise in the archive. */
export interface RecordFile {
  path: string;
  gone: boolean;
  identity?: FileIdentity;
  side?: string;
  side_text?: string;
  archived(from: number, to: number): Promise<Uint8Array>;
}

/** The raw record that a part was made from. `undefined`: its bytes no longer exist. */
export async function readRecord(file: RecordFile, origin: Source): Promise<RawReply | undefined> {
  if (origin.kind === undefined) return readLine(file, origin);
  if (origin.logged === undefined) return undefined;
  const entry = await readLine(file, { file: file.path, ...origin.logged });
  if (entry === undefined) return undefined;
  // The line of a record log wraps the agent's record. A truncated line is shown as it is.
  const value = entry.truncated === undefined ? new RawJson({ text: entry.text }).at(["value"]) : undefined;
  return { ...entry, ...(value !== undefined && { text: value }), place: origin };
}

async function readLine(file: RecordFile, source: LineSource): Promise<RawReply | undefined> {
  const length = Math.min(source.length, RECORD_LIMIT);
  const reply = (bytes: Uint8Array, archived: boolean): RawReply => ({
    file: file.path,
    line: source.line,
    byte: source.byte,
    length: source.length,
    text: new TextDecoder().decode(bytes),
    ...(source.length > length && { truncated: source.length }),
    archived,
  });
  if (source.file === file.side && file.side_text !== undefined) {
    const bytes = new TextEncoder().encode(file.side_text).subarray(source.byte, source.byte + length);
    return { ...reply(bytes, file.gone), file: file.side };
  }
  const handle = file.gone ? undefined : await openKnown(file);
  if (handle) {
    try {
      const bytes = await range(file.path, source.byte, length, (from, to) =>
        readAt(handle, from, to - from),
      );
      if (bytes.length === length)
        return {
          ...reply(bytes, false),
          line: await lineOf(source, (at, size, buffer) => readAt(handle, at, size, buffer)),
        };
    } finally {
      await handle.close();
    }
  }
  const bytes = await range(file.path, source.byte, length, (from, to) => file.archived(from, to));
  if (bytes.length !== length) return undefined;
  const archived = async (at: number, size: number) => {
    // Yield: decompression runs on this thread.
    await setImmediate();
    return file.archived(at, at + size);
  };
  return { ...reply(bytes, true), line: await lineOf(source, archived) };
}

/**
 * The line number of a record. It is unknown if the file was not read from its beginning. 0: the bytes before it cannot be read.
 */
async function lineOf({ line: known, byte }: LineSource, read: ReadBytes): Promise<number> {
  if (known > 0) return known;
  const buffer = Buffer.alloc(LINE_BLOCK);
  let line = 1;
  for (let at = 0; at < byte; ) {
    const block = await read(at, Math.min(LINE_BLOCK, byte - at), buffer).catch(() => undefined);
    if (!block?.length) return 0;
    for (let next = block.indexOf(NEWLINE); next !== -1; next = block.indexOf(NEWLINE, next + 1)) line += 1;
    at += block.length;
  }
  return line;
}

async function openKnown({ path, identity }: RecordFile): Promise<FileHandle | undefined> {
  const opened = identity && (await openRegular(path));
  if (!opened) return undefined;
  if (await isSame(opened, identity)) return opened.handle;
  await opened.handle.close();
  return undefined;
}

/** Bytes `[start, start + length)` of a file's text. A compressed file is decoded from its beginning. */
async function range(
  path: string,
  start: number,
  length: number,
  read: (from: number, to: number) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let filled = 0;
  let decoded = isCompressed(path) ? 0 : start;
  const decoder = createDecoder(path, (bytes) => {
    const wanted = bytes.subarray(Math.max(0, start - decoded), Math.max(0, start + length - decoded));
    decoded += bytes.length;
    if (wanted.length === 0) return;
    pieces.push(Uint8Array.from(wanted));
    filled += wanted.length;
    // Do not decompress the rest, which may be gigabytes.
    if (filled >= length) decoder.stop();
  });
  for (let at = decoded; filled < length; ) {
    const bytes = await read(at, isCompressed(path) ? at + BLOCK : start + length);
    if (bytes.length === 0) break;
    await decoder.write(bytes);
    at += bytes.length;
  }
  return Buffer.concat(pieces);
}

/**
 * The bytes of the `n`th image or file of a part: from its data URL, or from `readFile` if it refers to a file. `readFile`
 * resolves paths in the session's folders. `undefined`: there is no such attachment.
 */
export async function readAttachment(
  part: TranscriptPart,
  n: number,
  readFile: (path: string) => Promise<Uint8Array | undefined>,
): Promise<{ mime_type: string; bytes: Uint8Array } | undefined> {
  const media = mediaOf(part)[n];
  if (!media) return undefined;
  switch (media.type) {
    case "image_url":
    case "file":
      return parseDataUrl(media.url);
    case "image_file": {
      const bytes = await readFile(media.file_path);
      return bytes && { mime_type: media.mime_type ?? "application/octet-stream", bytes };
    }
    default:
      return media satisfies never;
  }
}

/** The bytes of a data URL; `undefined`: it is not a data URL. */
function parseDataUrl(url: string): { mime_type: string; bytes: Uint8Array } | undefined {
  const comma = url.indexOf(",");
  if (!url.startsWith("data:") || comma < 0) return undefined;
  const [mime_type = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const body = url.slice(comma + 1);
  try {
    const bytes = parameters.includes("base64")
      ? Buffer.from(body, "base64")
      : new TextEncoder().encode(decodeURIComponent(body));
    return { mime_type: mime_type || "text/plain", bytes };
  } catch {
    return undefined;
  }
}

/** A file that must be in a folder. */
interface FileInFolder {
  folder: string;
  path: string;
}

/** The bytes of a file that an agent stored beside its records. */
export function readOutputFile(file: FileInFolder): Promise<Uint8Array | undefined> {
  return openOutputFile(file, async ({ handle, size }) =>
    size <= ATTACHMENT_LIMIT ? await readAt(handle, 0, size) : undefined,
  );
}

/** A range of such a file, of any length. */
export function readOutputPiece(file: FileInFolder, from: number): Promise<Uint8Array | undefined> {
  return openOutputFile(file, ({ handle, size }) =>
    readAt(handle, from, Math.max(0, Math.min(OUTPUT_PIECE, size - from))),
  );
}

/**
 * The last two segments of the folder's path must be folders, not links: the path above belongs to the user, the content to an
 * agent. Opens the file first and then checks the path of the open file, so that it cannot be swapped in between.
 */
async function openOutputFile(
  { folder, path }: FileInFolder,
  read: (file: OpenFile) => Promise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  const opened = await openRegular(path).catch(() => undefined);
  if (!opened) return undefined;
  try {
    const above = dirname(dirname(folder));
    const own = join(await realpath(above), relative(above, folder)) + sep;
    const isOwn =
      process.platform === "linux" ? await isInside(opened, own) : await mayBeInside(opened, own, path);
    return isOwn ? await read(opened) : undefined;
  } catch {
    return undefined;
  } finally {
    await opened.handle.close();
  }
}

/** Asks the operating system for the path of an open file. */
async function isInside({ handle }: OpenFile, folder: string): Promise<boolean> {
  return (await readlink(`/proc/self/fd/${handle.fd}`)).startsWith(folder);
}

/** For systems that do not provide this path: checks repeatedly that the path leads to the same inode. */
async function mayBeInside({ inode }: OpenFile, folder: string, path: string): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const real = await realpath(path);
    const stats = await lstat(real, { bigint: true });
    if (!real.startsWith(folder) || `${stats.dev}:${stats.ino}` !== inode) return false;
  }
  return true;
}
