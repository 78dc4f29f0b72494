import type { FileIdentity } from "../../store/contract.ts";
import { isSame, openRegular, readAt } from "../files/follow.ts";
import type { ArchiveWriter } from "./archive-writer.ts";

/** Bytes per read. */
const BLOCK = 256 * 1024;
/** Bytes of a file that are copied before other background work on the file can run. */
const TURN = 4 * 1024 * 1024;

/** What the backfill needs to know about a session file. */
interface BackfillFile {
  readonly id: number;
  readonly path: string;
  readonly sample: boolean;
  readonly gone: boolean;
  readonly done: boolean;
  /** Whether a viewer waits for other work on the file. */
  readonly interrupt: boolean;
  /** The file's identity when it was last read. Absent: never read. */
  readonly identity?: FileIdentity;
}

/** Completes archives that lack bytes, and removes duplicates. */
interface ArchiveBackfill<Entry> {
  add(entry: Entry): void;
  /**
   * No session uses the content archived under this file id. It is removed once the file's own archive begins with exactly these
   * bytes.
   */
  replacedBy(file_id: number, by: Entry): void;
  /** Archives files that were read but not archived, one block at a time. Then removes duplicates. */
  work(): Promise<void>;
}

export function createArchiveBackfill<Entry extends BackfillFile>(options: {
  archive: ArchiveWriter<Entry>;
  isClosed(): boolean;
  /** Whether a file should be archived at all. */
  isArchivable(entry: Entry): boolean;
  run(entry: Entry, work: () => Promise<boolean>): Promise<boolean | undefined>;
  /** Work that a viewer waits for: resolves when it has ended. `undefined`: there is none. */
  urgentWork(): Promise<void> | undefined;
}): ArchiveBackfill<Entry> {
  const { archive, isClosed, isArchivable, run, urgentWork } = options;
  const incomplete = new Set<Entry>();
  /** Files whose earlier content is archived, by the file id of that content. */
  const replaced = new Map<number, Entry>();
  const buffer = new Uint8Array(BLOCK);

  /** Archives some missing bytes. `true`: there is more. */
  async function archiveSome(entry: Entry): Promise<boolean> {
    const { identity } = entry;
    if (entry.gone || !identity || archive.archivedTo(entry.id) >= identity.size) return false;
    const opened = await openRegular(entry.path);
    if (!opened) return false;
    try {
      if (!(await isSame(opened, identity))) return false;
      for (let copied = 0; copied < TURN; ) {
        const at = archive.archivedTo(entry.id);
        if (isClosed() || at >= identity.size) return false;
        const bytes = await readAt(opened.handle, at, Math.min(BLOCK, identity.size - at), buffer);
        if (bytes.length === 0 || !(await archive.append(entry.id, at, bytes))) return false;
        copied += bytes.length;
        if (entry.interrupt || urgentWork()) return true;
      }
      return true;
    } finally {
      await opened.handle.close();
    }
  }

  /**
   * Removes archives that are contained in another one, which happens if a file reappears unchanged with another inode or device.
   */
  async function removeCopies(): Promise<void> {
    const long_enough = [...replaced].flatMap(([replaced_id, { id, done }]) => {
      const length = archive.archivedTo(replaced_id);
      return done && length > 0 && archive.archivedTo(id) >= length
        ? [{ id, former_id: replaced_id, length }]
        : [];
    });
    if (long_enough.length === 0) return;
    // Make sure that the compared bytes and the rows that refer to the new id are on disk before anything is removed.
    await archive.persist();
    for (const { id, former_id: replaced_id, length } of long_enough) {
      if (isClosed() || !archive.writable || archive.failing) return;
      replaced.delete(replaced_id);
      if (await beginsWith(id, replaced_id, length)) archive.fileRemoved(replaced_id);
    }
  }

  async function beginsWith(file_id: number, replaced_id: number, length: number): Promise<boolean> {
    for (let at = 0; at < length; ) {
      if (isClosed()) return false;
      const expected = await readArchived(replaced_id, at, length);
      const found = await readArchived(file_id, at, at + expected.length);
      // Chunk boundaries may differ between the two.
      const compared = Math.min(expected.length, found.length);
      if (compared === 0 || Buffer.compare(expected.subarray(0, compared), found.subarray(0, compared)) !== 0)
        return false;
      at += compared;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return true;
  }

  /** Returns nothing if the archive is damaged. Bytes that cannot be compared are kept. */
  async function readArchived(file_id: number, from: number, to: number): Promise<Uint8Array> {
    try {
      return await archive.read(file_id, from, to);
    } catch {
      return new Uint8Array();
    }
  }

  return {
    add: (entry) => incomplete.add(entry),
    replacedBy: (file_id, by) => replaced.set(file_id, by),
    async work() {
      let checked = 0;
      for (const entry of incomplete) {
        if (isClosed() || !archive.writable || archive.failing) return;
        incomplete.delete(entry);
        for (let more = isArchivable(entry); more; ) {
          await urgentWork();
          more = (await run(entry, () => archiveSome(entry))) ?? false;
        }
        if (archive.failing) incomplete.add(entry);
        checked += 1;
        if (checked % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      if (incomplete.size === 0 && !archive.failing) await archive.backfilled();
      await removeCopies();
    },
  };
}
