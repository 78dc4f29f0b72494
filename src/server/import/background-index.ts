import type { ArchiveWriter } from "../archive/archive-writer.ts";
import type { SessionList } from "../sessions/list.ts";
import type { FileSessions } from "./file-sessions.ts";
import type { Indexed, IndexedRow, Indexer, IndexJob } from "./index-threads.ts";
import { isArchivable, isStale, type SessionFile } from "./session-file.ts";
import { loadSide } from "./side-file.ts";
import type { SessionsTiming } from "./timing.ts";
import type { FoundFile } from "./watch/found-file.ts";

/** Indexes files on worker threads. Only the rows are kept, not the transcripts. */
interface BackgroundIndex {
  /** Reads a file. Must be called within `run` of the entry. */
  read(entry: SessionFile): Promise<void>;
  /** Starts indexing a huge file without blocking other work on it. */
  begin(entry: SessionFile): void;
  /** The reading that `begin` started for this file. */
  readingOf(entry: SessionFile): Promise<void> | undefined;
}

interface BackgroundIndexOptions {
  indexer: Indexer;
  timing: SessionsTiming;
  now: () => number;
  archive: ArchiveWriter<SessionFile>;
  list: SessionList;
  sessions: FileSessions;
  isClosed(): boolean;
  run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  newFileId(): number;
  /** Adds the file's parts to the job if they should be indexed. */
  partsJob(entry: SessionFile): Pick<IndexJob, "parts">;
  /** Queues the file's bytes for the archive. */
  enqueueBackfill(entry: SessionFile): void;
  /** Called when the file was read to its end. */
  onRead(entry: SessionFile): void;
  /** Called when the file's sessions are listed, within `run` of the entry. */
  onListed(entry: SessionFile): void | Promise<void>;
  /** Called when the file changed while it was read, within `run` of the entry. */
  reread(entry: SessionFile): Promise<void>;
  /** Called when the file no longer exists. */
  markGone(entry: SessionFile): void;
  removeSession(id: string): void;
}

/** A reading on a worker thread. `seen`: the file's last known state when the reading began. */
interface Work {
  replaced: boolean;
  file_id: number;
  seen: FoundFile | undefined;
}

/** Reads files on the index threads. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the readings in progress: its functions are short
export function createBackgroundIndex(options: BackgroundIndexOptions): BackgroundIndex {
  const { indexer, timing, now, archive, list, sessions, run } = options;
  /** Huge files whose rows are being read. */
  const readings = new Map<SessionFile, Promise<void>>();

  async function index(entry: SessionFile, stop: () => boolean): Promise<{ work: Work; indexed: Indexed }> {
    const known = entry.identity ?? entry.partial_identity;
    const work: Work = { replaced: false, file_id: entry.id, seen: entry.seen };
    const indexed = await indexer.index(
      {
        path: entry.path,
        format: entry.format.id,
        ...(known && { known }),
        ...(entry.side_text !== undefined && { side_text: entry.side_text }),
        close_before: now() - timing.close,
        size: entry.seen?.size ?? 0,
        ...options.partsJob(entry),
      },
      {
        replaced() {
          work.replaced = true;
          work.file_id = options.newFileId();
        },
        progress(end) {
          entry.progress = end;
          return stop();
        },
        preview(rows) {
          if (!entry.done) sessions.preview(entry, ownRows(entry, rows));
        },
      },
    );
    return { work, indexed };
  }

  /** Replaces the session ids in the worker's rows with the ids that are used in the list. */
  function ownRows(entry: SessionFile, rows: readonly IndexedRow[]): IndexedRow[] {
    return rows.map((row) => {
      const id = sessions.idFor(entry, row.id);
      return { ...row, id, summary: { ...row.summary, id } };
    });
  }

  /** Adds a worker's result to the list. */
  function adopt(entry: SessionFile, work: Work, indexed: Indexed): void {
    const { result } = indexed;
    if (result.type === "gone") {
      if (entry.seen !== work.seen) {
        void run(entry, () => (isStale(entry) ? options.reread(entry) : undefined));
      } else if (!entry.gone) options.markGone(entry);
      return;
    }
    if (result.stopped) {
      if (!entry.identity) {
        entry.id = work.file_id;
        entry.partial_identity = result.identity;
      }
      return;
    }
    const rows = new Map(ownRows(entry, indexed.rows).map((row) => [row.id, row]));
    if (work.replaced) sessions.replaceContent(entry, rows, work.file_id);
    entry.identity = result.identity;
    delete entry.partial_identity;
    entry.done = true;
    options.onRead(entry);
    // Archiving waits: doing it now would double the time until everything is listed.
    if (isArchivable(entry)) options.enqueueBackfill(entry);
    archive.entryChanged(entry);
    for (const row of rows.values()) {
      const state = sessions.stateFor(entry, row.id);
      state.summary = row.summary;
      state.open_calls = row.open_calls;
      archive.sessionChanged(row.id);
      list.mark(row.id);
    }
    for (const id of [...entry.sessions]) if (!rows.has(id)) options.removeSession(id);
    sessions.setFacts(entry, indexed.facts);
  }

  return {
    async read(entry) {
      await loadSide(entry);
      const { work, indexed } = await index(entry, () => options.isClosed() || entry.interrupt);
      adopt(entry, work, indexed);
      if (entry.identity) await options.onListed(entry);
    },
    begin(entry) {
      if (readings.has(entry) || options.isClosed()) return;
      let has_changed = false;
      const job = loadSide(entry)
        .then(() => index(entry, () => options.isClosed() || entry.gone))
        .then(({ work, indexed }) =>
          run(entry, async () => {
            adopt(entry, work, indexed);
            if (entry.identity) await options.onListed(entry);
            has_changed = entry.seen !== work.seen;
          }),
        )
        .catch((error: unknown) => run(entry, () => Promise.reject(error)))
        .then(() => {
          readings.delete(entry);
          // Changes reported during the reading were ignored, so check for them now.
          if (has_changed && !options.isClosed())
            void run(entry, () => (isStale(entry) ? options.reread(entry) : undefined));
        });
      readings.set(entry, job);
    },
    readingOf: (entry) => readings.get(entry),
  };
}
