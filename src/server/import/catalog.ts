import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { uuidFrom } from "../../model/uuid.ts";
import type { AgentSource } from "../../protocol.ts";
import type { Format } from "../../sources/contract.ts";
import { createArchiveBackfill } from "../archive/archive-backfill.ts";
import { createArchiveWriter } from "../archive/archive-writer.ts";
import { openContent } from "../files/file-content.ts";
import type { IndexState } from "../index/index-state.ts";
import { createList } from "../sessions/list.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { createAgentSources } from "./agent-sources.ts";
import { createFileReader } from "./file-reader.ts";
import type { Indexer } from "./index-threads.ts";
import { createSegmentPlaces } from "./large-files/segment-places.ts";
import { createSegments, marker } from "./large-files/segment-views.ts";
import { createLinks } from "./links.ts";
import { loadStore } from "./load-store.ts";
import { loggedRequests } from "./logged-requests.ts";
import { createPartIndexing, keyOf, openedAs } from "./part-indexing.ts";
import { createReadFailures, MAX_NOTICES, unreadNotice } from "./read-failures.ts";
import { createReadQueue } from "./read-queue.ts";
import { createRecordAccess } from "./record-access.ts";
import { createRecordLogs } from "./record-logs/record-logs.ts";
import { watchRegistries } from "./registry-hints.ts";
import { createRunMarkers } from "./run-markers.ts";
import {
  diskState,
  type IndexedSession,
  isArchivable,
  isStale,
  modifiedAt,
  type SessionFile,
  sizeOf,
  storedFile,
} from "./session-file.ts";
import { sessionFrames } from "./session-frames.ts";
import type { SourceChoices } from "./source-choices.ts";
import { createStatus, type Terminals } from "./status.ts";
import { type SessionsTiming, TIMING } from "./timing.ts";
import { createTrackedFiles } from "./tracked-files.ts";
import type { WatchRoot } from "./watch/found-file.ts";
import { watchSessions } from "./watch/watch.ts";

export interface SessionsOptions {
  formats: readonly Format[];
  /** The agents' default folders. */
  roots: readonly WatchRoot[];
  /** Additional files and folders. */
  paths?: readonly string[];
  /** Folder of the store. Absent: nothing is stored, and a session disappears with its file. */
  dataFolder?: string;
  /** See `DatabaseOptions`. */
  check_limit?: number;
  read_only?: boolean;
  timing?: Partial<SessionsTiming>;
  /** The agents that the user switched off. Absent: all agents are read. */
  choices?: Pick<SourceChoices, "off" | "subscribe">;
  /** Whether another source has a session with this id. If so, the file's session gets a different id. */
  isInOtherSource?(id: string): boolean;
  /** Messages and requests of agents in terminals, by the agent's own session id. */
  terminals?: Terminals & {
    /** Calls the listener with a session id when its state or requests change. */
    subscribe(listener: (session_id: string) => void): () => void;
  };
  /** Reads files on worker threads. Supports only the built-in formats. Closed together with the sessions. */
  indexer?: Indexer;
  /** The part index, for search. Absent: parts are not indexed. */
  part_index?: IndexState;
  /** Whether to use file system events. Polling finds all changes either way. */
  hints?: boolean;
  now?: () => number;
}
/**
 * Concurrent background reads, and bytes of short files that are read together. Each read needs a few messages between two
 * threads, so a single read at a time would mostly wait. A file that someone opens is always read at once.
 */
const MAX_CONCURRENT_READS = 4;
const MAX_CONCURRENT_BYTES = 2 * 1024 * 1024;
/** Time after which reading begins even if not all files have been found. Milliseconds. */
const START_MS = 150;
/** Number of files that are previewed at start: more than one screen. */
const MAX_PREVIEWS = 60;
/** Rows that the page shows first. */
const PREVIEW_BATCH = 30;
/** Milliseconds between checks for files whose parts have to be indexed. */
const PART_INDEX_MS = 1_000;

