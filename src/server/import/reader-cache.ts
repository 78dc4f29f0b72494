import type { Reading } from "./reading.ts";
import { type IndexedSession, modifiedAt, type SessionFile } from "./session-file.ts";
import type { SessionsTiming } from "./timing.ts";
import { decodedBytes } from "./transcript-views.ts";

/** Limits for the cache of readers. Bytes of text read approximate the size of a reader's state. */
export const MAX_READERS = 48;
const MAX_BYTES_READ = 16 * 1024 * 1024;

export interface ReaderCacheOptions {
  timing: SessionsTiming;
  now: () => number;
  indexed: Map<string, IndexedSession>;
  hasViewer(entry: SessionFile): boolean;
  run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  setHot(path: string, hot: boolean): void;
}

/** Keeps the readers of files that grow or are viewed. A file without a reader is read again when needed. */
export function createReaderCache({ timing, now, indexed, hasViewer, run, setHot }: ReaderCacheOptions) {
  /** Files with a reader, least recently used first. */
  const readers = new Set<SessionFile>();

  /** Keeps the reader of a file, unless it is closed or the file has not changed for `idle` milliseconds. */
  function retain(entry: SessionFile, reading: Reading, idle: number) {
    const is_active = reading.folding || (!reading.ended && now() - modifiedAt(entry) < idle);
    if (!is_active) return evict(entry);
    entry.reading = reading;
    setHot(entry.path, !entry.gone);
    readers.delete(entry);
    readers.add(entry);
    if (readers.size > MAX_READERS || bytesRead() > MAX_BYTES_READ) evictReaders();
  }

  function evict(entry: SessionFile) {
    clearTimeout(entry.last_line_timer);
    delete entry.reading;
    readers.delete(entry);
    setHot(entry.path, false);
    for (const id of entry.sessions) {
      const state = indexed.get(id);
      if (state) delete state.builder;
    }
  }

  /** Bytes read by the readers of files without viewers. */
  function bytesRead(): number {
    let bytes = 0;
    for (const entry of readers) if (!hasViewer(entry)) bytes += decodedBytes(entry);
    return bytes;
  }

  function evictReaders() {
    let excess = readers.size - MAX_READERS;
    let bytes = bytesRead();
    for (const entry of readers) {
      if (hasViewer(entry)) continue;
      const over = excess > 0 || bytes > MAX_BYTES_READ;
      if (!over && !entry.reading?.ended && now() - modifiedAt(entry) < timing.idle) continue;
      excess -= 1;
      bytes -= decodedBytes(entry);
      void run(entry, () => {
        if (!hasViewer(entry)) evict(entry);
      });
    }
  }

  return { retain, evictReaders };
}
