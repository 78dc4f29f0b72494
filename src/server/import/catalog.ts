import { setTimeout as sleep } from "node:timers/promises";
import type { AgentSource } from "../../protocol.ts";
import type { OpenedArchive } from "../../store/archive/contract.ts";
import { openContent } from "../files/file-content.ts";
import { createList } from "../sessions/list.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { createArchiving } from "./archiving.ts";
import { dependentsOf } from "./dependents.ts";
import { createDiscovery } from "./discovery.ts";
import { createFileAccess } from "./file-access.ts";
import { createFileReader } from "./file-reader.ts";
import { followProcesses } from "./follow-processes.ts";
import { importStatus } from "./import-status.ts";
import { createSegmentList } from "./large-files/segment-list.ts";
import { createSegmentParts } from "./large-files/segment-parts.ts";
import { isSegmentId } from "./large-files/segments.ts";
import { createLinks } from "./links.ts";
import { loadStore } from "./load-store.ts";
import { createPartIndexing, indexedAs, keyOf } from "./part-indexing.ts";
import { previewNewest } from "./preview.ts";
import { createReadFailures } from "./read-failures.ts";
import { createReadQueue } from "./read-queue.ts";
import { createRecordAccess } from "./record-access.ts";
import { createReplacedSessions } from "./replaced-sessions.ts";
import { createRunMarkers } from "./run-markers.ts";
import { type IndexedSession, isStale, modifiedAt, type SessionFile, sizeOf } from "./session-file.ts";
import type { SessionsOptions } from "./sessions-options.ts";
import { createStatus } from "./status.ts";
import { createTimers } from "./timers.ts";
import { TIMING } from "./timing.ts";
import { createTrackedFiles } from "./tracked-files.ts";
import { createUrgentWork } from "./urgent-work.ts";

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
/** Milliseconds between checks for files whose parts have to be indexed. */
const PART_INDEX_MS = 1_000;

/** Sessions that are read from files. */
export interface FileBackedSessions extends Sessions {
  /** Lists the agents with their folders and problems, in the order of `formats`. */
  describeSources(): Promise<AgentSource[]>;
}

/** Stores nothing. */
const UNARCHIVED: OpenedArchive = {
  contents: { files: [], sessions: [], archived_to: new Map() },
  read_only: true,
  notices: [],
};

