import type { ArchiveWriter } from "../archive/archive-writer.ts";
import type { SessionList } from "../sessions/list.ts";
import type { FileSessions } from "./file-sessions.ts";
import type { Indexed, IndexedRow, Indexer, IndexJob } from "./index-threads.ts";
import { isArchivable, isStale, type SessionFile } from "./session-file.ts";
import { loadSide } from "./side-file.ts";
import type { SessionsTiming } from "./timing.ts";
import type { FoundFile } from "./watch.ts";

/** Reads files of which only the rows are wanted, on other threads. */
interface BackgroundIndex {
  /** Reads a file, within `run` of it. */
  read(entry: SessionFile): Promise<void>;
  /** Begins to read a huge file's rows beside what else is done with it. */
  begin(entry: SessionFile): void;
  /** What `begin` began with this file. */
  readingOf(entry: SessionFile): Promise<void> | undefined;
  /** Does work that someone waits for: what is read here pauses until it is done. */
  first<Value>(work: () => Promise<Value>): Promise<Value>;
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
  /** That its parts are to be indexed, too, if they are. */
  partsJob(entry: SessionFile): Pick<IndexJob, "parts">;
  /** Its bytes are to be archived. */
  enqueueBackfill(entry: SessionFile): void;
  /** It was read to its end. */
  onRead(entry: SessionFile): void;
  /** Its sessions are listed now. Within `run` of the entry. */
  onListed(entry: SessionFile): void | Promise<void>;
  /** It changed while it was read, and has to be read again. Within `run` of the entry. */
  reread(entry: SessionFile): Promise<void>;
  /** There is no file any more. */
  markGone(entry: SessionFile): void;
  removeSession(id: string): void;
}

/** A reading on another thread. `seen`: the file as it was seen last when the reading began. */
interface Work {
  replaced: boolean;
  file_id: number;
  seen: FoundFile | undefined;
}

export function createBackgroundIndex(options: BackgroundIndexOptions): BackgroundIndex {
  const { indexer, timing, now, archive, list, sessions, run } = options;
  /** Readings that someone waits for: those that nobody waits for pause. */
  let priority = 0;
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

  /** Rows as another thread made them, by the ids that they go by here. */
  function ownRows(entry: SessionFile, rows: readonly IndexedRow[]): IndexedRow[] {
    return rows.map((row) => {
      const id = sessions.idFor(entry, row.id);
      return { ...row, id, summary: { ...row.summary, id } };
    });
  }

  /** What another thread read becomes what is listed. */
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
    // What nobody waits for: it would double the time until all is listed.
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
          // A change that was reported meanwhile was ignored because the file was being read.
          if (has_changed && !options.isClosed())
            void run(entry, () => (isStale(entry) ? options.reread(entry) : undefined));
        });
      readings.set(entry, job);
    },
    readingOf: (entry) => readings.get(entry),
    async first(work) {
      priority += 1;
      if (priority === 1) indexer.pause();
      try {
        return await work();
      } finally {
        priority -= 1;
        if (priority === 0) indexer.resume();
      }
    },
  };
}
