import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../../model/narrow.ts";
import type { FileIdentity, Notice } from "../../store/contract.ts";
import type { SegmentStart } from "../../store/index/contract.ts";
import { deleteIndex, openSqliteIndex, prepareIndex } from "../../store/index/sqlite.ts";

/** Increase it when readers produce other parts from the same bytes. All files are then indexed again. */
export const READERS_VERSION = 7;

/** Sources that are on disk. */
export interface WrittenSources {
  stamps: { key: string; stamp: string }[];
  segments: { key: string; segment: number; byte: number }[];
}

/**
 * The daemon's view of the part index: which sources are indexed, and in which state. Rows are read and written by other threads.
 */
export interface IndexState {
  readonly path: string;
  /** Whether this daemon writes the index. */
  readonly writable: boolean;
  /** Increases when the index file is deleted and created again. Connections opened before then use the old file. */
  readonly generation: number;
  /** The stamp of a source when it was indexed; `undefined`: it is not indexed. */
  stampOf(key: string): string | undefined;
  /** The byte at which a segment of a huge source begins; `undefined`: it is not known yet. */
  segmentByte(key: string, segment: number): number | undefined;
  /** The start of a segment, to resume reading there. Rejects if the index cannot be read. */
  segmentStart(key: string, segment: number): Promise<SegmentStart | undefined>;
  /** The keys of the indexed sources. */
  keys(): Iterable<string>;
  written(generation: number, written: Pick<WrittenSources, "stamps" | "segments">): void;
  removed(keys: readonly string[]): void;
  /** Deletes a damaged index and indexes everything again. Several threads may call it; it runs once per generation. */
  rebuild(generation: number): void;
  onRebuild(listener: () => void): void;
  readonly notices: readonly Notice[];
  /** Merges the log into the file. Call it once no thread has the index open. */
  close(): void;
}

/** Opens the index of a data folder, or creates an empty one. Never throws: without an index only search is unavailable. */
export async function openIndexState(path: string, writable: boolean): Promise<IndexState> {
  const listeners = new Set<() => void>();
  const stamps = new Map<string, string>();
  const segment_bytes = new Map<string, Map<number, number>>();
  let generation = 1;
  let notice: Notice | undefined;

  function prepare(): boolean {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      prepareIndex(path);
      notice = undefined;
      return true;
    } catch (error) {
      notice = {
        level: "warning",
        text: `The search index ${path} cannot be created: ${messageOf(error)}. Sessions cannot be searched.`,
        remedy: "Free some space on the disk of the data folder, then restart Verbatim.",
      };
      return false;
    }
  }

  function addSegment(key: string, segment: number, byte: number): void {
    const known = segment_bytes.get(key) ?? new Map<number, number>();
    segment_bytes.set(key, known.set(segment, byte));
  }

  async function load(): Promise<void> {
    const index = openSqliteIndex(path, { read_only: true });
    try {
      for (const { key, stamp } of await index.sources()) if (stamp !== "") stamps.set(key, stamp);
      for (const { source, segment, byte, version } of await index.segments())
        if (version === READERS_VERSION) addSegment(source, segment, byte);
    } finally {
      await index.close();
    }
  }

  const ready = writable && prepare();
  if (ready) {
    await load().catch(() => {
      deleteIndex(path);
      prepare();
    });
  }

  return {
    path,
    writable: ready,
    get generation() {
      return generation;
    },
    stampOf: (key) => stamps.get(key),
    segmentByte: (key, segment) => segment_bytes.get(key)?.get(segment),
    async segmentStart(key, segment) {
      if (!segment_bytes.get(key)?.has(segment)) return undefined;
      const index = openSqliteIndex(path, { read_only: true });
      try {
        const start = await index.segment(key, segment);
        return start?.version === READERS_VERSION ? start : undefined;
      } finally {
        await index.close();
      }
    },
    keys: () => stamps.keys(),
    written(of, written) {
      if (of !== generation) return;
      for (const { key, stamp } of written.stamps) stamps.set(key, stamp);
      for (const { key, segment, byte } of written.segments) addSegment(key, segment, byte);
    },
    removed(keys) {
      for (const key of keys) {
        stamps.delete(key);
        segment_bytes.delete(key);
      }
    },
    rebuild(of) {
      if (of !== generation || !ready) return;
      generation += 1;
      stamps.clear();
      segment_bytes.clear();
      deleteIndex(path);
      if (prepare()) for (const listener of listeners) listener();
    },
    onRebuild: (listener) => void listeners.add(listener),
    get notices() {
      return notice ? [notice] : [];
    },
    close() {
      // SQLite merges the log when the last connection closes. Threads that were terminated did not close theirs.
      if (ready) prepare();
    },
  };
}

/** Identifies the state of a file as read by these readers. */
export function fileStamp({ inode, size, modified_at, head, tail }: FileIdentity, side_stamp = ""): string {
  return [READERS_VERSION, inode, size, modified_at, head.slice(0, 16), tail.slice(0, 16), side_stamp].join(
    " ",
  );
}

/** Like `fileStamp`, for a session without a file, from its row. */
export function sessionStamp(row: {
  turns: number;
  steps: number;
  parts: number;
  byte_size: number;
  last_activity_at: number;
}): string {
  return [READERS_VERSION, row.turns, row.steps, row.parts, row.byte_size, row.last_activity_at].join(" ");
}
