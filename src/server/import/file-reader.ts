import type { Frame } from "../../model/frames/frame.ts";
import type { FileIdentity } from "../../store/contract.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import { openContent } from "../files/file-content.ts";
import { followFile, isCompressed } from "../files/follow.ts";
import type { SessionList } from "../sessions/list.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { OpenSession } from "../sessions/sessions.ts";
import { readArchived } from "./archived-reading.ts";
import { createBackgroundIndex } from "./background-index.ts";
import { createCommits } from "./commit-reading.ts";
import { createFileSessions } from "./file-sessions.ts";
import type { Indexer, IndexJob } from "./index-threads.ts";
import { type SegmentList, type Tail, windowOfTail } from "./large-files/segment-list.ts";
import type { SegmentParts } from "./large-files/segment-parts.ts";
import { isHuge } from "./large-files/segments.ts";
import type { Links } from "./links.ts";
import { readPreview } from "./preview.ts";
import { growthStart, tailStart } from "./read-start.ts";
import { createReaderCache, MAX_READERS } from "./reader-cache.ts";
import { createReading, type Reading, type ReadingWindow, type SessionBuilder } from "./reading.ts";
import type { RunMarkers } from "./run-markers.ts";
import { type IndexedSession, isArchivable, isStale, modifiedAt, type SessionFile } from "./session-file.ts";
import { loadSide } from "./side-file.ts";
import type { Status } from "./status.ts";
import type { SessionsTiming } from "./timing.ts";
import { createTranscriptViews } from "./transcript-views.ts";
import type { UrgentWork } from "./urgent-work.ts";

/**
 * Reads files and turns the result into listed sessions and transcripts. All methods must be called within `run` of the entry.
 */
interface FileReader {
  /** Reads appended bytes. Reads the whole file if it was replaced or if `folded` transcripts are needed. */
  read(entry: SessionFile, folded: boolean): Promise<void>;
  /** Lists a file that was never read, from its first bytes. */
  readPreview(entry: SessionFile): Promise<void>;
  /** The pending row index of a huge file. Its transcripts do not wait for it. */
  indexing(entry: SessionFile): Promise<void> | undefined;
  /** The id under which a session of this file is listed. */
  idFor(entry: SessionFile, session_id: string): string;
  /** Reads a session from the archive because its file was deleted. */
  readArchive(entry: SessionFile): Promise<void>;
  /** Call when a huge file was indexed: a view that shows only its end then shows all of it. */
  showIndexed(entry: SessionFile): Promise<void>;
  /** Flushes the reader of a deleted file. */
  end(entry: SessionFile): void;
  /** Emits the frames that were pushed into a builder. */
  emitFrames(builder: SessionBuilder): void;
  isViewed(builder: SessionBuilder): boolean;
  /** Ends the open calls of a turn that ended without a record, in the open transcript. */
  finalizeView(state: IndexedSession): void;
  /** Evicts transcripts without viewers. */
  evictViews(): void;
  /** Evicts readers of files that no longer grow. */
  evictReaders(): void;
}

interface FileReaderOptions {
  /** Absent: all files are read on this thread, and none counts as huge. */
  indexer?: Indexer;
  segments: SegmentList;
  segment_parts: SegmentParts;
  urgent: UrgentWork;
  /** Called with the frames of each session as they are read on this thread. */
  onFrames(id: string, frames: readonly Frame[], reading: Reading): void;
  timing: SessionsTiming;
  now: () => number;
  archive: ArchiveWriter<SessionFile>;
  links: Links;
  list: SessionList;
  status: Status;
  run_markers: RunMarkers;
  indexed: Map<string, IndexedSession>;
  /** Views whose session disappeared while they were open. They are reattached if the id comes back. */
  detached_views: Map<string, SessionView>;
  /** The file that owns each session id. */
  owners: Map<string, SessionFile>;
  /** Whether another source has a session with this id. */
  isInOtherSource(id: string): boolean;
  isClosed(): boolean;
  run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  setHot(path: string, hot: boolean): void;
  newFileId(): number;
  partsJob(entry: SessionFile): Pick<IndexJob, "parts">;
  /** Number of files in the read queue. */
  waiting(): number;
  /** Called when a file was read but is not fully archived. */
  enqueueBackfill(entry: SessionFile): void;
  /** Called when a file was read to its end. */
  onRead(entry: SessionFile): void;
  /** Called when a new file took the path of an archived one. */
  onOrphaned(orphan: SessionFile): void;
  /** Called when no session uses the content of this file id any more. */
  onReplaced(file_id: number, by: SessionFile): void;
  /** Called when a file no longer exists. */
  markGone(entry: SessionFile): void;
  removeSession(id: string): void;
  reopen(id: string): Promise<OpenSession | undefined>;
}

