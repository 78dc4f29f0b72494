import type { Frame } from "../../model/frames/frame.ts";
import type { FileIdentity } from "../../store/contract.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import { openContent } from "../files/file-content.ts";
import { followFile, isCompressed, readBeginning } from "../files/follow.ts";
import type { SessionList } from "../sessions/list.ts";
import { fieldsOf } from "../sessions/row.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { OpenSession } from "../sessions/sessions.ts";
import { createBackgroundIndex } from "./background-index.ts";
import { createFileSessions } from "./file-sessions.ts";
import type { Indexer, IndexJob } from "./index-threads.ts";
import type { PlaceOfSegment } from "./large-files/segment-places.ts";
import { isHuge, lastSegment } from "./large-files/segments.ts";
import type { Links } from "./links.ts";
import { growthStart, tailStart } from "./read-start.ts";
import { createReaderCache, MAX_READERS } from "./reader-cache.ts";
import { createReading, type Reading, type ReadingWindow, type SessionBuilder } from "./reading.ts";
import type { RunMarkers } from "./run-markers.ts";
import { type IndexedSession, isArchivable, isStale, modifiedAt, type SessionFile } from "./session-file.ts";
import { loadSide } from "./side-file.ts";
import type { Status } from "./status.ts";
import type { SessionsTiming } from "./timing.ts";
import { createTranscriptViews } from "./transcript-views.ts";

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
  /** The markers before the first part of a huge file's last segment, which begins at the byte `from`. */
  leadingMarkers(id: string, segment: number, from: number, at: number): Frame[];
  placeOf: PlaceOfSegment;
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
const ARCHIVE_BLOCK = 256 * 1024;
/** Bytes from the start of a file that are read for a preview. */
const PREVIEW_BYTES = 64 * 1024;
/** A longer file is read only until its sessions are named, in chunks of this size. */
const PREVIEW_CHUNK = 8 * 1024;

