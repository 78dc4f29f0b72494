import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import { isCompressed, openRegular } from "../files/follow.ts";
import type { SessionList } from "../sessions/list.ts";
import { isHuge } from "./large-files/segments.ts";
import type { ReadFailures } from "./read-failures.ts";
import { isStale, newSessionFile, type SessionFile, sizeOf } from "./session-file.ts";
import { type FoundFile, isReplaced } from "./watch/found-file.ts";
import type { SessionWatch } from "./watch/watch.ts";

/** The known session files: those on disk, and deleted ones that are archived. */
export interface TrackedFiles {
  /** The files on disk, by path. */
  readonly byPath: ReadonlyMap<string, SessionFile>;
  /** Files that are shown in segments. */
  readonly huge: ReadonlySet<SessionFile>;
  newId(): number;
  /** Reserves a file id that an earlier daemon used. */
  reserveId(id: number): void;
  /** Adds a file that an earlier daemon stored. */
  restore(entry: SessionFile): void;
  /** All files, deleted ones first. */
  all(): SessionFile[];
  onFound(files: readonly FoundFile[]): void;
  onMissing(paths: readonly string[]): void;
  /** Called when the file was read to its end. */
  onRead(entry: SessionFile): void;
  /** Called when a new file took the path of an archived one. */
  onOrphaned(orphan: SessionFile): void;
  markGone(entry: SessionFile): void;
  markGoneUnlessPresent(entry: SessionFile): Promise<void>;
  /** The number of bytes that can be shown: of the file, or of the archive if the file was deleted. */
  shownSize(entry: SessionFile): number;
}

export interface TrackedFilesOptions {
  archive: ArchiveWriter<SessionFile>;
  list: Pick<SessionList, "mark">;
  failures: ReadFailures;
  watch(): SessionWatch;
  isClosed(): boolean;
  /** Reads bytes appended to a file that has a reader. */
  readNow(entry: SessionFile): Promise<void> | undefined;
  enqueueRead(entry: SessionFile): void;
  cancelRead(entry: SessionFile): void;
  enqueueBackfill(entry: SessionFile): void;
  /** Flushes the reader of a deleted file. */
  endReader(entry: SessionFile): void;
  removeSession(id: string): void;
}

