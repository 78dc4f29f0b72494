import { uuidFrom } from "../../model/uuid.ts";
import { fileStamp, type IndexState } from "../index/index-state.ts";
import type { IndexedRow, Indexer, IndexJob } from "./index-threads.ts";
import type { IndexedSession, SessionFile } from "./session-file.ts";
import { sizeOf } from "./session-file.ts";

/** Minimum pause between two indexings of a growing file, in milliseconds, and as a multiple of the last one's duration. */
const PAUSE_MS = 5_000;
const PAUSE_FACTOR = 20;

/** Keeps the part index up to date: with files that were read without it, and with files that have grown. */
export interface PartIndexing {
  /** Adds the indexing of parts to a job that reads the file. */
  partsJob(entry: SessionFile): Pick<IndexJob, "parts">;
  /** Called when a file was read or restored. Queues it if it is not indexed yet. */
  add(entry: SessionFile): void;
  /** Indexes the queued files one after the other. */
  work(): Promise<void>;
  /** Number of files whose parts are not indexed. */
  readonly waiting: number;
}

export function createPartIndexing(options: {
  state: IndexState | undefined;
  indexer: Indexer | undefined;
  isClosed(): boolean;
  /** Whether the file's agent is switched off. The file waits until it is on again. */
  isOff(entry: SessionFile): boolean;
  now: () => number;
  /** See `SessionsTiming.close`. */
  close: number;
  files(): Iterable<SessionFile>;
  /** The rows of the file's sessions, by their listed ids. */
  rowsOf(entry: SessionFile): IndexedRow[];
}): PartIndexing {
  const { state, indexer } = options;
  const queue = new Set<SessionFile>();
  /** The earliest time at which a file is indexed again. */
  const indexAfter = new WeakMap<SessionFile, number>();
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

  /** The job for a file whose rows are known already, so that only its parts are indexed. */
  function grownJob(entry: SessionFile): Pick<IndexJob, "parts"> {
    const { parts } = partsJob(entry);
    return parts ? { parts: { ...parts, known_rows: options.rowsOf(entry) } } : {};
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
    let duration = 0;
    try {
      const indexed = await indexer?.index(
        {
          path: entry.path,
          format: entry.format.id,
          ...(entry.side_text !== undefined && { side_text: entry.side_text }),
          close_before: options.now() - options.close,
          size: sizeOf(entry),
          ...(entry.identity && { known: entry.identity }),
          ...grownJob(entry),
        },
        { replaced() {}, progress: () => options.isClosed() || entry.gone, preview() {} },
      );
      duration = indexed?.duration ?? 0;
    } catch {
      // Read errors are reported when the row is read.
    }
    indexAfter.set(entry, performance.now() + Math.max(PAUSE_MS, PAUSE_FACTOR * duration));
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
          if (options.isOff(entry) || (indexAfter.get(entry) ?? 0) > performance.now()) continue;
          queue.delete(entry);
          // Recent writes may not be on disk yet.
          if (!isIndexed(entry) && !entry.gone) await index(entry);
        }
      } finally {
        working = false;
      }
    },
    get waiting() {
      if (!state?.writable) return 0;
      let count = 0;
      for (const entry of options.files()) {
        // A file without an identity was not read yet.
        const is_waiting = !entry.identity || !isIndexed(entry);
        if (is_waiting && !entry.gone && !options.isOff(entry)) count += 1;
      }
      return count;
    },
  };
}

export const keyOf = (entry: SessionFile): string => `file:${entry.id}`;

/** See `Sessions.indexedAs`. */
export function indexedAs(
  indexed: ReadonlyMap<string, IndexedSession>,
  source: string,
  session_id: string,
): string | undefined {
  const file_id = Number(source.slice("file:".length));
  if (indexed.get(session_id)?.entry.id === file_id) return session_id;
  // A copy of a file has a different session id.
  for (const { entry, id } of indexed.values())
    if (entry.id === file_id && uuidFrom(session_id, entry.path) === id) return id;
  return undefined;
}
