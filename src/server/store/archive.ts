import { promisify } from "node:util";
import { constants, zstdCompress, zstdCompressSync } from "node:zlib";
import type { SessionStore, StoredChunk } from "./store.ts";

const compress = promisify(zstdCompress);
const COMPRESSION = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

/** The bytes as a chunk of the archive holds them, for `append`: made where there is time for it. */
export function pack(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(zstdCompressSync(bytes, COMPRESSION));
}

/** Bytes of one chunk, before compression. */
const CHUNK = 256 * 1024;
/** A last chunk shorter than this is written again together with what follows it. */
const SHORT = 64 * 1024;
/** Bytes that wait for the disk; beyond it they are left in the agents' files, and read from there later. */
const MOST_PENDING = 16 * 1024 * 1024;

/** Copies the agents' bytes into the store, in the order in which they stand in each file. */
export interface Archive {
  /**
   * Takes bytes of a file if they continue what is archived; what is there already is skipped. `false`: there is a gap
   * before them, or no room to wait: read them again later, from `end`. `packed`: the same bytes, by `pack`.
   */
  append(file_id: number, start: number, bytes: Uint8Array, packed?: Uint8Array): boolean;
  /** How far a file is archived or waits to be, in bytes from 0. */
  end(file_id: number): number;
  /** Of memory, for what waits. */
  readonly pendingBytes: number;
  /** What waits, as chunks for one transaction. Once they are written, call `written`; if they were not, `failed`. */
  take(): Promise<StoredChunk[]>;
  written(): void;
  failed(): void;
}

export function createArchive(store: SessionStore): Archive {
  const ends = new Map<number, number>();
  let pending = new Map<number, { start: number; pieces: Piece[] }>();
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
    append(file_id, start, bytes, packed) {
      const at = end(file_id);
      if (start + bytes.length <= at) return true;
      if (start > at || pendingBytes + takenBytes + bytes.length > MOST_PENDING) return false;
      // The caller's buffer is used again.
      const piece: Piece =
        packed && start === at ? { length: bytes.length, packed } : pieceOf(bytes.slice(at - start));
      let waiting = pending.get(file_id);
      if (!waiting) {
        waiting = { start: at, pieces: [] };
        pending.set(file_id, waiting);
      }
      waiting.pieces.push(piece);
      pendingBytes += piece.packed ? piece.packed.length : piece.bytes.length;
      ends.set(file_id, start + bytes.length);
      return true;
    },
    async take() {
      const batch = pending;
      taken = batch;
      takenBytes = pendingBytes;
      pending = new Map();
      pendingBytes = 0;
      const chunks: StoredChunk[] = [];
      for (const [file_id, waiting] of batch) {
        let { start, pieces } = waiting;
        const tail = start > 0 && pieces[0]?.bytes ? store.shortTail(file_id, SHORT) : undefined;
        if (tail && tail.start + tail.bytes.length === start) {
          start = tail.start;
          pieces = [pieceOf(tail.bytes), ...pieces];
        }
        for (const { length, bytes, packed } of chunksOf(pieces)) {
          chunks.push({ file_id, start, length, compressed: packed ?? (await compress(bytes, COMPRESSION)) });
          start += length;
        }
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

/** So many bytes of a file that wait: as they stand in it, or as a chunk of their own. */
type Piece =
  | { length: number; bytes: Uint8Array; packed?: undefined }
  | { length: number; packed: Uint8Array; bytes?: undefined };

const pieceOf = (bytes: Uint8Array): Piece => ({ length: bytes.length, bytes });

/** All bytes of the pieces, cut into chunks. Copies as little as it can: a piece is as long as a chunk, as a rule. */
function* chunksOf(pieces: readonly Piece[]): Generator<Piece> {
  let gathered: Uint8Array[] = [];
  let length = 0;
  function* gatheredChunk(): Generator<Piece> {
    if (length > 0) yield pieceOf(joined(gathered));
    gathered = [];
    length = 0;
  }
  for (const piece of pieces) {
    if (piece.packed) {
      yield* gatheredChunk();
      yield piece;
      continue;
    }
    for (let at = 0; at < piece.bytes.length; ) {
      const next = piece.bytes.subarray(at, at + CHUNK - length);
      gathered.push(next);
      length += next.length;
      at += next.length;
      if (length === CHUNK) yield* gatheredChunk();
    }
  }
  yield* gatheredChunk();
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only, ...others] = pieces;
  return only && others.length === 0 ? only : Buffer.concat(pieces);
}