/** Sessions that are read from files. */
export interface FileBackedSessions extends Sessions {
  /** Lists the agents with their folders and problems, in the order of `formats`. */
  describeSources(): Promise<AgentSource[]>;
}

/** Finds, follows, lists, opens and archives the sessions of all agents on this machine. */
export function createSessions(options: SessionsOptions): FileBackedSessions {
  const timing = { ...TIMING, ...options.timing };
  const now = options.now ?? Date.now;
  const isInOtherSource = options.isInOtherSource ?? (() => false);
  const off = options.choices?.off ?? new Set<string>();
  const isOff = ({ format }: SessionFile) => off.has(format.id);
  const indexed = new Map<string, IndexedSession>();
  /** Views whose session disappeared while they were open. They are reattached if the id comes back. */
  const detached_views = new Map<string, SessionView>();
  /** The file that owns each session id. */
  const owners = new Map<string, SessionFile>();
  const links = createLinks();
  const frame_listeners = new Set<Parameters<NonNullable<Sessions["watchFrames"]>>[0]>();
  const timers = new Set<NodeJS.Timeout>();
  let ready = false;
  let closed = false;

  const failures = createReadFailures({ tick: timing.tick, isClosed: () => closed });
  const { run } = failures;
  const archive = createArchiveWriter<SessionFile>({
    ...(options.dataFolder !== undefined && { dataFolder: options.dataFolder }),
    ...(options.check_limit !== undefined && { check_limit: options.check_limit }),
    ...(options.read_only !== undefined && { read_only: options.read_only }),
    now,
    retry: timing.retry,
    rowOf: storedFile,
    sessionRowOf(id) {
      const state = indexed.get(id);
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
      for (const entry of files.byPath.values()) if (entry.identity) backfill.add(entry);
    },
  });
  const backfill = createArchiveBackfill({
    archive,
    isClosed: () => closed,
    isArchivable: (entry: SessionFile) => !isOff(entry) && isArchivable(entry),
    run,
  });
  const status = createStatus({
    formats: options.formats,
    roots: options.roots,
    indexed,
    links,
    now,
    silence: timing.silence,
    ...(options.terminals && { terminals: options.terminals }),
  });
  const list = createList({
    delay: timing.publish,
    prepare: () => run_markers.relink(),
    parentOf: (id) => links.of(id)?.parent ?? rewoundFrom(indexed.get(id)),
    rowOf(id) {
      const state = indexed.get(id);
      // A file without any parts is not a conversation.
      if (!state || state.summary.parts === 0 || isOff(state.entry)) return undefined;
      run_markers.publish(state);
      const row = status.present(state);
      if (row.status !== "running") reader.finalizeView(state);
      return { row, growing: row.status === "running" || state.summary.status === "running" };
    },
  });
  const run_markers = createRunMarkers({
    indexed,
    links,
    now,
    mark: list.mark,
    isViewed: (builder) => reader.isViewed(builder),
    emitFrames: (builder) => reader.emitFrames(builder),
  });
  const { indexer } = options;
  const part_indexing = createPartIndexing({
    state: options.part_index,
    indexer,
    isClosed: () => closed,
    isOff,
    now,
    close: timing.close,
    files: () => files.byPath.values(),
  });
  const placeOf = createSegmentPlaces(options.part_index, keyOf);
  const reader = createFileReader({
    ...(indexer && { indexer }),
    placeOf,
    leadingMarkers: (id, segment, from, at) =>
      segment === 0 ? [] : [marker("before", id, id, segment - 1, from, at)],
    onFrames(id, frames, reading) {
      for (const listener of frame_listeners) listener(id, frames, reading);
    },
    timing,
    now,
    archive,
    links,
    list,
    status,
    run_markers,
    indexed,
    detached_views,
    owners,
    isInOtherSource,
    isClosed: () => closed,
    run,
    setHot: (path, hot) => watch.setHot(path, hot),
    newFileId: () => files.newId(),
    partsJob: part_indexing.partsJob,
    waiting: () => read_queue.waiting,
    enqueueBackfill: (entry) => backfill.add(entry),
    onRead(entry) {
      files.onRead(entry);
      part_indexing.add(entry);
    },
    onOrphaned: (orphan) => files.onOrphaned(orphan),
    onReplaced: (file_id, by) => backfill.replacedBy(file_id, by),
    markGone: (entry) => files.markGone(entry),
    removeSession,
    reopen: open,
  });
  const read_queue = createReadQueue<SessionFile>({
    at_once: MAX_CONCURRENT_READS,
    bytes_at_once: MAX_CONCURRENT_BYTES,
    modifiedAt,
    sizeOf,
    async read(entry) {
      await run(entry, () => (isStale(entry) && !isOff(entry) ? reader.read(entry, false) : undefined));
      await reader.indexing(entry);
    },
  });
  const files = createTrackedFiles({
    archive,
    list,
    failures,
    watch: () => watch,
    isClosed: () => closed,
    readNow: (entry) => reader.read(entry, false),
    enqueueRead: (entry) => read_queue.add(entry),
    cancelRead: (entry) => read_queue.delete(entry),
    enqueueBackfill: (entry) => backfill.add(entry),
    endReader: (entry) => reader.end(entry),
    removeSession,
  });
  const segments = createSegments({
    stateOf(id) {
      const state = indexed.get(id);
      return state && !isOff(state.entry) ? state : undefined;
    },
    huge: files.huge,
    sizeOf: files.shownSize,
    contentOf: (entry) => openContent(entry, archive),
    placeOf,
    present: status.present,
  });

  function removeSession(id: string) {
    const state = indexed.get(id);
    if (!state) return;
    state.entry.sessions.delete(id);
    indexed.delete(id);
    if (owners.get(id) === state.entry) owners.delete(id);
    if (links.facts(id)) list.schedule();
    links.remove(id);
    const rewound = rewoundFrom(state);
    if (rewound !== undefined) list.mark(rewound);
    if (state.view?.watched) detached_views.set(id, state.view);
    else state.view?.dispose();
    archive.sessionRemoved(id);
    list.mark(id);
  }

  // --- Opening ----------------------------------------------------------------------------------------------------

  async function open(id: string) {
    await processes_known;
    const state = indexed.get(id);
    if (!state && !closed) return await segments.open(id);
    if (!state || state.summary.parts === 0 || isOff(state.entry) || closed) return undefined;
    if (state.view) {
      state.view.used_at = now();
      return state.view;
    }
    const { entry } = state;
    entry.interrupt = true;
    await run(entry, async () => {
      entry.interrupt = false;
      if (indexed.get(id)?.view) return;
      if (!entry.gone) await reader.read(entry, true);
      if (entry.gone) await reader.readArchive(entry);
    });
    // The file may have disappeared, and its session found in another file, while it was read.
    const view = indexed.get(id)?.view;
    if (view) list.publish();
    return view;
  }

  // --- Beginning --------------------------------------------------------------------------------------------------

  /** One refresh at a time, because an older one that finishes last would restore an outdated state. */
  let refresh: { again: boolean; done: Promise<void> } | undefined;
  function refreshProcesses(): Promise<void> {
    if (refresh) {
      refresh.again = true;
      return refresh.done;
    }
    const current = { again: true, done: Promise.resolve() };
    refresh = current;
    current.done = (async () => {
      try {
        while (current.again && !closed) {
          current.again = false;
          for (const id of await status.refreshProcesses()) list.mark(id);
        }
      } finally {
        refresh = undefined;
      }
    })();
    return current.done;
  }

  async function begin() {
    // On the first start the newest sessions are shown long before all files are read.
    await Promise.race([previewNewest(), sleep(START_MS, undefined, { ref: false })]);
    if (!closed) read_queue.start();
  }

  async function previewNewest() {
    const newest = read_queue.next(MAX_PREVIEWS);
    for (let at = 0; at < newest.length && !closed; at += PREVIEW_BATCH) {
      const previews = newest
        .slice(at, at + PREVIEW_BATCH)
        .map((entry) => run(entry, () => reader.readPreview(entry)));
      await Promise.all(previews);
      list.publish();
    }
  }

  async function readOrMarkGone(entry: SessionFile) {
    if (isOff(entry)) return;
    if (isStale(entry)) await reader.read(entry, false);
    else await files.markGoneUnlessPresent(entry);
  }

  function every(interval: number, work: () => Promise<void>) {
    const timer = setTimeout(async () => {
      timers.delete(timer);
      await work();
      if (!closed) every(interval, work);
    }, interval);
    timers.add(timer);
  }

  const records = createRecordAccess({
    open,
    fileOf: (id) => (indexed.get(id) ?? segments.sessionOf(id))?.entry,
    archive,
  });
  loadStore({
    formats: options.formats,
    archive,
    files,
    indexed,
    owners,
    links,
    list,
    isInOtherSource,
    onFile(entry) {
      backfill.add(entry);
      part_indexing.add(entry);
    },
    onReplaced: backfill.replacedBy,
  });
  list.publish();
  const processes_known = refreshProcesses();
  const stopRequests = options.terminals?.subscribe((name) => {
    const { session_id, later } = links.registered(name);
    for (const id of [session_id, ...later]) list.mark(id);
    // The agent's registry changes at the same time.
    void refreshProcesses();
  });
  const record_logs = createRecordLogs({
    formats: options.formats,
    roots: options.roots,
    paths: options.paths ?? [],
    ...(options.dataFolder !== undefined &&
      options.read_only !== true && { folder: join(options.dataFolder, "records") }),
    hotInterval: timing.hot,
    listInterval: timing.list,
    hints: options.hints ?? true,
    off,
    onChange: (paths) => void watch.check(paths),
  });
  const watch = watchSessions({
    roots: [...options.roots, ...record_logs.roots],
    paths: options.paths ?? [],
    formats: options.formats,
    hotInterval: timing.hot,
    listInterval: timing.list,
    hints: options.hints ?? true,
    off,
    onFound: files.onFound,
    onGone: files.onMissing,
    onReady() {
      ready = true;
      void begin();
      // Files that are stored but were not found: deleted, or in a folder that is no longer watched.
      const unseen = [...files.byPath.values()].filter((entry) => !entry.seen && !isOff(entry));
      files.onMissing(unseen.map(({ path }) => path));
    },
  });
  const sources = createAgentSources({
    formats: options.formats,
    roots: options.roots,
    paths: options.paths ?? [],
    off,
    files,
    indexed,
    links,
    list,
    failures,
    watch,
    record_logs,
    isClosed: () => closed,
    cancelRead: (entry) => read_queue.delete(entry),
    enqueueBackfill: (entry) => backfill.add(entry),
  });
  const stopChoices = options.choices?.subscribe(sources.switched);
  // The newest files are read first, so all files should be found first, but the wait is bounded.
  const start_timer = setTimeout(() => void begin(), START_MS);

  every(timing.persist, archive.persist);
  const registry_hints =
    options.hints === false ? undefined : watchRegistries(options.roots, () => void refreshProcesses());
  every(timing.registry, async () => {
    registry_hints?.watchNew();
    await refreshProcesses();
  });
  every(timing.tick, async () => {
    list.markGrowth();
    reader.evictViews();
    reader.evictReaders();
  });
  every(timing.tick, async () => {
    if (ready && read_queue.idle) await failures.retry(readOrMarkGone);
  });
  every(timing.tick, async () => {
    if (ready && read_queue.idle) await backfill.work();
  });
  every(PART_INDEX_MS, async () => {
    if (ready && read_queue.idle) await part_indexing.work();
  });
  return {
    epoch: crypto.randomUUID(),
    get seq() {
      return list.seq;
    },
    list: () => list.sorted,
    get: (id) => list.get(id) ?? segments.get(id),
    open,
    ...records,
    async frames(id) {
      const entry = (indexed.get(id) ?? segments.sessionOf(id))?.entry;
      const content = entry && (await openContent(entry, archive));
      const is_open = entry?.reading !== undefined && !entry.reading.ended;
      return content && sessionFrames(id, entry, content, (own) => reader.idFor(entry, own), is_open);
    },
    async disk(id) {
      const entry = (indexed.get(id) ?? segments.sessionOf(id))?.entry;
      return entry && (await diskState(entry, now()));
    },
    async loggedRequests(id) {
      const entry = (indexed.get(id) ?? segments.sessionOf(id))?.entry;
      if (entry?.format.createRequestLog === undefined) return [];
      const content = await openContent(entry, archive);
      return content ? await loggedRequests(entry, content) : [];
    },
    status() {
      const index = { files_found: 0, files_done: 0, bytes_found: 0, bytes_done: 0 };
      for (const entry of files.byPath.values()) {
        if (isOff(entry)) continue;
        const size = entry.seen?.size ?? entry.identity?.size ?? 0;
        const stale = isStale(entry) && (!entry.done || failures.has(entry));
        index.files_found += 1;
        index.bytes_found += size;
        index.files_done += stale ? 0 : 1;
        index.bytes_done += stale ? Math.min(entry.progress, size) : size;
      }
      return {
        index: { ...index, done: ready && read_queue.idle },
        notices: [
          ...archive.notices,
          ...[...watch.errors, ...record_logs.troubles]
            .filter(([path]) => !record_logs.owns(path) || record_logs.troubles.has(path))
            .slice(0, MAX_NOTICES)
            .map(([path, why]) => unreadNotice(path, why)),
          ...failures.notices,
        ],
        roots: options.roots
          .filter(({ internal }) => internal !== true)
          .map(({ format, path }) => ({ agent: format.id, path, exists: watch.exists(path) })),
      };
    },
    ...(archive.retry && { retry: archive.retry }),
    indexedAs(source, session_id, byte) {
      const file_id = Number(source.slice("file:".length));
      const own = indexed.get(session_id);
      if (own?.entry.id === file_id) return openedAs(own, byte, options.part_index);
      // A copy of a file has a different session id.
      for (const state of indexed.values()) {
        const { entry } = state;
        if (entry.id === file_id && uuidFrom(session_id, entry.path) === state.id)
          return openedAs(state, byte, options.part_index);
      }
      return undefined;
    },
    isIndexed(id) {
      const entry = indexed.get(id)?.entry;
      return entry !== undefined && options.part_index?.stampOf(keyOf(entry)) !== undefined;
    },
    get unindexed() {
      return part_indexing.waiting;
    },
    subscribe: list.subscribe,
    watchFrames(listener) {
      frame_listeners.add(listener);
      return () => frame_listeners.delete(listener);
    },
    describeSources: sources.describe,
    async close() {
      closed = true;
      stopChoices?.();
      stopRequests?.();
      clearTimeout(start_timer);
      read_queue.stop();
      registry_hints?.close();
      list.close();
      for (const timer of timers) clearTimeout(timer);
      await record_logs.close();
      await watch.close();
      const all = files.all();
      for (const entry of all) clearTimeout(entry.last_line_timer);
      await indexer?.close();
      await Promise.all(all.map(({ queue }) => queue));
      await archive.close();
    },
  };
}

/** The session that this one was rewound from. */
function rewoundFrom(state: IndexedSession | undefined): string | undefined {
  const from = state?.summary.forked_from;
  return from?.rewind ? from.session_id : undefined;
}
