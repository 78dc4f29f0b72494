import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";
import type { SessionStore, StoredChunk } from "../../store/contract.ts";

const compress = promisify(zstdCompress);
const COMPRESSION = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_checksumFlag]: 1,
    // As long as a chunk, instead of twice that: a fifth of the time went into setting up the rest.
    [constants.ZSTD_c_windowLog]: 18,
  },
};

/** Bytes of one chunk, before compression. */
const CHUNK = 256 * 1024;
/** Chunks that are compressed at a time: of the threads that do it, as many are left for reading files. */
const AT_ONCE = 2;
/** A last chunk shorter than this is written again together with what follows it. */
const SHORT = 64 * 1024;
/** Bytes that wait for the disk; beyond it they are left in the agents' files, and read from there later. */
const MAX_PENDING = 16 * 1024 * 1024;

/** Copies the agents' bytes into the store, in the order in which they stand in each file. */
export interface PendingChunks {
  /**
   * Takes bytes of a file if they continue what is archived; what is there already is skipped. `false`: there is a gap
   * before them, or no room to wait: read them again later, from `end`.
   */
  append(file_id: number, start: number, bytes: Uint8Array): boolean;
  /** How far a file is archived or waits to be, in bytes from 0. */
  end(file_id: number): number;
  readonly pendingBytes: number;
  /** What waits, as chunks for one transaction. Once they are written, call `written`; if they were not, `failed`. */
  take(): Promise<StoredChunk[]>;
  written(): void;
  failed(): void;
}

export function createPendingChunks(store: SessionStore): PendingChunks {
  const ends = new Map<number, number>();
  let pending = new Map<number, { start: number; pieces: Uint8Array[] }>();
  let pendingBytes = 0;
  let taken: Map<number, unknown> = new Map();
  let takenBytes = 0;

  const end = (file_id: number) => {
    let known = ends.get(file_id);
    if (known === undefined) {
      known = store.archivedTo(file_id);
      ends.set(file_id, known);
    }
    return known;
  };

  return {
    end,
    get pendingBytes() {
      return pendingBytes + takenBytes;
    },
    append(file_id, start, bytes) {
      const at = end(file_id);
      if (start + bytes.length <= at) return true;
      if (start > at || pendingBytes + takenBytes + bytes.length > MAX_PENDING) return false;
      // The caller's buffer is used again.
      const fresh = new Uint8Array(bytes.subarray(at - start));
      let waiting = pending.get(file_id);
      if (!waiting) {
        waiting = { start: at, pieces: [] };
        pending.set(file_id, waiting);
      }
      waiting.pieces.push(fresh);
      pendingBytes += fresh.length;
      ends.set(file_id, at + fresh.length);
      return true;
    },
    async take() {
      const batch = pending;
      taken = batch;
      takenBytes = pendingBytes;
      pending = new Map();
      pendingBytes = 0;
      const places: { place: Pick<StoredChunk, "file_id" | "start">; bytes: Uint8Array }[] = [];
      for (const [file_id, waiting] of batch) {
        let { start } = waiting;
        const tail = start > 0 ? store.shortTail(file_id, SHORT) : undefined;
        const follows = tail && tail.start + tail.bytes.length === start;
        if (follows) start = tail.start;
        for (const bytes of chunksOf(follows ? [tail.bytes, ...waiting.pieces] : waiting.pieces)) {
          places.push({ place: { file_id, start }, bytes });
          start += bytes.length;
        }
      }
      const chunks: StoredChunk[] = [];
      for (let at = 0; at < places.length; at += AT_ONCE) {
        const some = places.slice(at, at + AT_ONCE);
        chunks.push(...(await Promise.all(some.map(({ place, bytes }) => compressed(place, bytes)))));
      }
      return chunks;
    },
    written() {
      taken = new Map();
      takenBytes = 0;
    },
    failed() {
      // What follows a lost piece would leave a gap: all of it is read again from the agents' files.
      for (const file_id of [...taken.keys(), ...pending.keys()]) ends.delete(file_id);
      taken = new Map();
      takenBytes = 0;
      pending = new Map();
      pendingBytes = 0;
    },
  };
}

async function compressed(
  place: Pick<StoredChunk, "file_id" | "start">,
  bytes: Uint8Array,
): Promise<StoredChunk> {
  return { ...place, length: bytes.length, compressed: await compress(bytes, COMPRESSION) };
}

/** All bytes of the pieces, cut into chunks. Copies as little as it can: a piece is as long as a chunk, as a rule. */
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
