import type { Frame } from "../model/frame.ts";
import type { Announcer } from "./announce.ts";
import { createColdReader } from "./cold-reading.ts";
import { type Entry, isStale, modifiedAt, type State } from "./entry.ts";
import { openContent, type ReadBytes } from "./file-content.ts";
import { createFileSessions } from "./file-sessions.ts";
import type { Fold } from "./fold.ts";
import { followFile, isCompressed, isSame, openRegular, readAt, readBeginning } from "./follow.ts";
import type { Indexer } from "./indexer.ts";
import type { Keeper } from "./keeper.ts";
import type { Links } from "./links.ts";
import type { SessionList } from "./list.ts";
import { createReading, type Draft, type Reading, type ReadingWindow } from "./reading.ts";
import { fieldsOf } from "./row.ts";
import { isHuge, lastSegment, lineStart, segmentStart } from "./segments.ts";
import type { OpenSession } from "./sessions.ts";
import { loadSide } from "./side-file.ts";
import type { Status } from "./status.ts";
import type { FileIdentity } from "./store/store.ts";
import type { SessionsTiming } from "./timing.ts";
import { createView, type View } from "./view.ts";

/** Reads files, and makes what was read into sessions that are listed and shown. All of it within `run` of the entry. */
interface FileReader {
  /** Reads what a file gained; all of it where it is another file now, or where `folded` transcripts are wanted. */
  read(entry: Entry, folded: boolean): Promise<void>;
  /** Lists what the beginning of a file says that was never read, until it is. */
  glance(entry: Entry): Promise<void>;
  /** The reading of a huge file's rows that is under way; its transcripts do not wait for it. */
  indexing(entry: Entry): Promise<void> | undefined;
  /** Reads a session whose file is gone. */
  readArchive(entry: Entry): Promise<void>;
  /** The file is gone: what its reader still holds back is read. */
  end(entry: Entry): void;
  /** Tells what was pushed into a draft. */
  tell(draft: Draft): void;
  isShown(draft: Draft): boolean;
  /** The turn is over though nothing says so: calls that it left open end too, in the transcript that is open. */
  settleView(state: State): void;
  /** Puts away transcripts that nobody looks at any more. */
  retireViews(): void;
  /** Puts away readers of files that do not grow any more. */
  coolReaders(): void;
}

