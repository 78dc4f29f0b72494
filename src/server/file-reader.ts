import type { SessionSummary } from "../model/session.ts";
import { emptySummary } from "../model/summarize.ts";
import { uuidFrom } from "../model/uuid.ts";
import type { Announcer } from "./announce.ts";
import { type Entry, isStale, modifiedAt, newEntry, type State, storedFile } from "./entry.ts";
import type { Fold } from "./fold.ts";
import { followFile, isCompressed, openRegular, readAt } from "./follow.ts";
import type { Keeper } from "./keeper.ts";
import type { Links } from "./links.ts";
import type { SessionList } from "./list.ts";
import { createReading, type Draft, type Reading } from "./reading.ts";
import type { OpenSession } from "./sessions.ts";
import type { Status } from "./status.ts";
import type { SessionsTiming } from "./timing.ts";
import { createView, type View } from "./view.ts";

/** Reads files, and makes what was read into sessions that are listed and shown. All of it within `run` of the entry. */
export interface FileReader {
  /** Reads what a file gained; all of it where it is another file now, or where `folded` transcripts are wanted. */
  read(entry: Entry, folded: boolean): Promise<void>;
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

export interface FileReaderOptions {
  timing: SessionsTiming;
  now: () => number;
  keeper: Keeper<Entry>;
  links: Links;
  list: SessionList;
  status: Status;
  announcer: Announcer;
  by_session: Map<string, State>;
  /** Which file a session's id belongs to. */
  owners: Map<string, Entry>;
  isClosed(): boolean;
  run<Value>(entry: Entry, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  setHot(path: string, hot: boolean): void;
  newFileId(): number;
  /** Some of its bytes were not archived. */
  lags(entry: Entry): void;
  /** It was read to its end. */
  wasRead(entry: Entry): void;
  /** Another file stands at the path of this one, of which the archive is left. */
  leftBehind(ghost: Entry): void;
  /** There is no file any more. */
  leave(entry: Entry): void;
  drop(id: string): void;
  reopen(id: string): Promise<OpenSession | undefined>;
}

/** Sessions that stay folded though nobody looks at them. */
const MOST_VIEWS = 12;
/** Readers kept for files that may grow on: each holds what it knows of its session, up to a megabyte or so. */
const MOST_READERS = 48;
/** A file read for the first time that was written to so recently is taken for one that grows, in milliseconds. */
const FRESH = 60_000;
const ARCHIVE_BLOCK = 256 * 1024;
const SIDE_LIMIT = 64 * 1024;

export function createFileReader(options: FileReaderOptions): FileReader {
  const { timing, now, keeper, links, list, status, announcer, by_session, owners, run } = options;
  /** Files with a reader, the one used longest ago first. */
  const kept = new Set<Entry>();
  /** Transcripts in which nothing is open, by view. */
  const unsettled = new WeakMap<View, object>();

  const isViewed = (entry: Entry) => [...entry.sessions].some((id) => by_session.get(id)?.view);
  const isShown = (draft: Draft) => by_session.get(draft.id)?.view?.fold === draft.fold;

  const readingOf = (entry: Entry, folding: boolean) =>
    createReading({
      path: entry.path,
      format: entry.format,
      folding,
      idFor: (id) => idFor(entry, id),
      isShown,
    });

  /** A session's own id, or, where another file that is there holds a session of that id, one made from the path too. */
  function idFor(entry: Entry, id: string): string {
    const owner = owners.get(id);
    if (owner === entry) return id;
    const own = uuidFrom(id, entry.path);
    if (owner && (!owner.gone || entry.sessions.has(own))) {
      owners.set(own, entry);
      return own;
    }
    owners.set(id, entry);
    return id;
  }

  async function read(entry: Entry, folded: boolean): Promise<void> {
    const folding = folded || isViewed(entry);
    const current = entry.reading;
    const seen_side = entry.seen?.side_stamp;
    const known_before = entry.done;
    const work = { reading: current, anew: false, replaced: false, file_id: entry.id };
    const known = entry.identity ?? entry.begun;
    const result = await followFile({
      path: entry.path,
      ...(known && { known }),
      onward:
        !folded &&
        current !== undefined &&
        !current.ended &&
        !isCompressed(entry.path) &&
        (!folding || current.folding),
      begin(replaced) {
        work.anew = true;
        work.reading = readingOf(entry, folding);
        work.replaced = replaced;
        if (replaced) work.file_id = options.newFileId();
      },
      async bytes(chunk, offset) {
        if (!entry.sample && !(await keeper.append(work.file_id, offset, chunk))) options.lags(entry);
        await work.reading?.decoder.write(chunk);
        if (work.reading) {
          if (!work.anew) commit(entry, work.reading, false);
          else if (!entry.done) preview(entry, work.reading);
        }
        entry.progress = offset + chunk.length;
      },
      stop: () => options.isClosed() || (entry.interrupt && !folded && !work.replaced),
    });
    if (result.type === "gone") {
      if (!entry.gone) options.leave(entry);
      return;
    }
    const { reading } = work;
    if (result.stopped && work.anew && !entry.identity) {
      entry.id = work.file_id;
      entry.begun = result.identity;
    }
    if (!reading || (result.stopped && work.anew)) return;
    if (result.stopped) {
      entry.identity = result.identity;
      return;
    }
    if (isCompressed(entry.path)) {
      await reading.decoder.end();
      reading.ended = true;
    }
    if (work.anew || entry.side_stamp !== seen_side) await readSide(entry, reading);
    settle(entry, reading, result.identity.modified_at);
    if (work.replaced) supersede(entry, reading, work.file_id);
    entry.identity = result.identity;
    delete entry.begun;
    entry.done = true;
    options.wasRead(entry);
    keeper.entryChanged(entry);
    commit(entry, reading, work.anew);
    keep(entry, reading, work.anew && !known_before ? FRESH : timing.idle);
    // A session that someone looks at was found in another file than before (a copy took the place of one that went).
    if (!reading.folding && isViewed(entry)) {
      void run(entry, () => (isViewed(entry) && !entry.gone ? read(entry, true) : undefined));
    }
    // It was written to while it was read: the last look may be older than what was read, or newer.
    if (isStale(entry) && entry.seen && entry.seen.modified_at > result.identity.modified_at) {
      void run(entry, () => (isStale(entry) ? read(entry, false) : undefined));
    }
  }

  async function readSide(entry: Entry, reading: Reading) {
    if (entry.side === undefined) return;
    const opened = await openRegular(entry.side);
    if (!opened) return;
    try {
      const stamp = entry.seen?.side_stamp;
      entry.side_text = new TextDecoder().decode(await readAt(opened.handle, 0, SIDE_LIMIT));
      if (stamp === undefined) delete entry.side_stamp;
      else entry.side_stamp = stamp;
    } finally {
      await opened.handle.close();
    }
    reading.take(reading.reader.readSide(entry.side_text));
  }

  /** Reads a last line without a newline once nobody writes any more. */
  function settle(entry: Entry, reading: Reading, modified_at: number) {
    clearTimeout(entry.settle_timer);
    if (reading.ended) {
      reading.take(reading.reader.close());
      return;
    }
    const quiet = now() - modified_at;
    if (quiet > timing.close) {
      reading.take(reading.reader.close());
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

  /** The file holds something else now. What it held stays in the archive, and on the list where the new content is of other sessions. */
  function supersede(entry: Entry, reading: Reading, file_id: number) {
    const row = storedFile(entry);
    const kept = keeper.archivedTo(entry.id) > 0;
    const orphans = [...entry.sessions].filter((id) => !reading.drafts.has(id));
    if (row && kept) keeper.superseded({ ...row, gone: true });
    if (row && kept && orphans.length > 0) {
      const ghost: Entry = {
        ...newEntry(entry.id, entry.path, entry.format, entry.kind),
        ...(entry.identity && { identity: entry.identity }),
        ...(entry.side !== undefined && { side: entry.side }),
        ...(entry.side_text !== undefined && { side_text: entry.side_text }),
        gone: true,
        done: true,
        sessions: new Set(orphans),
      };
      options.leftBehind(ghost);
      for (const id of orphans) {
        const state = by_session.get(id);
        if (state) state.entry = ghost;
        owners.set(id, ghost);
        entry.sessions.delete(id);
        list.mark(id);
      }
    }
    entry.id = file_id;
  }

  /** Keeps the reader of a file that grows or is looked at; any other is made again when it is needed. */
  function keep(entry: Entry, reading: Reading, idle: number) {
    const warm = reading.folding || (!reading.ended && now() - modifiedAt(entry) < idle);
    if (!warm) return cool(entry);
    entry.reading = reading;
    options.setHot(entry.path, !entry.gone);
    kept.delete(entry);
    kept.add(entry);
    if (kept.size > MOST_READERS) coolReaders();
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

  /** Shows what is known so far of a file that is read for the first time. */
  function preview(entry: Entry, reading: Reading) {
    for (const draft of reading.drafts.values()) {
      const state = stateFor(entry, draft.id);
      state.summary = plain(draft.summary);
      state.open_calls = draft.open_calls;
      list.mark(draft.id);
    }
  }

  function stateFor(entry: Entry, id: string): State {
    let state = by_session.get(id);
    if (!state) {
      state = { id, entry, summary: emptySummary(id, entry.format.id, 0), open_calls: [] };
      by_session.set(id, state);
    } else if (state.entry !== entry) {
      state.entry.sessions.delete(id);
      state.entry = entry;
    }
    entry.sessions.add(id);
    return state;
  }

  /** What was read becomes what is shown. `anew`: it takes the place of what an earlier reading said. */
  function commit(entry: Entry, reading: Reading, anew: boolean) {
    for (const draft of reading.drafts.values()) {
      const state = stateFor(entry, draft.id);
      state.summary = plain(draft.summary);
      state.open_calls = draft.open_calls;
      state.draft = draft;
      keeper.sessionChanged(draft.id);
      list.mark(draft.id);
      if (anew && draft.fold) showAnew(state, draft, draft.fold);
    }
    if (anew) {
      for (const id of [...entry.sessions]) if (!reading.drafts.has(id)) options.drop(id);
    }
    for (const facts of reading.reader.linkFacts().sessions) {
      const id = idFor(entry, facts.session_id);
      const state = by_session.get(id);
      // A copy's runs are not told from the original's: it is a group of its own.
      const group = id === facts.session_id ? facts.group : uuidFrom(facts.group, entry.path);
      if (state?.entry === entry && links.setFacts({ ...facts, session_id: id, group })) list.schedule();
    }
    for (const draft of reading.drafts.values()) tell(draft);
    // Whoever looks at a session that began anew sees its row change in the same moment.
    if (anew && isViewed(entry)) list.publish();
  }

  function tell(draft: Draft) {
    if (draft.fresh.length === 0) return;
    const frames = draft.fresh;
    draft.fresh = [];
    by_session.get(draft.id)?.view?.tell(frames);
  }

  function showAnew(state: State, draft: Draft, fresh: Fold) {
    for (const frame of announcer.introductions(state)) fresh.push(frame);
    const settled = status.isRunning(state) ? undefined : fresh.settled(state.summary.last_activity_at);
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
    // Some of it may still be on its way to the disk.
    await keeper.persist();
    const reading = readingOf(entry, true);
    const end = keeper.archivedTo(entry.id);
    for (let at = 0; at < end && !options.isClosed(); ) {
      const bytes = keeper.read(entry.id, at, at + ARCHIVE_BLOCK);
      if (bytes.length === 0) break;
      await reading.decoder.write(bytes);
      at += bytes.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await reading.decoder.end();
    if (entry.side_text !== undefined) reading.take(reading.reader.readSide(entry.side_text));
    reading.take(reading.reader.close());
    reading.ended = true;
    // What an archive cut short cannot tell stays as the list has it.
    for (const id of entry.sessions) if (!reading.drafts.has(id)) return;
    commit(entry, reading, true);
    keep(entry, reading, 0);
  }

  function settleView(state: State) {
    const { view, draft } = state;
    if (!view || !draft?.fold || draft.fold !== view.fold || unsettled.get(view) === view.fold.transcript)
      return;
    const settled = view.fold.settled(state.summary.last_activity_at);
    if (settled) {
      draft.fold = settled;
      view.replace(settled);
    }
    unsettled.set(view, view.fold.transcript);
  }

  function retireViews() {
    const unwatched = [...by_session.values()]
      .filter(({ view }) => view && !view.watched)
      .sort((one, other) => (other.view?.used_at ?? 0) - (one.view?.used_at ?? 0));
    for (const [place, state] of unwatched.entries()) {
      const idle = now() - (state.view?.used_at ?? 0);
      // A moment to come back, or to subscribe at all, whatever else is open.
      if (idle < timing.tick * 10 || (place < MOST_VIEWS && idle < timing.idle)) continue;
      state.view?.retire();
      delete state.view;
      if (state.draft) delete state.draft.fold;
      if (state.entry.reading) state.entry.reading.folding = false;
    }
  }

  function coolReaders() {
    let excess = kept.size - MOST_READERS;
    for (const entry of kept) {
      if (isViewed(entry)) continue;
      if (excess <= 0 && !entry.reading?.ended && now() - modifiedAt(entry) < timing.idle) continue;
      excess -= 1;
      void run(entry, () => {
        if (!isViewed(entry)) cool(entry);
      });
    }
  }

  return {
    read,
    readArchive,
    end(entry) {
      const { reading } = entry;
      if (!reading || reading.ended) return;
      reading.take(reading.reader.close());
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

/** What an earlier fold keeps beside the row's fields is neither shown nor stored. */
function plain(summary: SessionSummary): SessionSummary {
  return structuredClone(summary);
}