export function createFileReader(options: FileReaderOptions): FileReader {
  const { timing, now, archive, links, list, status, indexed, detached_views, owners, run } = options;
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
  const { idFor, stateFor } = sessions;
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
      idFor: (id) => idFor(entry, id),
      isViewed,
      onFrames: options.onFrames,
    });

  async function read(entry: SessionFile, folded: boolean): Promise<void> {
    if (!folded || !background_index) return await readNow(entry, folded);
    await background_index.first(() => readNow(entry, true));
  }

  async function readNow(entry: SessionFile, folded: boolean, look_back = LOOK_BACK): Promise<void> {
    const folding = folded || hasViewer(entry);
    const current = entry.reading;
    const huge =
      background_index !== undefined && isHuge(entry.path, entry.seen?.size ?? entry.identity?.size ?? 0);
    const onward =
      !folded &&
      current !== undefined &&
      !current.ended &&
      !isCompressed(entry.path) &&
      (!folding || current.folding) &&
      // A reader that counts nothing belongs to a file whose rows are read by another thread.
      (huge || current.window?.count_from !== Number.POSITIVE_INFINITY);
    if (huge && !entry.identity) {
      background_index.begin(entry);
      if (!folding) return;
    } else if (background_index && !huge && !folding && !current && !entry.identity) {
      if (isQuiet(entry) || isLong(entry) || isOneOfMany()) return await background_index.read(entry);
    }
    const { seen } = entry;
    const seen_side = seen?.side_stamp;
    const known_before = entry.done;
    const work = { reading: current, from_start: false, replaced: false, file_id: entry.id };
    const known = current?.identity ?? entry.identity ?? entry.partial_identity;
    const tail = huge && !onward ? await tailStart(entry, archive, options.placeOf) : undefined;
    const from =
      tail?.checkpoint?.byte ??
      tail?.byte ??
      (huge || onward || folding ? undefined : await growthStart(entry, look_back, isOver));
    const result = await followFile({
      path: entry.path,
      ...(known && { known }),
      ...(from !== undefined && { from }),
      onward,
      begin(replaced) {
        work.from_start = true;
        work.reading = readingOf(
          entry,
          folding,
          from === undefined
            ? undefined
            : {
                from,
                ...(tail?.checkpoint && !replaced && { checkpoint: tail.checkpoint }),
                ...(tail && { use_from: tail.byte }),
                count_from: replaced
                  ? Number.POSITIVE_INFINITY
                  : (entry.identity?.size ?? Number.POSITIVE_INFINITY),
                was_ended: huge && entry.identity !== undefined && isOver(entry.identity),
                rowOf: (id) => indexed.get(id),
                leadingMarkers: (id, at) =>
                  tail ? options.leadingMarkers(id, tail.segment, tail.byte, at) : [],
              },
        );
        work.replaced = replaced;
        if (replaced) work.file_id = options.newFileId();
      },
      async bytes(chunk, offset) {
        if (isArchivable(entry) && !(await archive.append(work.file_id, offset, chunk)))
          options.enqueueBackfill(entry);
        await work.reading?.decoder.write(chunk);
        if (work.reading) {
          if (!work.from_start) commit(entry, work.reading, false);
          else if (!entry.done && !work.reading.window)
            sessions.preview(entry, work.reading.builders.values());
        }
        entry.progress = offset + chunk.length;
      },
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
    if (isCompressed(entry.path)) {
      await reading.decoder.end();
      reading.ended = true;
    }
    if (work.from_start || entry.side_stamp !== seen_side) await readSide(entry, reading);
    finishLastLine(entry, reading, result.identity.modified_at);
    if (work.replaced) sessions.replaceContent(entry, reading.builders, work.file_id);
    entry.identity = result.identity;
    entry.read_at = now();
    delete reading.identity;
    delete entry.partial_identity;
    entry.done = true;
    options.onRead(entry);
    archive.entryChanged(entry);
    commit(entry, reading, work.from_start);
    retain(entry, reading, work.from_start && !known_before ? RECENT_MS : timing.idle);
    if (!reading.folding) reloadViewed(entry);
    // The file changed while it was read, so its last known state may be older or newer than the content that was read.
    if (isStale(entry) && entry.seen && entry.seen.modified_at > result.identity.modified_at) {
      void run(entry, () => (isStale(entry) ? read(entry, false) : undefined));
    }
  }

  async function readPreview(entry: SessionFile): Promise<void> {
    const isKnown = entry.done || entry.identity !== undefined || entry.partial_identity !== undefined;
    if (isKnown || entry.sessions.size > 0 || entry.gone || isCompressed(entry.path)) return;
    const beginning = await readBeginning(entry.path, PREVIEW_BYTES);
    if (beginning === undefined) return;
    const reading = readingOf(entry, false);
    const isWhole = beginning.length < PREVIEW_BYTES;
    const isNamed = () =>
      [...reading.builders.values()].some(({ summary }) => summary.first_prompt !== undefined);
    for (let at = 0; at < beginning.length && (isWhole || !isNamed()); at += PREVIEW_CHUNK)
      await reading.decoder.write(beginning.subarray(at, at + PREVIEW_CHUNK));
    const rows = [...reading.builders.values()].map(({ id, summary, open_calls }) => {
      const row = fieldsOf(summary);
      if (isWhole) return { id, summary: row, open_calls };
      row.last_activity_at = Math.max(row.last_activity_at, modifiedAt(entry));
      // The end of the last turn was not read yet, and a new file may be a copy of an old one. Until the file is read, only the
      // process registries can say that it runs.
      if (row.status === "running") row.status = "completed";
      return { id, summary: row, open_calls: [] };
    });
    sessions.preview(entry, rows);
    sessions.setFacts(entry, reading.facts());
  }

  /** Not modified for a while, so its reader is not kept. */
  const isQuiet = (entry: SessionFile) => now() - modifiedAt(entry) > Math.min(RECENT_MS, timing.idle);

  /** When it grows, only its end is read again. Its reader is not kept, because a reader's memory grows with what it read. */
  const isLong = ({ seen }: SessionFile) => seen !== undefined && seen.size >= 2 * LOOK_BACK;

  /** More files are waiting than readers are kept, so this reader would be evicted before it is used. */
  const isOneOfMany = () => options.waiting() > MAX_READERS;

  /** Unmodified for so long that an inferred end may have been counted. */
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

  /** Reads a last line without a newline once the file is no longer written. */
  function finishLastLine(entry: SessionFile, reading: Reading, modified_at: number) {
    clearTimeout(entry.last_line_timer);
    if (reading.ended) {
      reading.close();
      return;
    }
    const quiet_ms = now() - modified_at;
    if (quiet_ms > timing.close) {
      const states = [...entry.sessions].flatMap((id) => indexed.get(id) ?? []);
      reading.close(states.some(status.wasStopped));
      reading.ended = true;
    } else if (quiet_ms > timing.last_line) {
      reading.take(reading.reader.settle());
    } else {
      entry.last_line_timer = setTimeout(() => {
        void run(entry, () => {
          if (options.isClosed() || entry.reading !== reading || reading.ended) return;
          reading.take(reading.reader.settle());
          commit(entry, reading, false);
        });
      }, timing.last_line);
    }
  }

  /** Publishes the result of a reading. `from_start`: it replaces the result of an earlier one. */
  function commit(entry: SessionFile, reading: Reading, from_start: boolean) {
    const counted = reading.window?.count_from !== Number.POSITIVE_INFINITY;
    if (from_start && reading.folding && reading.window) {
      // Also for sessions without records in the last segment: their markers lead to the earlier segments.
      for (const id of entry.sessions)
        reading.leadingMarkers(id, indexed.get(id)?.summary.last_activity_at ?? 0);
    }
    for (const builder of reading.builders.values()) {
      const state = stateFor(entry, builder.id);
      if (counted) {
        state.summary = fieldsOf(builder.summary);
        state.open_calls = builder.open_calls;
        archive.sessionChanged(builder.id);
      }
      state.builder = builder;
      list.mark(builder.id);
      // A session may continue in a file that was empty for a while. Its viewers get the new transcript.
      const is_replaced = state.view !== undefined && state.view.buffer !== builder.buffer;
      if (builder.buffer && (from_start || is_replaced))
        views.replaceTranscript(state, builder, builder.buffer);
    }
    if (from_start && !reading.window) {
      for (const id of [...entry.sessions]) if (!reading.builders.has(id)) options.removeSession(id);
    }
    if (counted) sessions.setFacts(entry, reading.facts(), reading.window !== undefined);
    for (const builder of reading.builders.values()) emitFrames(builder);
    // Viewers of a reloaded session get the new row at the same time.
    if (!from_start || !hasViewer(entry)) return;
    list.publish();
    // The eviction takes this reading into account.
    entry.reading = reading;
    views.evictUnwatched(entry);
  }

  async function readArchive(entry: SessionFile): Promise<void> {
    const content = await openContent(entry, archive);
    if (!content) return;
    const is_segment = isHuge(entry.path, content.size);
    const segment = lastSegment(content.size);
    const place = is_segment ? await options.placeOf(entry, content, segment) : { byte: 0 };
    const from = place.checkpoint?.byte ?? place.byte;
    const reading = readingOf(
      entry,
      true,
      is_segment
        ? {
            from,
            ...(place.checkpoint && { checkpoint: place.checkpoint }),
            use_from: place.byte,
            count_from: Number.POSITIVE_INFINITY,
            was_ended: false,
            rowOf: (id) => indexed.get(id),
            leadingMarkers: (id, at) => options.leadingMarkers(id, segment, place.byte, at),
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
    // A truncated archive does not change the rows of the list.
    if (!is_segment) for (const id of entry.sessions) if (!reading.builders.has(id)) return;
    commit(entry, reading, true);
    retain(entry, reading, 0);
  }

  return {
    read,
    idFor,
    readPreview,
    indexing: (entry) => background_index?.readingOf(entry),
    readArchive,
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
