import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createZstdDecompress } from "node:zlib";
import type { FileIdentity } from "../../store/contract.ts";

/** Does not block on a pipe without a writer, and does not follow a link that replaced the file. */
export const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const HEAD_LENGTH = 1_024;
const TAIL_LENGTH = 256;
/** Maximum number of bytes per chunk. */
const CHUNK = 256 * 1024;
/** Maximum number of chunk buffers kept for reuse, about the number of concurrent reads. */
const MAX_POOLED_BUFFERS = 4;
const buffer_pool: Uint8Array<ArrayBuffer>[] = [];

interface FollowOptions {
  path: string;
  /** The file's identity when it was last read. */
  known?: FileIdentity;
  /** Whether to continue from `known.size` if the file is still the same, or read all of it again. */
  continues: boolean;
  /** The byte to start from if reading does not continue. Must be the start of a line. Absent: 0. */
  from?: number;
  /** Called before the first byte if reading starts from zero or `from`. `replaced`: the content is not the known one. */
  begin(replaced: boolean): void;
  /** The chunk is valid until the returned promise resolves. */
  bytes(chunk: Uint8Array, offset: number): void | Promise<void>;
  /** Checked between chunks. */
  stop(): boolean;
}

/** `identity`: the part of the file that was read; `stopped`: reading ended before the end of the file. */
export type Followed = { type: "gone" } | { type: "read"; identity: FileIdentity; stopped: boolean };

/**
 * Reads the bytes appended to a file since it was last read, or all of it if it was replaced, truncated or rewritten. Opens the
 * file read-only, once, and checks the open handle: only regular files, no links, no pipes. Throws errors other than a missing
 * file.
 */
export async function followFile(options: FollowOptions): Promise<Followed> {
  const opened = await openRegular(options.path);
  if (!opened) return { type: "gone" };
  const { handle, inode, size, modified_at } = opened;
  let buffer: Uint8Array<ArrayBuffer> | undefined;
  try {
    const { known } = options;
    const same = known !== undefined && (await isSame(opened, known));
    let consumed = Math.min(options.from ?? 0, size);
    if (same && options.continues) consumed = known.size;
    else options.begin(known !== undefined && !same);
    const rest = size - consumed;
    // Buffers are reused: new ones would become garbage faster than it is collected.
    buffer = rest < CHUNK ? new Uint8Array(rest) : (buffer_pool.pop() ?? new Uint8Array(CHUNK));
    let tail: Uint8Array = consumed > 0 ? await readTail(handle, consumed) : new Uint8Array();
    /** The hash of the first bytes, if they are read now. */
    let first: string | undefined;
    let stopped = false;
    while (consumed < size) {
      if (options.stop()) {
        stopped = true;
        break;
      }
      const chunk = await readAt(handle, consumed, Math.min(CHUNK, size - consumed), buffer);
      if (chunk.length === 0) break;
      if (consumed === 0) first = hash(chunk.subarray(0, HEAD_LENGTH));
      tail = chunk.length >= TAIL_LENGTH ? chunk.slice(-TAIL_LENGTH) : joinTail(tail, chunk);
      await options.bytes(chunk, consumed);
      consumed += chunk.length;
    }
    const head_length = Math.min(HEAD_LENGTH, consumed);
    const unchanged = same && known.head_length === head_length ? known.head : undefined;
    const head = first ?? unchanged ?? hash(await readAt(handle, 0, head_length));
    return {
      type: "read",
      identity: {
        inode,
        size: consumed,
        modified_at,
        head,
        head_length,
        tail: hash(tail),
      },
      stopped,
    };
  } finally {
    if (buffer?.length === CHUNK && buffer_pool.length < MAX_POOLED_BUFFERS) buffer_pool.push(buffer);
    await handle.close();
  }
}

/** An open file and its state when it was opened. The caller closes it. */
export interface OpenFile {
  handle: FileHandle;
  /** `device:inode`. */
  inode: string;
  size: number;
  modified_at: number;
}

/** Opens a regular file for reading. `undefined`: there is no file, or it is not a regular file. */
export async function openRegular(path: string): Promise<OpenFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, OPEN_FLAGS);
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    // ELOOP: a link; ENXIO: a pipe or socket.
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENXIO") return undefined;
    throw error;
  }
  const state = await handle.stat({ bigint: true });
  if (state.isFile()) {
    return {
      handle,
      inode: `${state.dev}:${state.ino}`,
      size: Number(state.size),
      modified_at: Number(state.mtimeNs) / 1e6,
    };
  }
  await handle.close();
  return undefined;
}

/** Reads `length` bytes from `offset`; fewer only at the end of the file. */
export async function readAt(
  handle: FileHandle,
  offset: number,
  length: number,
  buffer = new Uint8Array(length),
): Promise<Uint8Array> {
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** The first bytes of a file, at most `length`; `undefined`: there is no file. */
export async function readBeginning(path: string, length: number): Promise<Uint8Array | undefined> {
  const opened = await openRegular(path);
  if (!opened) return undefined;
  try {
    return await readAt(opened.handle, 0, Math.min(length, opened.size));
  } finally {
    await opened.handle.close();
  }
}

/**
 * Whether an open file is still the known one, possibly grown: the same inode, not shorter, with the same first bytes and the
 * same bytes before the old end. The last check detects a file that was truncated and grew again.
 */
export async function isSame({ handle, inode, size }: OpenFile, known: FileIdentity): Promise<boolean> {
  if (inode !== known.inode || size < known.size) return false;
  if (hash(await readAt(handle, 0, known.head_length)) !== known.head) return false;
  return hash(await readTail(handle, known.size)) === known.tail;
}

function readTail(handle: FileHandle, end: number): Promise<Uint8Array> {
  const length = Math.min(TAIL_LENGTH, end);
  return readAt(handle, end - length, length);
}

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function joinTail(tail: Uint8Array, chunk: Uint8Array): Uint8Array {
  const joined = new Uint8Array(tail.length + chunk.length);
  joined.set(tail);
  joined.set(chunk, tail.length);
  return joined.slice(-TAIL_LENGTH);
}

/** Turns the bytes of a file into the bytes of its text. */
export interface Decoder {
  write(chunk: Uint8Array): Promise<void>;
  /** For a compressed file: ignores the rest of the input without decoding it. */
  stop(): void;
  end(): Promise<void>;
}

/** Whether a file is compressed. Codex compresses inactive files in one write. */
export const isCompressed = (path: string): boolean => path.endsWith(".zst");

/** Passes decoded bytes to `sink` in bounded chunks. Throws if the data is damaged. */
export function createDecoder(path: string, sink: (bytes: Uint8Array) => void): Decoder {
  if (!isCompressed(path)) return { write: async (chunk) => sink(chunk), stop() {}, async end() {} };
  let stopped = false;
  const stream = createZstdDecompress({ chunkSize: 128 * 1024 });
  let failure: Error | undefined;
  stream.on("data", sink);
  stream.on("error", (error) => {
    failure = error;
  });
  const settled = (act: (done: () => void) => void) =>
    new Promise<void>((resolve, reject) => {
      const fail = (error: Error) => reject(error);
      stream.once("error", fail);
      act(() => {
        stream.off("error", fail);
        if (failure) reject(failure);
        else resolve();
      });
    });
  return {
    async write(chunk) {
      if (stopped) return;
      if (failure) throw failure;
      await settled((done) => stream.write(chunk, done));
    },
    stop() {
      stopped = true;
      stream.destroy();
    },
    async end() {
      if (stopped) return;
      if (failure) throw failure;
      await settled((done) => {
        stream.once("end", done);
        stream.end();
      });
    },
  };
}
