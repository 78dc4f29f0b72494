import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { type FileIdentity, type Notice, noticeOf } from "../../store/contract.ts";
import type { SegmentStart } from "../../store/index/contract.ts";
import { deleteIndex, prepareIndex } from "../../store/index/sqlite.ts";
import { createSegmentStarts, readIndex, type SegmentTranscripts } from "./segment-starts.ts";

/**
 * Increase it when readers produce other parts from the same bytes, or save their state in another shape. All files are then indexed
 * again.
 */
export const READERS_VERSION = 17;

/** Sources that are on disk. */
export interface WrittenSources {
  stamps: { key: string; stamp: string }[];
  segments: { key: string; segment: number }[];
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
  /** The starts of the segments of a huge source that are known. Rejects if the index cannot be read. */
  segmentsOf(key: string): Promise<readonly SegmentTranscripts[]>;
  /** The start of a segment, to resume reading there. Rejects if the index cannot be read. */
  segmentStart(key: string, segment: number): Promise<SegmentStart | undefined>;
  /** The position of a part in a session. Rejects if the index cannot be read. */
  position(key: string, session_id: string, part_id: string): Promise<number | undefined>;
  /** The keys of the indexed sources. */
  keys(): Iterable<string>;
  written(generation: number, written: Pick<WrittenSources, "stamps" | "segments">): void;
  removed(keys: readonly string[]): void;
  /** Deletes a damaged index and indexes everything again. Several threads may call it; it runs once per generation. */
  rebuild(generation: number): void;
  onRebuild(listener: () => void): void;
  /** Calls the listener with the key of each source that is indexed completely. */
  onIndexed(listener: (key: string) => void): void;
  readonly notices: readonly Notice[];
  /** Merges the log into the file. Call it once no thread has the index open. */
  close(): void;
}

/** Opens the index of a data folder, or creates an empty one. Never throws: without an index only search is unavailable. */
export async function openIndexState(path: string, writable: boolean): Promise<IndexState> {
  const listeners = new Set<() => void>();
  const stamps = new Map<string, string>();
  const indexed_listeners = new Set<(key: string) => void>();
  const segments = createSegmentStarts(path, READERS_VERSION);
  let generation = 1;
  let notice: Notice | undefined;

  function prepare(): boolean {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      prepareIndex(path);
      notice = undefined;
      return true;
    } catch (error) {
      notice = noticeOf(
        "warning",
        daemonText("no_search_index", { path, error: messageOf(error) }),
        daemonText("free_data_folder_restart"),
      );
      return false;
    }
  }

  async function load(): Promise<void> {
    await readIndex(path, async (index) => {
      for (const { key, stamp } of await index.sources()) if (stamp !== "") stamps.set(key, stamp);
      for (const { source, segment, version } of await index.segments())
        if (version === READERS_VERSION) segments.add(source, segment);
    });
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
    segmentsOf: segments.of,
    segmentStart: segments.get,
    position: async (key, session_id, part_id) =>
      ready ? await readIndex(path, (index) => index.position(key, session_id, part_id)) : undefined,
    keys: () => stamps.keys(),
    written(of, written) {
      if (of !== generation) return;
      for (const { key, segment } of written.segments) segments.add(key, segment);
      for (const { key, stamp } of written.stamps) {
        stamps.set(key, stamp);
        for (const listener of indexed_listeners) listener(key);
      }
    },
    removed(keys) {
      for (const key of keys) {
        stamps.delete(key);
        segments.remove(key);
      }
    },
    rebuild(of) {
      if (of !== generation || !ready) return;
      generation += 1;
      stamps.clear();
      segments.clear();
      deleteIndex(path);
      if (prepare()) for (const listener of listeners) listener();
    },
    onRebuild: (listener) => void listeners.add(listener),
    onIndexed: (listener) => void indexed_listeners.add(listener),
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