interface FileReaderOptions {
  /** Absent: all is read on this thread, and no file is too large. */
  indexer?: Indexer;
  /** What stands above the first part of a huge file's last segment, which begins at the byte `from`. */
  introduce(id: string, segment: number, from: number, at: number): Frame[];
  timing: SessionsTiming;
  now: () => number;
  keeper: Keeper<Entry>;
  links: Links;
  list: SessionList;
  status: Status;
  announcer: Announcer;
  by_session: Map<string, State>;
  /** Of sessions that went while someone looked: what comes back under the id is shown in them. */
  waiting_views: Map<string, View>;
  /** Which file a session's id belongs to. */
  owners: Map<string, Entry>;
  /** Whether another source has a session of this id. */
  isElsewhere(id: string): boolean;
  isClosed(): boolean;
  run<Value>(entry: Entry, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  setHot(path: string, hot: boolean): void;
  newFileId(): number;
  /** Files that wait to be read. */
  waiting(): number;
  /** It was read, and not all of it is in the archive. */
  lags(entry: Entry): void;
  /** It was read to its end. */
  wasRead(entry: Entry): void;
  /** Another file stands at the path of this one, of which the archive is left. */
  leftBehind(ghost: Entry): void;
  /** Of what the file held under this number, no session is left. */
  superseded(file_id: number, by: Entry): void;
  /** There is no file any more. */
  leave(entry: Entry): void;
  drop(id: string): void;
  reopen(id: string): Promise<OpenSession | undefined>;
}

/** Sessions that stay folded though nobody looks at them, and bytes of text that they were read from; the latest one always may. */
const MOST_VIEWS = 12;
const MOST_BYTES_FOLDED = 64 * 1024 * 1024;
/** Readers kept for files that may grow on, and bytes of text that they have read: what they know of their sessions is about as much. */
const MOST_READERS = 48;
const MOST_BYTES_READ = 16 * 1024 * 1024;
/** A file read for the first time that was written to so recently is taken for one that grows, in milliseconds. */
const FRESH = 60_000;
/** What grew while nobody looked is read from so many bytes before it on; from four times as many where no step is in them. */
const LOOK_BACK = 256 * 1024;
const ARCHIVE_BLOCK = 256 * 1024;
/** Bytes at a file's beginning that name its sessions. */
const GLANCE = 64 * 1024;
/** Of a longer file no more is read than what names them, by so many bytes at a time. */
const GLANCE_PIECE = 8 * 1024;

export function createFileReader(options: FileReaderOptions): FileReader {
  const { timing, now, keeper, links, list, status, announcer, by_session, waiting_views, owners, run } =
    options;
  /** Files with a reader, the one used longest ago first. */
  const kept = new Set<Entry>();
  /** Transcripts in which nothing is open, by view. */
  const unsettled = new WeakMap<View, object>();

  const sessions = createFileSessions({
    by_session,
    waiting_views,
    owners,
    isElsewhere: options.isElsewhere,
    keeper,
    links,
    list,
    leftBehind: options.leftBehind,
    superseded: options.superseded,
  });
  const { idFor, stateFor } = sessions;
  const { indexer } = options;
  const cold =
    indexer &&
    createColdReader({
      indexer,
      timing,
      now,
      keeper,
      list,
      sessions,
      isClosed: options.isClosed,
      run,
      newFileId: options.newFileId,
      lags: options.lags,
      wasRead: options.wasRead,
      leave: options.leave,
      drop: options.drop,
      readAgain: (entry) => read(entry, false),
      async listed(entry) {
        if (!entry.reading) return showFound(entry);
        // What was read meanwhile for whoever looks was not counted; now it can be.
        delete entry.reading;
        if (!entry.gone) await read(entry, isViewed(entry));
      },
    });

  const isViewed = (entry: Entry) => [...entry.sessions].some((id) => by_session.get(id)?.view);
  const isShown = (draft: Draft) => by_session.get(draft.id)?.view?.fold === draft.fold;

  const readingOf = (entry: Entry, folding: boolean, window?: ReadingWindow) =>
    createReading({
      ...(window && { window }),
      path: entry.path,
      format: entry.format,
      folding,
      idFor: (id) => idFor(entry, id),
      isShown,
    });

  async function read(entry: Entry, folded: boolean): Promise<void> {
    if (!folded || !cold) return await readNow(entry, folded);
    await cold.first(() => readNow(entry, true));
  }

  async function readNow(entry: Entry, folded: boolean, look_back = LOOK_BACK): Promise<void> {
    const folding = folded || isViewed(entry);
    const current = entry.reading;
    const huge = cold !== undefined && isHuge(entry.path, entry.seen?.size ?? entry.identity?.size ?? 0);
    const onward =
      !folded &&
      current !== undefined &&
      !current.ended &&
      !isCompressed(entry.path) &&
      (!folding || current.folding) &&
      // What counts nothing was of a file whose rows another thread reads.
      (huge || current.window?.count_from !== Number.POSITIVE_INFINITY);
    if (huge && !entry.identity) {
      cold.begin(entry);
      if (!folding) return;
    } else if (cold && !huge && !folding && !current && !entry.identity) {
      if (isQuiet(entry) || isLong(entry) || isOneOfMany()) return await cold.read(entry);
    }
    const { seen } = entry;
    const seen_side = seen?.side_stamp;
    const known_before = entry.done;
    const work = { reading: current, anew: false, replaced: false, file_id: entry.id };
    const known = current?.identity ?? entry.identity ?? entry.begun;
    const tail = huge && !onward ? await tailStart(entry) : undefined;
    const from = tail?.from ?? (huge || onward || folding ? undefined : await growthStart(entry, look_back));
    const result = await followFile({
      path: entry.path,
      ...(known && { known }),
      ...(from !== undefined && { from }),
      onward,
      begin(replaced) {
        work.anew = true;
        work.reading = readingOf(
          entry,
          folding,
          from === undefined
            ? undefined
            : {
                from,
                count_from: replaced
                  ? Number.POSITIVE_INFINITY
                  : (entry.identity?.size ?? Number.POSITIVE_INFINITY),
                was_over: huge && entry.identity !== undefined && isOver(entry.identity),
                rowOf: (id) => by_session.get(id),
                introduce: (id, at) => (tail ? options.introduce(id, tail.segment, from, at) : []),
              },
        );
        work.replaced = replaced;
        if (replaced) work.file_id = options.newFileId();
      },
      async bytes(chunk, offset) {
        if (!entry.sample && !(await keeper.append(work.file_id, offset, chunk))) options.lags(entry);
        await work.reading?.decoder.write(chunk);
        if (work.reading) {
          if (!work.anew) commit(entry, work.reading, false);
          else if (!entry.done && !work.reading.window) sessions.preview(entry, work.reading.drafts.values());
        }
        entry.progress = offset + chunk.length;
      },
      stop: () => options.isClosed() || (entry.interrupt && !folded && !work.replaced),
    });
    if (result.type === "gone") {
      // A file that was seen since stands there again, and will not be told of another time.
      if (entry.seen !== seen) return await readNow(entry, folded);
      if (!entry.gone) options.leave(entry);
      return;
    }
    const { reading } = work;
    if (result.stopped && work.anew && !entry.identity) {
      entry.id = work.file_id;
      entry.begun = result.identity;
    }
    if (!reading || (result.stopped && work.anew)) return;
    if (reading.window?.count_from === Number.POSITIVE_INFINITY) {
      if (work.replaced) forget(entry, reading, work.file_id);
      reading.identity = result.identity;
      commit(entry, reading, work.anew);
      return keep(entry, reading, timing.idle);
    }
    if (result.stopped) {
      entry.identity = result.identity;
      return;
    }
    // Its reader would take what goes on for a turn of its own, and end no step that is open.
    if (work.anew && reading.window && !huge && !reading.knows_step)
      return await readNow(entry, folded, look_back * 4);
    if (isCompressed(entry.path)) {
      await reading.decoder.end();
      reading.ended = true;
    }
    if (work.anew || entry.side_stamp !== seen_side) await readSide(entry, reading);
    settle(entry, reading, result.identity.modified_at);
    if (work.replaced) sessions.supersede(entry, reading.drafts, work.file_id);
    entry.identity = result.identity;
    delete reading.identity;
    delete entry.begun;
    entry.done = true;
    options.wasRead(entry);
    keeper.entryChanged(entry);
    commit(entry, reading, work.anew);
    keep(entry, reading, work.anew && !known_before ? FRESH : timing.idle);
    if (!reading.folding) showFound(entry);
    // It was written to while it was read: the last look may be older than what was read, or newer.
    if (isStale(entry) && entry.seen && entry.seen.modified_at > result.identity.modified_at) {
      void run(entry, () => (isStale(entry) ? read(entry, false) : undefined));
    }
  }

  async function glance(entry: Entry): Promise<void> {
    const isKnown = entry.done || entry.identity !== undefined || entry.begun !== undefined;
    if (isKnown || entry.sessions.size > 0 || entry.gone || isCompressed(entry.path)) return;
    const beginning = await readBeginning(entry.path, GLANCE);
    if (beginning === undefined) return;
    const reading = readingOf(entry, false);
    const isWhole = beginning.length < GLANCE;
    const isNamed = () =>
      [...reading.drafts.values()].some(({ summary }) => summary.first_prompt !== undefined);
    for (let at = 0; at < beginning.length && (isWhole || !isNamed()); at += GLANCE_PIECE)
      await reading.decoder.write(beginning.subarray(at, at + GLANCE_PIECE));
    const rows = [...reading.drafts.values()].map(({ id, summary, open_calls }) => {
      const row = fieldsOf(summary);
      if (isWhole) return { id, summary: row, open_calls };
      row.last_activity_at = Math.max(row.last_activity_at, modifiedAt(entry));
      // How its last turn ended stands further down, and a fresh file may be an old one that was copied: until it is read
      // only the agents' registers can say that it runs.
      if (row.status === "running") row.status = "completed";
      return { id, summary: row, open_calls: [] };
    });
    sessions.preview(entry, rows);
    sessions.setFacts(entry, reading.facts());
  }

  /** Nobody has written to it for a while: its reader need not be kept. */
  const isQuiet = (entry: Entry) => now() - modifiedAt(entry) > Math.min(FRESH, timing.idle);

  /** Only its end is read again when it grows: its reader, which holds as much as it has read, need not be kept. */
  const isLong = ({ seen }: Entry) => seen !== undefined && seen.size >= 2 * LOOK_BACK;

  /** More wait than readers are kept: its own would be put away before it is needed. */
  const isOneOfMany = () => options.waiting() > MOST_READERS;

  /** Nobody wrote to it for so long that what follows from its end may have been counted. */
  const isOver = (identity: FileIdentity) => now() - identity.modified_at > timing.close;

  /** Where to begin to read what a file gained since it was read; `undefined`: at its beginning. */
  async function growthStart(entry: Entry, look_back: number): Promise<number | undefined> {
    const { identity } = entry;
    if (!identity || identity.size < 2 * look_back || isCompressed(entry.path)) return undefined;
    // What follows from the end of a file that is over was counted with it, and now the file goes on.
    if (isOver(identity)) return undefined;
    const opened = await openRegular(entry.path);
    if (!opened) return undefined;
    try {
      if (!(await isSame(opened, identity))) return undefined;
      const read: ReadBytes = (at, length, buffer) => readAt(opened.handle, at, length, buffer);
      const start = await lineStart(read, identity.size, identity.size - look_back);
      return start < identity.size ? start : undefined;
    } finally {
      await opened.handle.close();
    }
  }

  /** The last segment of a huge file, and where it begins; `undefined`: there is no such file any more. */
  async function tailStart(entry: Entry): Promise<{ segment: number; from: number } | undefined> {
    const content = await openContent(entry, keeper);
    if (!content) return undefined;
    try {
      const segment = lastSegment(content.size);
      return { segment, from: await segmentStart(content.read, content.size, segment) };
    } finally {
      await content.close();
    }
  }

  /** A huge file was replaced by another: its rows are read anew. */
  function forget(entry: Entry, reading: Reading, file_id: number) {
    sessions.supersede(entry, reading.drafts, file_id);
    delete entry.identity;
    entry.done = false;
    cold?.begin(entry);
  }

  /** A session that someone looks at was found in another file than before: a copy took the place of one that went. */
  function showFound(entry: Entry) {
    if (!isViewed(entry)) return;
    void run(entry, () =>
      isViewed(entry) && !entry.gone && !entry.reading?.folding ? read(entry, true) : undefined,
    );
  }

  async function readSide(entry: Entry, reading: Reading) {
    await loadSide(entry);
    if (entry.side_text !== undefined) reading.take(reading.reader.readSide(entry.side_text));
  }

  /** Reads a last line without a newline once nobody writes any more. */
  function settle(entry: Entry, reading: Reading, modified_at: number) {
    clearTimeout(entry.settle_timer);
    if (reading.ended) {
      reading.close();
      return;
    }
    const quiet = now() - modified_at;
    if (quiet > timing.close) {
      const states = [...entry.sessions].flatMap((id) => by_session.get(id) ?? []);
      reading.close(states.some(status.wasStopped));
      reading.ended = true;
    } else if (quiet > timing.settle) {
      reading.take(reading.reader.settle());
    } else {
      entry.settle_timer = setTimeout(() => {
        void run(entry, () => {
          if (options.isClosed() || entry.reading !== reading || reading.ended) return;
          reading.take(reading.reader.settle());
          commit(entry, reading, false);
        });
      }, timing.settle);
    }
  }

  /** Keeps the reader of a file that grows or is looked at; any other is made again when it is needed. */
  function keep(entry: Entry, reading: Reading, idle: number) {
    const warm = reading.folding || (!reading.ended && now() - modifiedAt(entry) < idle);
    if (!warm) return cool(entry);
    entry.reading = reading;
    options.setHot(entry.path, !entry.gone);
    kept.delete(entry);
    kept.add(entry);
    if (kept.size > MOST_READERS || bytesRead() > MOST_BYTES_READ) coolReaders();
  }

  function cool(entry: Entry) {
    clearTimeout(entry.settle_timer);
    delete entry.reading;
    kept.delete(entry);
    options.setHot(entry.path, false);
    for (const id of entry.sessions) {
      const state = by_session.get(id);
      if (state) delete state.draft;
    }
  }

  /** What was read becomes what is shown. `anew`: it takes the place of what an earlier reading said. */
  function commit(entry: Entry, reading: Reading, anew: boolean) {
    const counted = reading.window?.count_from !== Number.POSITIVE_INFINITY;
    if (anew && reading.folding && reading.window) {
      // Those of which nothing stands in the last piece, too, which leads to where it stands.
      for (const id of entry.sessions)
        reading.introduce(id, by_session.get(id)?.summary.last_activity_at ?? 0);
    }
    for (const draft of reading.drafts.values()) {
      const state = stateFor(entry, draft.id);
      if (counted) {
        state.summary = fieldsOf(draft.summary);
        state.open_calls = draft.open_calls;
        keeper.sessionChanged(draft.id);
      }
      state.draft = draft;
      list.mark(draft.id);
      // A session may go on in a file that stood empty a while: whoever looks at what went sees what came.
      const elsewhere = state.view !== undefined && state.view.fold !== draft.fold;
      if (draft.fold && (anew || elsewhere)) showAnew(state, draft, draft.fold);
    }
    if (anew && !reading.window) {
      for (const id of [...entry.sessions]) if (!reading.drafts.has(id)) options.drop(id);
    }
    if (counted) sessions.setFacts(entry, reading.facts(), reading.window !== undefined);
    for (const draft of reading.drafts.values()) tell(draft);
    // Whoever looks at a session that began anew sees its row change in the same moment.
    if (!anew || !isViewed(entry)) return;
    list.publish();
    // It is weighed with the others.
    entry.reading = reading;
    retireUnwatched(entry);
  }

  function tell(draft: Draft) {
    if (draft.fresh.length === 0) return;
    const frames = draft.fresh;
    draft.fresh = [];
    by_session.get(draft.id)?.view?.tell(frames);
  }

  function showAnew(state: State, draft: Draft, fresh: Fold) {
    for (const frame of announcer.introductions(state)) fresh.push(frame);
    const settled = status.isRunning(state)
      ? undefined
      : fresh.settled(state.summary.last_activity_at, status.wasStopped(state));
    draft.fold = settled ?? fresh;
    draft.fold.hold();
    if (state.view) {
      state.view.replace(draft.fold);
    } else {
      state.view = createView({
        id: state.id,
        fold: draft.fold,
        now,
        summary: () => status.present(by_session.get(state.id) ?? state),
        reopen: () => options.reopen(state.id),
      });
    }
  }

  async function readArchive(entry: Entry): Promise<void> {
    const content = await openContent(entry, keeper);
    if (!content) return;
    const isPiece = isHuge(entry.path, content.size);
    const segment = lastSegment(content.size);
    const from = isPiece ? await segmentStart(content.read, content.size, segment) : 0;
    const reading = readingOf(
      entry,
      true,
      isPiece
        ? {
            from,
            count_from: Number.POSITIVE_INFINITY,
            was_over: false,
            rowOf: (id) => by_session.get(id),
            introduce: (id, at) => options.introduce(id, segment, from, at),
          }
        : undefined,
    );
    for (let at = from; at < content.size && !options.isClosed(); ) {
      const bytes = await content.read(at, Math.min(ARCHIVE_BLOCK, content.size - at));
      if (bytes.length === 0) break;
      await reading.decoder.write(bytes);
      at += bytes.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await reading.decoder.end();
    if (entry.side_text !== undefined) reading.take(reading.reader.readSide(entry.side_text));
    reading.close();
    reading.ended = true;
    // What an archive cut short cannot tell stays as the list has it.
    if (!isPiece) for (const id of entry.sessions) if (!reading.drafts.has(id)) return;
    commit(entry, reading, true);
    keep(entry, reading, 0);
  }

  function settleView(state: State) {
    const { view, draft } = state;
    if (!view || !draft?.fold || draft.fold !== view.fold || unsettled.get(view) === view.fold.transcript)
      return;
    const settled = view.fold.settled(state.summary.last_activity_at, status.wasStopped(state));
    if (settled) {
      draft.fold = settled;
      view.replace(settled);
    }
    unsettled.set(view, view.fold.transcript);
  }

  function retireViews() {
    for (const [id, view] of waiting_views) {
      if (view.watched) continue;
      view.retire();
      waiting_views.delete(id);
    }
    retireUnwatched();
  }

  /** `latest`: its sessions were made just now, and who asked for one of them has not got it yet. */
  function retireUnwatched(latest?: Entry) {
    const unwatched = [...by_session.values()]
      .filter(({ view }) => view && !view.watched)
      .sort((one, other) => (other.view?.used_at ?? 0) - (one.view?.used_at ?? 0));
    const weighed = new Set<Entry>();
    let bytes = 0;
    for (const [place, state] of unwatched.entries()) {
      const { entry } = state;
      const idle = now() - (state.view?.used_at ?? 0);
      if (!weighed.has(entry)) bytes += weightOf(entry);
      weighed.add(entry);
      // A moment to come back, or to subscribe at all, whatever else is open that is not too large.
      const isKept = idle < timing.tick * 10 || (place < MOST_VIEWS && idle < timing.idle);
      if (entry === latest || (isKept && (place === 0 || bytes <= MOST_BYTES_FOLDED))) continue;
      state.view?.retire();
      delete state.view;
      if (state.draft) delete state.draft.fold;
      if (entry.reading && !isViewed(entry)) entry.reading.folding = false;
    }
  }

  /** By the readers that are kept though nobody looks at what they read. */
  function bytesRead(): number {
    let bytes = 0;
    for (const entry of kept) if (!isViewed(entry)) bytes += weightOf(entry);
    return bytes;
  }

  function coolReaders() {
    let excess = kept.size - MOST_READERS;
    let bytes = bytesRead();
    for (const entry of kept) {
      if (isViewed(entry)) continue;
      const over = excess > 0 || bytes > MOST_BYTES_READ;
      if (!over && !entry.reading?.ended && now() - modifiedAt(entry) < timing.idle) continue;
      excess -= 1;
      bytes -= weightOf(entry);
      void run(entry, () => {
        if (!isViewed(entry)) cool(entry);
      });
    }
  }

  return {
    read,
    glance,
    indexing: (entry) => cold?.underWay(entry),
    readArchive,
    end(entry) {
      const { reading } = entry;
      if (!reading || reading.ended) return;
      reading.close();
      reading.ended = true;
      commit(entry, reading, false);
    },
    tell,
    isShown,
    settleView,
    retireViews,
    coolReaders,
  };
}

/** The bytes of text that its reader has read. */
const weightOf = ({ reading }: Entry): number => reading?.decoded ?? 0;
