import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Format } from "../formats/format.ts";
import { positionOf } from "../model/accumulate.ts";
import { keptOutputOf } from "../model/kept-output.ts";
import { createAnnouncer } from "./announce.ts";
import { createBacklog } from "./backlog.ts";
import { createCatchUp } from "./catch-up.ts";
import { type Entry, isStale, modifiedAt, newEntry, type State, sizeOf, storedFile } from "./entry.ts";
import {
  type EvidenceFile,
  readAttachment,
  readOwn,
  readOwnPiece,
  readRecord,
  resultIn,
  resultsFolder,
} from "./evidence.ts";
import { openContent } from "./file-content.ts";
import { createFileReader } from "./file-reader.ts";
import { renamed } from "./file-sessions.ts";
import { isCompressed, openRegular } from "./follow.ts";
import type { Indexer } from "./indexer.ts";
import { createKeeper } from "./keeper.ts";
import { createLinks } from "./links.ts";
import { createList } from "./list.ts";
import { createSegments, marker } from "./segment-views.ts";
import { isHuge } from "./segments.ts";
import type { Sessions } from "./sessions.ts";
import { createStatus } from "./status.ts";
import type { Notice } from "./store/store.ts";
import { type SessionsTiming, TIMING } from "./timing.ts";
import type { View } from "./view.ts";
import { type FoundFile, NO_PERMISSION, type WatchRoot, watchSessions, whyUnread } from "./watch.ts";

export interface SessionsOptions {
  formats: readonly Format[];
  /** The agents' folders. */
  roots: readonly WatchRoot[];
  /** Files and folders beside them. */
  paths?: readonly string[];
  /** Where the store is. Absent: nothing is kept, and a session goes when its file does. */
  dataFolder?: string;
  /** See `DatabaseOptions`. */
  check_limit?: number;
  read_only?: boolean;
  timing?: Partial<SessionsTiming>;
  /** Whether another source has a session of this id: a file's session of that id is listed by another one. */
  isElsewhere?(id: string): boolean;
  /** Reads what nobody waits for on threads of its own, for sessions of the formats that ship. Closed with the sessions. */
  indexer?: Indexer;
  /** Whether to listen to the system's hints about changed files; looks at intervals find all changes either way. */
  hints?: boolean;
  now?: () => number;
}
/**
 * Readings in the background at a time, and bytes of short files that are read together: each takes a few words between two
 * threads, in which they would wait. One more file is always read at once when someone opens it.
 */
const AT_ONCE = 4;
const BYTES_AT_ONCE = 2 * 1024 * 1024;
/** Reading begins when all files were seen, or after so many milliseconds. */
const START_MS = 150;
/** Files of which the beginning is listed at once: more than a screen of them. */
const MOST_GLANCES = 60;
/** Rows that a page shows at first. */
const SCREENFUL = 30;
const MOST_NOTICES = 20;
/** A file that cannot be read is tried again after one tick, then half as often each time, down to once in so many. */
const LONGEST_PAUSE = 60;