/** A file modified within this time is assumed to grow when it is read for the first time. Milliseconds. */
const RECENT_MS = 60_000;
/** After a gap, reading starts this many bytes before the old end; four times as many if no step begins there. */
const LOOK_BACK = 256 * 1024;

/** A file that is being read. */
interface Work {
  reading: Reading | undefined;
  /** Whether a new reading was begun. */
  from_start: boolean;
  /** Whether the content was replaced. */
  replaced: boolean;
  file_id: number;
  /** The stamp of the side file when the reading began. */
  side_stamp: string | undefined;
  /** Whether the file was read to its end before. */
  known_before: boolean;
}

/** Creates the reader of all files. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the steps of reading a file: its functions are short
export function createFileReader(options: FileReaderOptions): FileReader {
  const { timing, now, archive, links, list, indexed, detached_views, owners, run } = options;
  const views = createTranscriptViews(options);
  const { hasViewer, isViewed, emitFrames } = views;
  const { retain, evictReaders } = createReaderCache({ ...options, hasViewer });

  const sessions = createFileSessions({
    indexed,
    detached_views,
    owners,
    isInOtherSource: options.isInOtherSource,
    archive,
    links,
    list,
    onOrphaned: options.onOrphaned,
    onReplaced: options.onReplaced,
  });
  const { idFor } = sessions;
  const { commit, finishLastLine } = createCommits({ ...options, sessions, views });
  const { indexer } = options;
  const background_index =
    indexer &&
    createBackgroundIndex({
      indexer,
      timing,
      now,
      archive,
      list,
      sessions,
      isClosed: options.isClosed,
      run,
      newFileId: options.newFileId,
      partsJob: options.partsJob,
      enqueueBackfill: options.enqueueBackfill,
      onRead: options.onRead,
      markGone: options.markGone,
      removeSession: options.removeSession,
      reread: (entry) => read(entry, false),
      async onListed(entry) {
        if (!entry.reading) return reloadViewed(entry);
        // Records read for a viewer in the meantime were not added to the rows. A new reading counts them.
        delete entry.reading;
        if (!entry.gone) await read(entry, hasViewer(entry));
      },
    });

  const readingOf = (entry: SessionFile, folding: boolean, window?: ReadingWindow) =>
    createReading({
      ...(window && { window }),
      path: entry.path,
      format: entry.format,
      folding,
      resumable: true,
      idFor: (id) => idFor(entry, id),
      isViewed,
      onFrames: options.onFrames,
    });

  async function read(entry: SessionFile, folded: boolean): Promise<void> {
    if (!folded) return await readNow(entry, false);
    await options.urgent.run(() => readNow(entry, true));
  }

  async function readNow(entry: SessionFile, folded: boolean, look_back = LOOK_BACK): Promise<void> {
    const folding = folded || hasViewer(entry);
    const current = entry.reading;
    const huge =
      background_index !== undefined && isHuge(entry.path, entry.seen?.size ?? entry.identity?.size ?? 0);
    const continues = !folded && canContinue(entry, folding, huge);
    if (huge && !entry.identity) {
      background_index.begin(entry);
      if (!folding) return;
    } else if (background_index && !huge && !folding && !current && !entry.identity) {
      if (isQuiet(entry) || isLong(entry) || isOneOfMany()) return await background_index.read(entry);
    }
    const { seen } = entry;
    const work: Work = {
      reading: current,
      from_start: false,
      replaced: false,
      file_id: entry.id,
      side_stamp: seen?.side_stamp,
      known_before: entry.done,
    };
    const known = current?.identity ?? entry.identity ?? entry.partial_identity;
    const tail = huge && !continues ? await tailStart(entry, archive, options.segments) : undefined;
    const from =
      tail?.checkpoint?.byte ??
      tail?.byte ??
      (huge || continues || folding ? undefined : await growthStart(entry, look_back, isOver));
    const result = await followFile({
      path: entry.path,
      ...(known && { known }),
      ...(from !== undefined && { from }),
      continues,
      begin(replaced) {
        work.from_start = true;
        work.reading = readingOf(
          entry,
          folding,
          from === undefined ? undefined : windowOf(entry, { from, huge, replaced, tail }),
        );
        work.replaced = replaced;
        if (replaced) work.file_id = options.newFileId();
      },
      bytes: (chunk, offset) => takeBytes(entry, work, chunk, offset),
      stop: () => options.isClosed() || (entry.interrupt && !folded && !work.replaced),
    });
    if (result.type === "gone") {
      // The file is back, and the watcher will not report it again.
      if (entry.seen !== seen) return await readNow(entry, folded);
      if (!entry.gone) options.markGone(entry);
      return;
    }
    const { reading } = work;
    if (result.stopped && work.from_start && !entry.identity) {
      entry.id = work.file_id;
      entry.partial_identity = result.identity;
    }
    if (!reading || (result.stopped && work.from_start)) return;
    if (reading.window?.count_from === Number.POSITIVE_INFINITY) {
      if (work.replaced) reindex(entry, reading, work.file_id);
      // The place belonged to a segment of the earlier content.
      if (work.replaced && tail?.checkpoint) return await readNow(entry, folded);
      reading.identity = result.identity;
      entry.read_at = now();
      commit(entry, reading, work.from_start);
      return retain(entry, reading, timing.idle);
    }
    if (result.stopped) {
      entry.identity = result.identity;
      return;
    }
    // Without the start of the step, the reader would start a new turn and never end the open step.
    if (work.from_start && reading.window && !huge && !reading.knows_step)
      return await readNow(entry, folded, look_back * 4);
    await finishRead(entry, reading, result.identity, work);
  }

  /** The window of a reading that begins inside the file. */
  function windowOf(
    entry: SessionFile,
    {
      from,
      huge,
      replaced,
      tail,
    }: { from: number; huge: boolean; replaced: boolean; tail: Tail | undefined },
  ): ReadingWindow {
    return {
      from,
      count_from: replaced ? Number.POSITIVE_INFINITY : (entry.identity?.size ?? Number.POSITIVE_INFINITY),
      was_ended: huge && entry.identity !== undefined && isOver(entry.identity),
      rowOf: (id) => indexed.get(id),
      leadingMarkers: () => [],
      ...(tail &&
        windowOfTail(
          replaced ? { byte: tail.byte, is_indexed: false, transcriptOf: () => undefined } : tail,
        )),
    };
  }

  async function takeBytes(entry: SessionFile, work: Work, chunk: Uint8Array, offset: number): Promise<void> {
    if (isArchivable(entry) && !(await archive.append(work.file_id, offset, chunk)))
      options.enqueueBackfill(entry);
    await work.reading?.decoder.write(chunk);
    if (work.reading) {
      if (!work.from_start) commit(entry, work.reading, false);
      else if (!entry.done && !work.reading.window) sessions.preview(entry, work.reading.builders.values());
    }
    entry.progress = offset + chunk.length;
  }

  /** Publishes a file that was read to its end. */
  async function finishRead(
    entry: SessionFile,
    reading: Reading,
    identity: FileIdentity,
    work: Work,
  ): Promise<void> {
    if (isCompressed(entry.path)) {
      await reading.decoder.end();
      reading.ended = true;
    }
    if (work.from_start || entry.side_stamp !== work.side_stamp) await readSide(entry, reading);
    finishLastLine(entry, reading, identity.modified_at);
    if (work.replaced) sessions.replaceContent(entry, reading.builders, work.file_id);
    entry.identity = identity;
    entry.read_at = now();
    delete reading.identity;
    delete entry.partial_identity;
    entry.done = true;
    options.onRead(entry);
    archive.entryChanged(entry);
    commit(entry, reading, work.from_start);
    retain(entry, reading, work.from_start && !work.known_before ? RECENT_MS : timing.idle);
    if (!reading.folding) reloadViewed(entry);
    // The file changed while it was read, so its last known state may be older or newer than the content that was read.
    if (isStale(entry) && entry.seen && entry.seen.modified_at > identity.modified_at) {
      void run(entry, () => (isStale(entry) ? read(entry, false) : undefined));
    }
  }

  /** Whether the file was not modified for a while, so that its reader is not kept. */
  const isQuiet = (entry: SessionFile) => now() - modifiedAt(entry) > Math.min(RECENT_MS, timing.idle);

  /**
   * Whether only the end of the file is read again when it grows. Its reader is not kept, because a reader's memory grows with
   * the bytes that it has read.
   */
  const isLong = ({ seen }: SessionFile) => seen !== undefined && seen.size >= 2 * LOOK_BACK;

  /** Whether more files are queued than readers are kept, so that this reader would be evicted before it is used. */
  const isOneOfMany = () => options.waiting() > MAX_READERS;

  /** Whether the file was unmodified for so long that an inferred end may have been counted. */
  const isOver = (identity: FileIdentity) => now() - identity.modified_at > timing.close;

  /** Starts indexing again because a huge file was replaced. */
  function reindex(entry: SessionFile, reading: Reading, file_id: number) {
    sessions.replaceContent(entry, reading.builders, file_id);
    delete entry.identity;
    entry.done = false;
    background_index?.begin(entry);
  }

  /** Reloads a viewed session that was found in another file: a copy replaced a deleted file. */
  function reloadViewed(entry: SessionFile) {
    if (!hasViewer(entry)) return;
    void run(entry, () =>
      hasViewer(entry) && !entry.gone && !entry.reading?.folding ? read(entry, true) : undefined,
    );
  }

  async function readSide(entry: SessionFile, reading: Reading) {
    await loadSide(entry);
    if (entry.side_text !== undefined) reading.take(reading.reader.readSide(entry.side_text));
  }

  async function readArchive(entry: SessionFile): Promise<void> {
    const content = await openContent(entry, archive);
    if (!content) return;
    const { reading, is_tail } = await readArchived(entry, content, {
      startReading: (window) => readingOf(entry, true, window),
      segments: options.segments,
      rowOf: (id) => indexed.get(id),
      isClosed: options.isClosed,
    });
    // A truncated archive does not change the rows of the list.
    if (!is_tail) for (const id of entry.sessions) if (!reading.builders.has(id)) return;
    commit(entry, reading, true);
    retain(entry, reading, 0);
  }

  return {
    read,
    idFor,
    readPreview: (entry) => readPreview(entry, sessions, () => readingOf(entry, false)),
    indexing: (entry) => background_index?.readingOf(entry),
    readArchive,
    async showIndexed(entry) {
      const isViewed = [...entry.sessions].some((id) => indexed.get(id)?.view !== undefined);
      if (entry.reading?.window?.lacks_beginning !== true || !isViewed) return;
      delete entry.reading;
      if (entry.gone) await readArchive(entry);
      else await read(entry, true);
    },
    end(entry) {
      const { reading } = entry;
      if (!reading || reading.ended) return;
      reading.close();
      reading.ended = true;
      commit(entry, reading, false);
    },
    emitFrames,
    isViewed,
    finalizeView: views.finalizeView,
    evictViews: views.evictViews,
    evictReaders,
  };
}

/** Whether the reader of a file can continue where it stopped. */
function canContinue({ path, reading }: SessionFile, folding: boolean, huge: boolean): boolean {
  return (
    reading !== undefined &&
    !reading.ended &&
    !isCompressed(path) &&
    (!folding || reading.folding) &&
    // A reader that counts nothing belongs to a file whose rows are read by another thread.
    (huge || reading.window?.count_from !== Number.POSITIVE_INFINITY)
  );
}