/** Tracks the watcher's findings: new, grown, moved and deleted files, and compressed files next to plain ones. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the known files: its functions are short
export function createTrackedFiles(options: TrackedFilesOptions): TrackedFiles {
  const { archive, list, failures, watch, isClosed } = options;
  const entries = new Map<string, SessionFile>();
  /** Deleted files, by id. */
  const gone_files = new Map<number, SessionFile>();
  const by_inode = new Map<string, SessionFile>();
  const huge = new Set<SessionFile>();
  /** The files that others replace, by the path of the other one (`SessionPath.replaced_by`). */
  const replaceable = new Map<string, string>();
  /** New paths for which it is not yet known whether a file was moved there. */
  const pending_arrivals = new Set<Promise<void>>();
  let next_file_id = 1;

  function onFound(files: readonly FoundFile[]) {
    for (const { path, replaced_by } of files)
      if (replaced_by !== undefined) replaceable.set(replaced_by, path);
    for (const file of files) {
      // If both forms of a session exist, the plain one is in use.
      if (isCompressed(file.path) && watch().files.has(plainPath(file.path))) continue;
      if (isReplaced(file, watch().files)) {
        stopReading(file.path);
        continue;
      }
      const other = replaceable.get(file.path);
      // An empty file must not claim the session of the other one.
      if (other !== undefined && file.size === 0) continue;
      if (other !== undefined) stopReading(other);
      stopReading(`${file.path}.zst`);
      const known = entries.get(file.path);
      if (known) notice(known, file);
      else trackArrival(addOrMove(file));
    }
  }

  /** Stops reading a file in whose place another one is read. */
  function stopReading(path: string) {
    const entry = entries.get(path);
    if (entry === undefined) return;
    void failures.run(entry, () => {
      if (!entry.gone) markGone(entry, true);
    });
  }

  function trackArrival(arrival: Promise<void>) {
    pending_arrivals.add(arrival);
    void arrival.finally(() => pending_arrivals.delete(arrival));
  }

  /** Adds a file at a new path: a new file, or a moved one. */
  async function addOrMove(file: FoundFile) {
    const other = by_inode.get(file.inode);
    if (other && other.format === file.format && basename(other.path) === basename(file.path)) {
      if (other.gone || !(await hasInode(other.path, file.inode))) {
        if (entries.get(other.path) === other) entries.delete(other.path);
        gone_files.delete(other.id);
        failures.dismiss(other.path);
        watch().setHot(other.path, false);
        other.path = file.path;
        other.gone = false;
        entries.set(file.path, other);
        // If its sessions were dropped when it disappeared, it has to be read again.
        if (other.sessions.size === 0) delete other.identity;
        markChanged(other);
        notice(other, file);
        return;
      }
    }
    const existing = entries.get(file.path);
    if (existing) return notice(existing, file);
    const entry = newSessionFile(next_file_id++, file.path, file.format, file.kind);
    entries.set(file.path, entry);
    notice(entry, file);
  }

  function notice(entry: SessionFile, file: FoundFile) {
    if (entry.identity?.inode === file.inode && file.size > entry.identity.size) entry.grew = true;
    entry.seen = file;
    entry.sample = file.sample;
    if (file.side !== undefined) entry.side = file.side;
    const was_gone = entry.gone;
    entry.gone = false;
    updateHuge(entry);
    if (was_gone) {
      gone_files.delete(entry.id);
      markChanged(entry);
    }
    if (!isStale(entry)) {
      for (const id of entry.sessions) list.mark(id);
      return;
    }
    if (entry.reading && !entry.reading.ended) {
      void failures.run(entry, () => (isStale(entry) ? options.readNow(entry) : undefined));
    } else {
      options.enqueueRead(entry);
    }
  }

  function onMissing(paths: readonly string[]) {
    const missing = paths
      .flatMap((path) => entries.get(path) ?? [])
      .map((entry) => ({ entry, path: entry.path }));
    for (const path of paths) {
      // The compressed form of the same session may have been ignored until now.
      const compressed = watch().files.get(`${path}.zst`);
      if (compressed) onFound([compressed]);
    }
    if (missing.length > 0) void markGoneUnlessMoved(missing);
  }

  async function markGoneUnlessMoved(missing: readonly { entry: SessionFile; path: string }[]) {
    await watch().rescan();
    await Promise.all(pending_arrivals);
    for (const { entry, path } of missing) {
      void failures.run(entry, async () => {
        if (isClosed() || entry.gone || entry.path !== path) return;
        await markGoneUnlessPresent(entry);
      });
    }
  }

  async function markGoneUnlessPresent(entry: SessionFile) {
    if (!(await exists(entry.path))) return markGone(entry);
    failures.clear(entry);
    options.enqueueBackfill(entry);
    // The folder was named on the command line of an earlier daemon.
    if (!entry.seen) watch().follow(entry);
  }

  /** Number of bytes that can be shown: of the file, or of the archive if the file was deleted. */
  function shownSize(entry: SessionFile): number {
    if (entry.gone) return archive.archivedTo(entry.id);
    // The reader may be ahead of the last known size.
    return Math.max(sizeOf(entry), (entry.reading?.identity ?? entry.identity)?.size ?? 0);
  }

  /** Updates the set of huge files. With it, an unknown id is checked against huge files only, not all sessions. */
  function updateHuge(entry: SessionFile) {
    if (isHuge(entry.path, shownSize(entry))) huge.add(entry);
    else huge.delete(entry);
  }

  /**
   * Marks a file as deleted. Its sessions are shown from the archive, or removed if nothing was archived. `replaced`: another file
   * has them.
   */
  function markGone(entry: SessionFile, replaced = false) {
    entry.gone = true;
    failures.clear(entry);
    updateHuge(entry);
    watch().setHot(entry.path, false);
    if (entries.get(entry.path) === entry) entries.delete(entry.path);
    gone_files.set(entry.id, entry);
    options.cancelRead(entry);
    options.endReader(entry);
    const kept_bytes = archive.archivedTo(entry.id);
    const size = entry.identity?.size ?? 0;
    if (kept_bytes === 0) {
      for (const id of [...entry.sessions]) options.removeSession(id);
      gone_files.delete(entry.id);
    } else if (kept_bytes < size && !replaced) {
      failures.report(entry.path, {
        level: "warning",
        text: `${entry.path}: the file was deleted before it was fully archived: ${kept_bytes} of ${size} bytes are kept.`,
      });
    }
    markChanged(entry);
  }

  function markChanged(entry: SessionFile) {
    archive.entryChanged(entry);
    for (const id of entry.sessions) list.mark(id);
  }

  return {
    byPath: entries,
    huge,
    newId: () => next_file_id++,
    reserveId(id) {
      next_file_id = Math.max(next_file_id, id + 1);
    },
    restore(entry) {
      if (entry.identity) by_inode.set(entry.identity.inode, entry);
      updateHuge(entry);
      if (entry.gone) gone_files.set(entry.id, entry);
      else entries.set(entry.path, entry);
    },
    all: () => [...gone_files.values(), ...entries.values()],
    onFound,
    onMissing,
    onRead(entry) {
      failures.clear(entry);
      if (entry.identity) by_inode.set(entry.identity.inode, entry);
      updateHuge(entry);
    },
    onOrphaned: (orphan) => gone_files.set(orphan.id, orphan),
    markGone,
    markGoneUnlessPresent,
    shownSize,
  };
}

const plainPath = (path: string) => path.slice(0, -".zst".length);

async function hasInode(path: string, inode: string): Promise<boolean> {
  try {
    const state = await lstat(path, { bigint: true });
    return `${state.dev}:${state.ino}` === inode;
  } catch {
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  const opened = await openRegular(path);
  await opened?.handle.close();
  return opened !== undefined;
}
