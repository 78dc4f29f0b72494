import { zstdDecompressSync } from "node:zlib";
import { StoreError } from "../contract.ts";
import type { ArchiveStore, OpenedArchive, StoredChunk, StoredFile, StoredSession } from "./contract.ts";

/** Opens an empty archive that lasts as long as its process. */
export function openMemoryArchive(): OpenedArchive {
  const contents = { files: [], sessions: [], archived_to: new Map() };
  return { store: createMemoryArchive(), contents, read_only: false, notices: [] };
}

function createMemoryArchive(): ArchiveStore {
  const files = new Map<number, StoredFile>();
  const sessions = new Map<string, StoredSession>();
  /** By file id, in order. */
  const chunks = new Map<number, StoredChunk[]>();

  return {
    async load() {
      const archived_to = new Map([...chunks].map(([file_id, stored]) => [file_id, endOf(stored)]));
      return { files: [...files.values()], sessions: [...sessions.values()], archived_to };
    },
    async write(batch) {
      // Copied first: a batch that cannot be copied changes nothing.
      const { files: changed_files = [], sessions: changed_sessions = [] } = structuredClone(batch);
      for (const file of changed_files) files.set(file.id, file);
      for (const session of changed_sessions) sessions.set(session.id, session);
      for (const id of batch.removed_sessions ?? []) sessions.delete(id);
      for (const chunk of batch.chunks ?? []) {
        const others = (chunks.get(chunk.file_id) ?? []).filter(({ start }) => start !== chunk.start);
        chunks.set(
          chunk.file_id,
          [...others, chunk].toSorted((one, other) => one.start - other.start),
        );
      }
      for (const id of batch.removed_files ?? []) {
        chunks.delete(id);
        files.delete(id);
      }
    },
    async shortTail(file_id, limit) {
      const last = chunks.get(file_id)?.at(-1);
      return last && last.length < limit ? { start: last.start, bytes: bytesOf(last) } : undefined;
    },
    async read(file_id, from, to) {
      const chunk = chunks.get(file_id)?.findLast(({ start }) => start <= from);
      return chunk ? bytesOf(chunk).subarray(from - chunk.start, to - chunk.start) : new Uint8Array();
    },
    async close() {},
  };
}

/** How far the chunks reach without a gap. */
function endOf(stored: readonly StoredChunk[]): number {
  let end = 0;
  for (const { start, length } of stored) {
    if (start !== end) break;
    end += length;
  }
  return end;
}

function bytesOf({ compressed }: StoredChunk): Uint8Array {
  try {
    return zstdDecompressSync(compressed);
  } catch (error) {
    throw new StoreError("broken", "a chunk of the archive is damaged", { cause: error });
  }
}
