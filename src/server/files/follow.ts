import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createZstdDecompress } from "node:zlib";
import type { FileIdentity } from "../../store/contract.ts";

/** Never waits for a pipe to be opened at its other end, and never follows a link that was swapped in. */
export const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const HEAD_LENGTH = 1_024;
const TAIL_LENGTH = 256;
/** Bytes that are handed on at a time, at most. */
const CHUNK = 256 * 1024;
/** Buffers of chunks that wait for the next reading: as many as are read at a time, or so. */
const MAX_POOLED_BUFFERS = 4;
const buffer_pool: Uint8Array<ArrayBuffer>[] = [];

interface FollowOptions {
  path: string;
  /** The file as it was when it was last read. */
  known?: FileIdentity;
  /** Whether to read on from `known.size` if the file is still the same, or all of it again. */
  onward: boolean;
  /** Where reading begins when it does not go on, in bytes: a line's beginning. Absent: 0. */
  from?: number;
  /** Called before the first byte when reading starts from zero or `from`. `replaced`: this is not the content known before. */
  begin(replaced: boolean): void;
  /** The chunk is valid until the returned promise resolves. */
  bytes(chunk: Uint8Array, offset: number): void | Promise<void>;
  /** Asked between chunks. */
  stop(): boolean;
}

/** `identity`: the file up to where it was read; `stopped`: that is not its end. */
export type Followed = { type: "gone" } | { type: "read"; identity: FileIdentity; stopped: boolean };

/**
 * Reads what a file gained since it was last read, or all of it where it is another file, was cut, or was rewritten.
 * Opens it read-only, once, and believes only the open handle: regular files, no links, no pipes. Errors other than a
 * file that is not there are thrown.
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
    if (same && options.onward) consumed = known.size;
    else options.begin(known !== undefined && !same);
    const rest = size - consumed;
    // One buffer for all chunks of a reading, and for the next one: new ones would be garbage faster than it is collected.
    buffer = rest < CHUNK ? new Uint8Array(rest) : (buffer_pool.pop() ?? new Uint8Array(CHUNK));
    let tail: Uint8Array = consumed > 0 ? await readTail(handle, consumed) : new Uint8Array();
    /** Of the first bytes, where they are among those read now. */
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

/** An open file, as it was when it was opened. Whoever opened it closes it. */
export interface OpenFile {
  handle: FileHandle;
  /** `device:inode`. */
  inode: string;
  size: number;
  modified_at: number;
}

/** Opens for reading what is a regular file at that moment. `undefined`: nothing there, or something else. */
export async function openRegular(path: string): Promise<OpenFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, OPEN_FLAGS);
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    // ELOOP: a link stands there now; ENXIO: a pipe or socket.
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

/** At most `length` bytes from `offset`; fewer only where the file ends. */
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

/** The first bytes of a file, at most so many; `undefined`: there is none. */
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
 * Whether the open file is still the one known, perhaps grown: the same inode, not shorter, the same first bytes and the
 * same bytes before the point where it ended (a file cut and grown again within one look shows there).
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

/** Bytes as they stand in a file, made into the text's bytes. */
export interface Decoder {
  write(chunk: Uint8Array): Promise<void>;
  /** Of a compressed file: what follows is not wanted; it is taken, and not decoded. */
  stop(): void;
  end(): Promise<void>;
}

/** Codex compresses cold files; such a file is written once, whole. */
export const isCompressed = (path: string): boolean => path.endsWith(".zst");

/** Hands the decoded bytes to `sink` as they come, never more than a piece at a time. Throws on damaged data. */
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
