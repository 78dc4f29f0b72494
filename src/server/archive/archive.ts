import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";
import type { ArchiveStore, StoredChunk } from "../../store/archive/contract.ts";

const compress = promisify(zstdCompress);
const COMPRESSION = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_checksumFlag]: 1,
    // The window is as long as a chunk. The default, twice that, takes a fifth more time.
    [constants.ZSTD_c_windowLog]: 18,
  },
};

/** Size of a chunk before compression, in bytes. */
const CHUNK = 256 * 1024;
/** Concurrent compressions. They leave as many threads for reading files. */
const AT_ONCE = 2;
/** A last chunk shorter than this is rewritten together with the bytes that follow it. */
const SHORT = 64 * 1024;
/** Buffers up to this size are left to garbage collection, in bytes. */
const MIN_RELEASED = 64 * 1024;
/** Maximum number of pending bytes. Further bytes are read again later from the agents' files. */
const MAX_PENDING = 16 * 1024 * 1024;

/** Bytes of agents' files that will be written to the store, in file order. */
export interface PendingChunks {
  /**
   * Adds bytes of a file if they continue its archived bytes. Bytes that are already archived are skipped. `false`: there is a
   * gap, or too much is pending; append again later, from `end`.
   */
  append(file_id: number, start: number, bytes: Uint8Array): boolean;
  /** How far a file is archived or pending, in bytes. */
  end(file_id: number): number;
  readonly pendingBytes: number;
  /** Pending bytes as chunks for one transaction. Call `written` or `failed` afterwards. */
  take(): Promise<StoredChunk[]>;
  written(): void;
  failed(): void;
}

/** `archived_to`: see `ArchiveContents`. */
export function createPendingChunks(
  store: Pick<ArchiveStore, "shortTail">,
  archived_to: ReadonlyMap<number, number>,
): PendingChunks {
  const stored_ends = new Map(archived_to);
  /** Ends of files with pending bytes. */
  let pending_ends = new Map<number, number>();
  let pending = new Map<number, { start: number; pieces: Uint8Array[] }>();
  let pendingBytes = 0;
  /** Ends of the files in the batch that is being written. */
  let taken_ends = new Map<number, number>();
  let takenBytes = 0;

  const end = (file_id: number) => pending_ends.get(file_id) ?? stored_ends.get(file_id) ?? 0;

  return {
    end,
    get pendingBytes() {
      return pendingBytes + takenBytes;
    },
    append(file_id, start, bytes) {
      const at = end(file_id);
      if (start + bytes.length <= at) return true;
      if (start > at || pendingBytes + takenBytes + bytes.length > MAX_PENDING) return false;
      // Copied because the caller reuses its buffer.
      const fresh = new Uint8Array(bytes.subarray(at - start));
      let waiting = pending.get(file_id);
      if (!waiting) {
        waiting = { start: at, pieces: [] };
        pending.set(file_id, waiting);
      }
      waiting.pieces.push(fresh);
      pendingBytes += fresh.length;
      pending_ends.set(file_id, at + fresh.length);
      return true;
    },
    async take() {
      const batch = pending;
      taken_ends = new Map([...batch.keys()].map((file_id) => [file_id, end(file_id)]));
      takenBytes = pendingBytes;
      pending = new Map();
      pendingBytes = 0;
      const copies = new Set<ArrayBufferLike>();
      const places: { place: Pick<StoredChunk, "file_id" | "start">; bytes: Uint8Array }[] = [];
      for (const [file_id, waiting] of batch) {
        let { start } = waiting;
        const tail = start > 0 ? await store.shortTail(file_id, SHORT) : undefined;
        const follows = tail && tail.start + tail.bytes.length === start;
        if (follows) start = tail.start;
        for (const bytes of chunksOf(follows ? [tail.bytes, ...waiting.pieces] : waiting.pieces)) {
          places.push({ place: { file_id, start }, bytes });
          start += bytes.length;
          if (bytes.buffer !== tail?.bytes.buffer) copies.add(bytes.buffer);
        }
        for (const { buffer } of waiting.pieces) copies.add(buffer);
      }
      const chunks: StoredChunk[] = [];
      for (let at = 0; at < places.length; at += AT_ONCE) {
        const some = places.slice(at, at + AT_ONCE);
        chunks.push(...(await Promise.all(some.map(({ place, bytes }) => compressed(place, bytes)))));
      }
      for (const buffer of copies) release(buffer);
      return chunks;
    },
    written() {
      for (const [file_id, at] of taken_ends) {
        stored_ends.set(file_id, at);
        if (pending_ends.get(file_id) === at) pending_ends.delete(file_id);
      }
      taken_ends = new Map();
      takenBytes = 0;
    },
    failed() {
      // Bytes after lost ones would leave a gap, so all of them are read again from the agents' files.
      pending_ends = new Map();
      taken_ends = new Map();
      takenBytes = 0;
      pending = new Map();
      pendingBytes = 0;
    },
  };
}

/**
 * Frees a buffer now. Garbage collection would free it late, because the heap is small however many bytes were archived. Short
 * buffers may be shared.
 */
function release(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > MIN_RELEASED && !buffer.detached)
    buffer.transfer(0);
}

async function compressed(
  place: Pick<StoredChunk, "file_id" | "start">,
  bytes: Uint8Array,
): Promise<StoredChunk> {
  return { ...place, length: bytes.length, compressed: await compress(bytes, COMPRESSION) };
}

/** Splits bytes into chunks. Copies as little as possible: an input is usually as long as a chunk. */
function* chunksOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let length = 0;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const next = piece.subarray(at, at + CHUNK - length);
      gathered.push(next);
      length += next.length;
      at += next.length;
      if (length < CHUNK) continue;
      yield joined(gathered);
      gathered = [];
      length = 0;
    }
  }
  if (length > 0) yield joined(gathered);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only, ...others] = pieces;
  return only && others.length === 0 ? only : Buffer.concat(pieces);
}
