import { fileStamp, type IndexState } from "../index/index-state.ts";
import type { Indexer, IndexJob } from "./index-threads.ts";
import { isHuge, lastSegment, SEGMENT, segmentId } from "./large-files/segments.ts";
import type { IndexedSession, SessionFile } from "./session-file.ts";
import { sizeOf } from "./session-file.ts";

/** A file that grows is indexed again at most so often, in milliseconds, and rests so many times as long as it took. */
const REST_MS = 5_000;
const REST_SHARE = 20;

/** Keeps the part index up with the files: those that were read without it, and those that have grown. */
export interface PartIndexing {
  /** Adds to a reading of the file that its parts are indexed. */
  partsJob(entry: SessionFile): Pick<IndexJob, "parts">;
  /** It was read, or was known already: whatever of it is not indexed will be. */
  add(entry: SessionFile): void;
  /** Indexes what waits, one file after the other. */
  work(): Promise<void>;
  /** Files whose parts are not indexed. */
  readonly waiting: number;
}

export function createPartIndexing(options: {
  state: IndexState | undefined;
  indexer: Indexer | undefined;
  isClosed(): boolean;
  /** Its agent is switched off: it waits until it is on again. */
  isOff(entry: SessionFile): boolean;
  now: () => number;
  /** See `SessionsTiming.close`. */
  close: number;
  files(): Iterable<SessionFile>;
}): PartIndexing {
  const { state, indexer } = options;
  const queue = new Set<SessionFile>();
  /** When a file may be indexed again. */
  const rests = new WeakMap<SessionFile, number>();
  let working = false;

  state?.onRebuild(() => {
    for (const entry of options.files()) add(entry);
  });

  function partsJob(entry: SessionFile): Pick<IndexJob, "parts"> {
    if (!state?.writable || entry.gone) return {};
    return {
      parts: {
        key: keyOf(entry),
        target: { path: state.path, generation: state.generation },
        ...(entry.side_stamp !== undefined && { side_stamp: entry.side_stamp }),
      },
    };
  }

  function isIndexed(entry: SessionFile): boolean {
    return (
      !state?.writable ||
      !entry.identity ||
      state.stampOf(keyOf(entry)) === fileStamp(entry.identity, entry.side_stamp)
    );
  }

  function add(entry: SessionFile): void {
    if (!isIndexed(entry) && !entry.gone) queue.add(entry);
  }

  async function index(entry: SessionFile): Promise<void> {
    const began = performance.now();
    try {
      await indexer?.index(
        {
          path: entry.path,
          format: entry.format.id,
          ...(entry.side_text !== undefined && { side_text: entry.side_text }),
          close_before: options.now() - options.close,
          size: sizeOf(entry),
          ...partsJob(entry),
        },
        { replaced() {}, progress: () => options.isClosed() || entry.gone, preview() {} },
      );
    } catch {
      // Whatever keeps it from being read is reported by the reading of its row.
    }
    const took = performance.now() - began;
    rests.set(entry, performance.now() + Math.max(REST_MS, REST_SHARE * took));
  }

  return {
    partsJob,
    add,
    async work() {
      if (working || !indexer) return;
      working = true;
      try {
        for (const entry of queue) {
          if (options.isClosed()) return;
          if (options.isOff(entry) || (rests.get(entry) ?? 0) > performance.now()) continue;
          queue.delete(entry);
          // What was written meanwhile is on its way to the disk.
          if (!isIndexed(entry) && !entry.gone) await index(entry);
        }
      } finally {
        working = false;
      }
    },
    get waiting() {
      let count = 0;
      for (const entry of options.files())
        if (!entry.gone && !options.isOff(entry) && !isIndexed(entry)) count += 1;
      return count;
    },
  };
}

export const keyOf = (entry: SessionFile): string => `file:${entry.id}`;

/** The id under which a part is opened: the session's, or that of the segment of a huge file in which its record stands. */
export function openedAs(session: IndexedSession, byte: number | undefined): string {
  const { entry, id } = session;
  const size = sizeOf(entry);
  if (byte === undefined || !isHuge(entry.path, size)) return id;
  const segment = Math.floor(byte / SEGMENT);
  return segment >= lastSegment(size) ? id : segmentId(id, segment);
}
