import { type Entry, isStale } from "./entry.ts";
import type { FileSessions } from "./file-sessions.ts";
import type { Indexed, IndexedRow, Indexer } from "./indexer.ts";
import type { Keeper } from "./keeper.ts";
import type { SessionList } from "./list.ts";
import { loadSide } from "./side-file.ts";
import type { SessionsTiming } from "./timing.ts";
import type { FoundFile } from "./watch.ts";

/** Reads files of which only the rows are wanted, on other threads. */
interface ColdReader {
  /** Reads a file, within `run` of it. */
  read(entry: Entry): Promise<void>;
  /** Begins to read a huge file's rows beside what else is done with it. */
  begin(entry: Entry): void;
  /** What `begin` began with this file. */
  underWay(entry: Entry): Promise<void> | undefined;
  /** Does work that someone waits for: what is read here pauses until it is done. */
  first<Value>(work: () => Promise<Value>): Promise<Value>;
}

interface ColdReaderOptions {
  indexer: Indexer;
  timing: SessionsTiming;
  now: () => number;
  keeper: Keeper<Entry>;
  list: SessionList;
  sessions: FileSessions;
  isClosed(): boolean;
  run<Value>(entry: Entry, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  newFileId(): number;
  /** Its bytes are to be archived. */
  lags(entry: Entry): void;
  /** It was read to its end. */
  wasRead(entry: Entry): void;
  /** Its sessions are listed now. Within `run` of the entry. */
  listed(entry: Entry): void | Promise<void>;
  /** It changed while it was read, and has to be read again. Within `run` of the entry. */
  readAgain(entry: Entry): Promise<void>;
  /** There is no file any more. */
  leave(entry: Entry): void;
  drop(id: string): void;
}

/** A reading on another thread. `seen`: the file as it was seen last when the reading began. */
interface Work {
  replaced: boolean;
  file_id: number;
  seen: FoundFile | undefined;
}

export function createColdReader(options: ColdReaderOptions): ColdReader {
  const { indexer, timing, now, keeper, list, sessions, run } = options;
  /** Readings that someone waits for: those that nobody waits for pause. */
  let awaited = 0;
  /** Huge files whose rows are being read. */
  const under_way = new Map<Entry, Promise<void>>();

  async function index(entry: Entry, stop: () => boolean): Promise<{ work: Work; indexed: Indexed }> {
    const known = entry.identity ?? entry.begun;
    const work: Work = { replaced: false, file_id: entry.id, seen: entry.seen };
    const indexed = await indexer.index(
      {
        path: entry.path,
        format: entry.format.id,
        ...(known && { known }),
        ...(entry.side_text !== undefined && { side_text: entry.side_text }),
        close_before: now() - timing.close,
        size: entry.seen?.size ?? 0,
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
  function ownRows(entry: Entry, rows: readonly IndexedRow[]): IndexedRow[] {
    return rows.map((row) => {
      const id = sessions.idFor(entry, row.id);
      return { ...row, id, summary: { ...row.summary, id } };
    });
  }

  /** What another thread read becomes what is listed. */
  function adopt(entry: Entry, work: Work, indexed: Indexed): void {
    const { result } = indexed;
    if (result.type === "gone") {
      if (entry.seen !== work.seen) {
        void run(entry, () => (isStale(entry) ? options.readAgain(entry) : undefined));
      } else if (!entry.gone) options.leave(entry);
      return;
    }
    if (result.stopped) {
      if (!entry.identity) {
        entry.id = work.file_id;
        entry.begun = result.identity;
      }
      return;
    }
    const rows = new Map(ownRows(entry, indexed.rows).map((row) => [row.id, row]));
    if (work.replaced) sessions.supersede(entry, rows, work.file_id);
    entry.identity = result.identity;
    delete entry.begun;
    entry.done = true;
    options.wasRead(entry);
    // What nobody waits for: it would double the time until all is listed.
    if (!entry.sample) options.lags(entry);
    keeper.entryChanged(entry);
    for (const row of rows.values()) {
      const state = sessions.stateFor(entry, row.id);
      state.summary = row.summary;
      state.open_calls = row.open_calls;
      keeper.sessionChanged(row.id);
      list.mark(row.id);
    }
    for (const id of [...entry.sessions]) if (!rows.has(id)) options.drop(id);
    sessions.setFacts(entry, indexed.facts);
  }

  return {
    async read(entry) {
      await loadSide(entry);
      const { work, indexed } = await index(entry, () => options.isClosed() || entry.interrupt);
      adopt(entry, work, indexed);
      if (entry.identity) await options.listed(entry);
    },
    begin(entry) {
      if (under_way.has(entry) || options.isClosed()) return;
      let has_changed = false;
      const job = loadSide(entry)
        .then(() => index(entry, () => options.isClosed() || entry.gone))
        .then(({ work, indexed }) =>
          run(entry, async () => {
            adopt(entry, work, indexed);
            if (entry.identity) await options.listed(entry);
            has_changed = entry.seen !== work.seen;
          }),
        )
        .catch((error: unknown) => run(entry, () => Promise.reject(error)))
        .then(() => {
          under_way.delete(entry);
          // Whoever told of it meanwhile found it being read.
          if (has_changed && !options.isClosed())
            void run(entry, () => (isStale(entry) ? options.readAgain(entry) : undefined));
        });
      under_way.set(entry, job);
    },
    underWay: (entry) => under_way.get(entry),
    async first(work) {
      awaited += 1;
      if (awaited === 1) indexer.pause();
      try {
        return await work();
      } finally {
        awaited -= 1;
        if (awaited === 0) indexer.resume();
      }
    },
  };
}