/** Finds, follows, lists, opens and archives the sessions of all agents on this machine. */
export function createSessions(options: SessionsOptions): Sessions {
  const timing = { ...TIMING, ...options.timing };
  const now = options.now ?? Date.now;
  const isElsewhere = options.isElsewhere ?? (() => false);
  const entries = new Map<string, Entry>();
  /** Files that are gone, by their number. */
  const past = new Map<number, Entry>();
  const by_inode = new Map<string, Entry>();
  /** Files that are shown in segments. */
  const huge = new Set<Entry>();
  const by_session = new Map<string, State>();
  /** Of sessions that went while someone looked: what comes back under the id is shown in them. */
  const waiting_views = new Map<string, View>();
  /** Which file a session's id belongs to. */
  const owners = new Map<string, Entry>();
  const links = createLinks();
  const troubles = new Map<string, Notice>();
  /** Files that could not be read, until they are: no look at the disk tells that the reason went. */
  const failed = new Map<Entry, { pause: number; again_at: number }>();
  const timers = new Set<NodeJS.Timeout>();
  let next_file_id = 1;
  let ready = false;
  let closed = false;

  const keeper = createKeeper<Entry>({
    ...(options.dataFolder !== undefined && { dataFolder: options.dataFolder }),
    ...(options.check_limit !== undefined && { check_limit: options.check_limit }),
    ...(options.read_only !== undefined && { read_only: options.read_only }),
    now,
    retry: timing.retry,
    rowOf: storedFile,
    sessionRowOf(id) {
      const state = by_session.get(id);
      if (!state?.entry.identity || state.entry.sample) return undefined;
      const facts = links.facts(id);
      return {
        id,
        file_id: state.entry.id,
        summary: state.summary,
        open_calls: state.open_calls,
        ...(facts && { facts }),
      };
    },
    onLoss() {
      for (const entry of entries.values()) if (entry.identity) catch_up.add(entry);
    },
  });
  const catch_up = createCatchUp({ keeper, isClosed: () => closed, run });
  const status = createStatus({ roots: options.roots, by_session, links, now, silence: timing.silence });
  const list = createList({
    delay: timing.publish,
    prepare: () => announcer.linkAgain(),
    parentOf: (id) => links.of(id)?.parent ?? rewoundFrom(by_session.get(id)),
    rowOf(id) {
      const state = by_session.get(id);
      // A file with nothing but bookkeeping is no conversation.
      if (!state || state.summary.parts === 0) return undefined;
      announcer.announce(state);
      const row = status.present(state);
      if (row.status !== "running") reader.settleView(state);
      return { row, lively: row.status === "running" || state.summary.status === "running" };
    },
  });
  const announcer = createAnnouncer({
    by_session,
    links,
    now,
    mark: list.mark,
    isShown: (draft) => reader.isShown(draft),
    tell: (draft) => reader.tell(draft),
  });
  const { indexer } = options;
  const reader = createFileReader({
    ...(indexer && { indexer }),
    introduce: (id, segment, from, at) =>
      segment === 0 ? [] : [marker("before", id, id, segment - 1, from, at)],
    timing,
    now,
    keeper,
    links,
    list,
    status,
    announcer,
    by_session,
    waiting_views,
    owners,
    isElsewhere,
    isClosed: () => closed,
    run,
    setHot: (path, hot) => watch.setHot(path, hot),
    newFileId: () => next_file_id++,
    waiting: () => backlog.waiting,
    lags: (entry) => catch_up.add(entry),
    wasRead(entry) {
      recovered(entry);
      if (entry.identity) by_inode.set(entry.identity.inode, entry);
      noteSize(entry);
    },
    leftBehind: (ghost) => past.set(ghost.id, ghost),
    superseded: (file_id, by) => catch_up.superseded(file_id, by),
    leave,
    drop,
    reopen: open,
  });
  const backlog = createBacklog<Entry>({
    at_once: AT_ONCE,
    bytes_at_once: BYTES_AT_ONCE,
    modifiedAt,
    sizeOf,
    async read(entry) {
      await run(entry, () => (isStale(entry) ? reader.read(entry, false) : undefined));
      await reader.indexing(entry);
    },
  });
  const segments = createSegments({
    stateOf: (id) => by_session.get(id),
    huge,
    sizeOf: shownSize,
    contentOf: (entry) => openContent(entry, keeper),
    present: status.present,
  });

  function loadStore() {
    const stored = keeper.load();
    const by_id = new Map<number, Entry>();
    for (const row of stored.files) {
      next_file_id = Math.max(next_file_id, row.id + 1);
      const format = options.formats.find(({ id }) => id === row.format);
      if (!format) continue;
      const { id, path, kind, side, side_stamp, side_text, gone, format: _, ...identity } = row;
      by_id.set(id, {
        ...newEntry(id, path, format, kind),
        ...(side !== undefined && { side }),
        ...(side_stamp !== undefined && { side_stamp }),
        ...(side_text !== undefined && { side_text }),
        identity,
        gone,
        done: true,
      });
    }
    for (const kept of stored.sessions) {
      const entry = by_id.get(kept.file_id);
      if (!entry) continue;
      const row = isElsewhere(kept.id) ? renamed(kept, entry.path) : kept;
      if (row !== kept) {
        keeper.sessionRemoved(kept.id);
        keeper.sessionChanged(row.id);
      }
      entry.sessions.add(row.id);
      by_session.set(row.id, { id: row.id, entry, summary: row.summary, open_calls: row.open_calls });
      owners.set(row.id, entry);
      if (row.facts) links.setFacts(row.facts);
      list.mark(row.id);
    }
    // A row of replaced content has no sessions any more: it is only there for its archive.
    const isFormer = (entry: Entry) => entry.gone && entry.sessions.size === 0;
    for (const entry of by_id.values()) {
      if (isFormer(entry)) continue;
      if (entry.identity) by_inode.set(entry.identity.inode, entry);
      noteSize(entry);
      if (entry.gone) {
        past.set(entry.id, entry);
      } else {
        entries.set(entry.path, entry);
        catch_up.add(entry);
      }
    }
    const standing = new Map([...past.values(), ...entries.values()].map((entry) => [entry.path, entry]));
    for (const former of by_id.values()) {
      const by = isFormer(former) ? standing.get(former.path) : undefined;
      // What stood beside the file is in the row alone.
      const adds_text = former.side_text !== undefined && former.side_text !== by?.side_text;
      if (by && !adds_text) catch_up.superseded(former.id, by);
    }
  }

  // --- Files ------------------------------------------------------------------------------------------------------

  function run<Value>(entry: Entry, work: () => Value | Promise<Value>): Promise<Value | undefined> {
    const result = entry.queue.then(work).catch((error: unknown) => {
      const pause = Math.min(2 * (failed.get(entry)?.pause ?? timing.tick / 2), LONGEST_PAUSE * timing.tick);
      failed.set(entry, { pause, again_at: performance.now() + pause });
      trouble(entry.path, unreadNotice(entry.path, whyUnread(error)));
      return undefined;
    });
    entry.queue = result;
    return result;
  }

  function recovered(entry: Entry) {
    failed.delete(entry);
    troubles.delete(entry.path);
  }

  /** One after the other: they may have failed because too many were open at once. */
  async function readFailed() {
    for (const [entry, { again_at }] of failed) {
      if (closed) return;
      if (performance.now() < again_at) continue;
      await run(entry, async () => {
        if (entry.gone) failed.delete(entry);
        else if (isStale(entry)) await reader.read(entry, false);
        else await leaveUnlessThere(entry);
      });
    }
  }

  function trouble(path: string, notice: Notice) {
    if (troubles.size < MOST_NOTICES || troubles.has(path)) troubles.set(path, notice);
  }

  function found(files: readonly FoundFile[]) {
    for (const file of files) {
      // Both forms of a session: the plain one is the one that is written to.
      if (isCompressed(file.path) && watch.files.has(plainPath(file.path))) continue;
      const compressed = entries.get(`${file.path}.zst`);
      if (compressed) {
        void run(compressed, () => {
          if (!compressed.gone) leave(compressed);
        });
      }
      const known = entries.get(file.path);
      if (known) notice(known, file);
      else arrivingWhile(arrive(file));
    }
  }

  /** Files at new paths of which it is not known yet whether they were moved there. */
  const arriving = new Set<Promise<void>>();
  function arrivingWhile(arrival: Promise<void>) {
    arriving.add(arrival);
    void arrival.finally(() => arriving.delete(arrival));
  }

  const plainPath = (path: string) => path.slice(0, -".zst".length);

  /** A file at a path where none was known: a new one, or one that was moved. */
  async function arrive(file: FoundFile) {
    const other = by_inode.get(file.inode);
    if (other && other.format === file.format && basename(other.path) === basename(file.path)) {
      if (other.gone || !(await standsAt(other.path, file.inode))) {
        if (entries.get(other.path) === other) entries.delete(other.path);
        past.delete(other.id);
        troubles.delete(other.path);
        watch.setHot(other.path, false);
        other.path = file.path;
        other.gone = false;
        entries.set(file.path, other);
        // Nothing of it was kept when it went: it has to be read again.
        if (other.sessions.size === 0) delete other.identity;
        touch(other);
        notice(other, file);
        return;
      }
    }
    const already = entries.get(file.path);
    if (already) return notice(already, file);
    const entry = newEntry(next_file_id++, file.path, file.format, file.kind);
    entries.set(file.path, entry);
    notice(entry, file);
  }

  async function standsAt(path: string, inode: string): Promise<boolean> {
    try {
      const state = await lstat(path, { bigint: true });
      return `${state.dev}:${state.ino}` === inode;
    } catch {
      return false;
    }
  }

  function notice(entry: Entry, file: FoundFile) {
    if (entry.identity?.inode === file.inode && file.size > entry.identity.size) entry.grew = true;
    entry.seen = file;
    entry.sample = file.sample;
    if (file.side !== undefined) entry.side = file.side;
    const was_gone = entry.gone;
    entry.gone = false;
    noteSize(entry);
    if (was_gone) {
      past.delete(entry.id);
      touch(entry);
    }
    if (!isStale(entry)) {
      for (const id of entry.sessions) list.mark(id);
      return;
    }
    if (entry.reading && !entry.reading.ended) {
      void run(entry, () => (isStale(entry) ? reader.read(entry, false) : undefined));
    } else {
      backlog.add(entry);
    }
  }

  function lost(paths: readonly string[]) {
    const missing = paths
      .flatMap((path) => entries.get(path) ?? [])
      .map((entry) => ({ entry, path: entry.path }));
    for (const path of paths) {
      // The other form of the same session may have been waiting behind it.
      const compressed = watch.files.get(`${path}.zst`);
      if (compressed) found([compressed]);
    }
    if (missing.length > 0) void leaveUnlessMoved(missing);
  }

  async function leaveUnlessMoved(missing: readonly { entry: Entry; path: string }[]) {
    await watch.rescan();
    await Promise.all(arriving);
    for (const { entry, path } of missing) {
      void run(entry, async () => {
        if (closed || entry.gone || entry.path !== path) return;
        await leaveUnlessThere(entry);
      });
    }
  }

  async function leaveUnlessThere(entry: Entry) {
    if (!(await isThere(entry.path))) return leave(entry);
    recovered(entry);
    catch_up.add(entry);
    // It stands in a folder that an earlier daemon was given.
    if (!entry.seen) watch.follow(entry);
  }

  async function isThere(path: string): Promise<boolean> {
    const opened = await openRegular(path);
    await opened?.handle.close();
    return opened !== undefined;
  }

  /** Bytes that are there to be shown: those of the file, or of what the archive has of one that is gone. */
  function shownSize(entry: Entry): number {
    if (entry.gone) return keeper.archivedTo(entry.id);
    // What was read may name a piece that came since the last look.
    return Math.max(sizeOf(entry), (entry.reading?.identity ?? entry.identity)?.size ?? 0);
  }

  /** An id that no session goes by may be that of a piece: to look in all sessions at each would cost their number. */
  function noteSize(entry: Entry) {
    if (isHuge(entry.path, shownSize(entry))) huge.add(entry);
    else huge.delete(entry);
  }

  /** The file is gone: its sessions are shown from the archive, or not at all where nothing of them was kept. */
  function leave(entry: Entry) {
    entry.gone = true;
    recovered(entry);
    noteSize(entry);
    watch.setHot(entry.path, false);
    if (entries.get(entry.path) === entry) entries.delete(entry.path);
    past.set(entry.id, entry);
    backlog.delete(entry);
    reader.end(entry);
    const kept_bytes = keeper.archivedTo(entry.id);
    const size = entry.identity?.size ?? 0;
    if (kept_bytes === 0) {
      for (const id of [...entry.sessions]) drop(id);
      past.delete(entry.id);
    } else if (kept_bytes < size) {
      trouble(entry.path, {
        level: "warning",
        text: `${entry.path}: It went before all of it was archived: ${kept_bytes} of ${size} bytes are kept.`,
      });
    }
    touch(entry);
  }

  function drop(id: string) {
    const state = by_session.get(id);
    if (!state) return;
    state.entry.sessions.delete(id);
    by_session.delete(id);
    if (owners.get(id) === state.entry) owners.delete(id);
    if (links.facts(id)) list.schedule();
    links.remove(id);
    const rewound = rewoundFrom(state);
    if (rewound !== undefined) list.mark(rewound);
    if (state.view?.watched) waiting_views.set(id, state.view);
    else state.view?.retire();
    keeper.sessionRemoved(id);
    list.mark(id);
  }

  function touch(entry: Entry) {
    keeper.entryChanged(entry);
    for (const id of entry.sessions) list.mark(id);
  }

  // --- Opening ----------------------------------------------------------------------------------------------------

  async function open(id: string) {
    await first_look;
    const state = by_session.get(id);
    if (!state && !closed) return await segments.open(id);
    if (!state || state.summary.parts === 0 || closed) return undefined;
    if (state.view) {
      state.view.used_at = now();
      return state.view;
    }
    const { entry } = state;
    entry.interrupt = true;
    await run(entry, async () => {
      entry.interrupt = false;
      if (by_session.get(id)?.view) return;
      if (!entry.gone) await reader.read(entry, true);
      if (entry.gone) await reader.readArchive(entry);
    });
    // Its file may have gone, and its session been found in another one, while it was read.
    const view = by_session.get(id)?.view;
    if (view) list.publish();
    return view;
  }

  function evidenceOf(entry: Entry): EvidenceFile {
    const identity = entry.identity ?? entry.reading?.identity;
    return {
      path: entry.path,
      gone: entry.gone,
      ...(identity && { identity }),
      ...(entry.side !== undefined && { side: entry.side }),
      ...(entry.side_text !== undefined && { side_text: entry.side_text }),
      archived: (from, to) => keeper.read(entry.id, from, to),
    };
  }

  async function partOf(id: string, part_id: string) {
    const view = await open(id);
    const state = by_session.get(id) ?? segments.sessionOf(id);
    const index = view && positionOf(view.transcript, part_id);
    const part = index === undefined ? undefined : view?.transcript.parts.at(index);
    return part && state && { part, file: evidenceOf(state.entry) };
  }

  // --- Beginning --------------------------------------------------------------------------------------------------

  async function lookAtRegisters() {
    for (const id of await status.look()) list.mark(id);
  }

  async function begin() {
    // Whoever starts this for the first time sees what is there, long before all of it is read.
    await Promise.race([glanceAtNewest(), sleep(START_MS, undefined, { ref: false })]);
    if (!closed) backlog.start();
  }

  async function glanceAtNewest() {
    const newest = backlog.next(MOST_GLANCES);
    for (let at = 0; at < newest.length && !closed; at += SCREENFUL) {
      const glances = newest.slice(at, at + SCREENFUL).map((entry) => run(entry, () => reader.glance(entry)));
      await Promise.all(glances);
      list.publish();
    }
  }

  function every(interval: number, work: () => Promise<void>) {
    const timer = setTimeout(async () => {
      timers.delete(timer);
      await work();
      if (!closed) every(interval, work);
    }, interval);
    timers.add(timer);
  }

  loadStore();
  list.publish();
  const first_look = lookAtRegisters();
  const watch = watchSessions({
    roots: options.roots,
    paths: options.paths ?? [],
    formats: options.formats,
    hotInterval: timing.hot,
    listInterval: timing.list,
    hints: options.hints ?? true,
    onFound: found,
    onGone: lost,
    onReady() {
      ready = true;
      void begin();
      // What an earlier daemon knew and no look found: gone, or in a folder that is not looked at now.
      lost([...entries.values()].filter((entry) => !entry.seen).map(({ path }) => path));
    },
  });
  // The newest files are read first, so all have to be seen first; but not for long.
  const start_timer = setTimeout(() => void begin(), START_MS);

  every(timing.persist, keeper.persist);
  every(timing.tick, async () => {
    await lookAtRegisters();
    list.markLively();
    reader.retireViews();
    reader.coolReaders();
  });
  every(timing.tick, async () => {
    if (ready && backlog.idle) await readFailed();
  });
  every(timing.tick, async () => {
    if (ready && backlog.idle) await catch_up.work();
  });
  return {
    epoch: crypto.randomUUID(),
    get seq() {
      return list.seq;
    },
    list: () => list.sorted,
    get: (id) => list.get(id) ?? segments.get(id),
    open,
    async raw(id, part_id) {
      const found_part = await partOf(id, part_id);
      return found_part?.part.source && (await readRecord(found_part.file, found_part.part.source));
    },
    async attachment(id, part_id, n) {
      const found_part = await partOf(id, part_id);
      if (!found_part) return undefined;
      const folder = resultsFolder(found_part.file.path);
      return readAttachment(found_part.part, n, (path) => readOwn(folder, path));
    },
    async output(id, part_id, from) {
      const found_part = await partOf(id, part_id);
      const kept = found_part && keptOutputOf(found_part.part);
      if (!kept) return undefined;
      const folder = resultsFolder(found_part.file.path);
      const path = resultIn(folder, kept.path);
      return path === undefined ? undefined : await readOwnPiece(folder, path, from);
    },
    status() {
      const index = { files_found: 0, files_done: 0, bytes_found: 0, bytes_done: 0 };
      for (const entry of entries.values()) {
        const size = entry.seen?.size ?? entry.identity?.size ?? 0;
        const stale = isStale(entry) && (!entry.done || failed.has(entry));
        index.files_found += 1;
        index.bytes_found += size;
        index.files_done += stale ? 0 : 1;
        index.bytes_done += stale ? Math.min(entry.progress, size) : size;
      }
      return {
        index: { ...index, done: ready && backlog.idle },
        notices: [
          ...keeper.notices,
          ...[...watch.troubles].slice(0, MOST_NOTICES).map(([path, why]) => unreadNotice(path, why)),
          ...troubles.values(),
        ],
        roots: options.roots.map(({ format, path }) => ({
          agent: format.id,
          path,
          exists: watch.exists(path),
        })),
      };
    },
    ...(keeper.retry && { retry: keeper.retry }),
    subscribe: list.subscribe,
    async close() {
      closed = true;
      clearTimeout(start_timer);
      backlog.stop();
      list.close();
      for (const timer of timers) clearTimeout(timer);
      await watch.close();
      const all = [...entries.values(), ...past.values()];
      for (const entry of all) clearTimeout(entry.settle_timer);
      await indexer?.close();
      await Promise.all(all.map(({ queue }) => queue));
      await keeper.close();
    },
  };
}

const unreadNotice = (path: string, why: string): Notice => ({
  level: "warning",
  text: `${path}: ${why}.`,
  ...(why === NO_PERMISSION && { remedy: "Let whoever runs Verbatim read it; it looks again by itself." }),
  unread: true,
});

/** The session that goes on in this one. */
function rewoundFrom(state: State | undefined): string | undefined {
  const from = state?.summary.forked_from;
  return from?.rewind ? from.session_id : undefined;
}