/** Finds, follows, lists, opens and archives the sessions of all agents on this machine. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: connects the parts of the import, which refer to each other
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
  const replacementOf = createReplacedSessions({ indexed, links, paths: options.paths ?? [], isOff });
  const frame_listeners = new Set<Parameters<NonNullable<Sessions["watchFrames"]>>[0]>();
  const timers = createTimers();
  let ready = false;
  let closed = false;

  const failures = createReadFailures({ tick: timing.tick, isClosed: () => closed });
  const { run } = failures;
  const urgent = createUrgentWork();
  const { archive, backfill } = createArchiving({
    opened: options.archive ?? UNARCHIVED,
    indexed,
    links,
    retry: timing.retry,
    files: () => files.byPath.values(),
    isOff,
    isClosed: () => closed,
    run,
    urgentWork: urgent.ended,
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
    dependentsOf: (id) => dependentsOf(id, { links, indexed }),
    rowOf(id) {
      const state = indexed.get(id);
      // A file without any parts is not a conversation.
      if (!state || state.summary.parts === 0 || isOff(state.entry)) return undefined;
      if (replacementOf(id) !== undefined) return undefined;
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
  if (indexer) urgent.subscribe(indexer.pause, indexer.resume);
  const part_indexing = createPartIndexing({
    state: options.part_index,
    indexer,
    isClosed: () => closed,
    isOff,
    now,
    close: timing.close,
    files: () => files.byPath.values(),
    rowsOf: ({ sessions }) =>
      [...sessions]
        .flatMap((id) => indexed.get(id) ?? [])
        .map(({ id, summary, open_calls }) => ({ id, summary, open_calls })),
  });
  const segments = createSegmentList(options.part_index);
  const segment_parts = createSegmentParts({
    list: segments,
    index: options.part_index,
    contentOf: (entry) => openContent(entry, archive),
  });
  const reader = createFileReader({
    ...(indexer && { indexer }),
    segments,
    segment_parts,
    urgent,
    onFrames(id, frames, reading) {
      if (replacementOf(id) !== undefined) return;
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
  /**
   * The session to which links with an id that is not listed lead: the one that replaces it, or the one that older versions showed
   * in segments, with an id for each.
   */
  function movedTo(id: string): string | undefined {
    if (indexed.has(id)) return replacementOf(id);
    for (const entry of files.huge)
      for (const session_id of entry.sessions)
        if (isSegmentId(id, session_id, files.shownSize(entry))) return session_id;
    return undefined;
  }

  function removeSession(id: string) {
    const state = indexed.get(id);
    if (!state) return;
    for (const dependent of dependentsOf(id, { links, indexed })) list.mark(dependent);
    state.entry.sessions.delete(id);
    indexed.delete(id);
    if (owners.get(id) === state.entry) owners.delete(id);
    if (links.facts(id)) list.schedule();
    links.remove(id);
    if (state.view?.watched) detached_views.set(id, state.view);
    else state.view?.dispose();
    archive.sessionRemoved(id);
    list.mark(id);
  }

  // --- Opening ----------------------------------------------------------------------------------------------------

  async function open(id: string): Promise<OpenSession | undefined> {
    await processes.known;
    const moved_to = closed ? undefined : movedTo(id);
    if (moved_to !== undefined) return await open(moved_to);
    const state = indexed.get(id);
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

  async function begin() {
    const previewed = previewNewest({
      newest: read_queue.next(MAX_PREVIEWS),
      preview: (entry) => run(entry, () => reader.readPreview(entry)),
      publish: list.publish,
      isClosed: () => closed,
    });
    // On the first start the newest sessions are shown long before all files are read.
    await Promise.race([previewed, sleep(START_MS, undefined, { ref: false })]);
    if (!closed) read_queue.start();
  }

  const isIdle = () => ready && read_queue.idle;

  async function readOrMarkGone(entry: SessionFile) {
    if (isOff(entry)) return;
    if (isStale(entry)) await reader.read(entry, false);
    else await files.markGoneUnlessPresent(entry);
  }

  const fileOf = (id: string) => indexed.get(id)?.entry;
  const records = createRecordAccess({ open, fileOf, archive });
  const file_access = createFileAccess({
    fileOf,
    archive,
    idFor: (entry, own) => reader.idFor(entry, own),
    now,
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
  const processes = followProcesses({
    roots: options.roots,
    hints: options.hints !== false,
    interval: timing.registry,
    timers,
    status,
    links,
    list,
    isClosed: () => closed,
    ...(options.terminals && { terminals: options.terminals }),
  });
  const { watch, record_logs, sources } = createDiscovery({
    formats: options.formats,
    roots: options.roots,
    paths: options.paths ?? [],
    ...(options.records_folder !== undefined && { folder: options.records_folder }),
    hints: options.hints ?? true,
    timing,
    off,
    files,
    indexed,
    links,
    list,
    failures,
    isClosed: () => closed,
    isReplaced: (id) => replacementOf(id) !== undefined,
    cancelRead: (entry) => read_queue.delete(entry),
    enqueueBackfill: (entry) => backfill.add(entry),
    onReady() {
      ready = true;
      void begin();
      // Files that are stored but were not found: deleted, or in a folder that is no longer watched.
      const unseen = [...files.byPath.values()].filter((entry) => !entry.seen && !isOff(entry));
      files.onMissing(unseen.map(({ path }) => path));
    },
  });
  options.part_index?.onIndexed((key) => {
    for (const entry of files.huge)
      if (keyOf(entry) === key && !closed) void run(entry, () => reader.showIndexed(entry));
  });
  const stopChoices = options.choices?.subscribe(sources.switched);
  // The newest files are read first, so all files should be found first, but the wait is bounded.
  const start_timer = setTimeout(() => void begin(), START_MS);

  timers.every(timing.persist, archive.persist);
  timers.every(timing.tick, async () => {
    list.markGrowth();
    reader.evictViews();
    reader.evictReaders();
  });
  timers.every(timing.tick, async () => {
    if (isIdle()) await failures.retry(readOrMarkGone);
  });
  timers.every(timing.tick, async () => {
    if (isIdle()) await backfill.work();
  });
  timers.every(PART_INDEX_MS, async () => {
    if (isIdle()) await part_indexing.work();
  });
  return {
    epoch: crypto.randomUUID(),
    get seq() {
      return list.seq;
    },
    list: () => list.sorted,
    get: (id) => list.get(id) ?? list.get(movedTo(id) ?? ""),
    open,
    ...records,
    ...file_access,
    status: () =>
      importStatus({
        files: files.byPath.values(),
        failures,
        archive,
        watch,
        record_logs,
        roots: options.roots,
        isOff,
        isIdle: isIdle(),
      }),
    ...(archive.retry && { retry: archive.retry }),
    indexedAs(source, session_id) {
      const id = indexedAs(indexed, source, session_id);
      return id === undefined || replacementOf(id) !== undefined ? undefined : id;
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
      processes.close();
      clearTimeout(start_timer);
      read_queue.stop();
      list.close();
      timers.close();
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
