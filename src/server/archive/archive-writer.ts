import { daemonText } from "../../model/text/daemon-texts.ts";
import type {
  ArchiveContents,
  ArchiveStore,
  OpenedArchive,
  StoredFile,
  StoredSession,
} from "../../store/archive/contract.ts";
import { type Notice, noticeOf, remedyOf, StoreError } from "../../store/contract.ts";
import { createPendingChunks, type PendingChunks } from "./archive.ts";

/** If more bytes than this are pending, they are written at once and reading waits for the disk. */
const PENDING_LIMIT = 2 * 1024 * 1024;
const MAX_PENDING = 8 * 1024 * 1024;

interface ArchiveWriterOptions<Entry> {
  /** Closed by the writer. */
  opened: OpenedArchive;
  /** Pause after a failed write, in milliseconds. */
  retry: number;
  rowOf(entry: Entry): StoredFile | undefined;
  sessionRowOf(id: string): StoredSession | undefined;
  /** Called when pending bytes were lost. They have to be read again from the agents' files. */
  onLoss(): void;
}

/** Writes changes to the store, in batches in the background, and reports failures. */
export interface ArchiveWriter<Entry> {
  /** Whether there is a store and this daemon has its lock. */
  readonly writable: boolean;
  /** Whether a write failed recently, so that the next one is delayed. */
  readonly failing: boolean;
  readonly notices: Notice[];
  /** See `OpenedDatabase`. */
  retry?(): boolean;
  /** The rows that an earlier daemon stored. */
  readonly contents: ArchiveContents;
  entryChanged(entry: Entry): void;
  sessionChanged(id: string): void;
  sessionRemoved(id: string): void;
  /** Stores the row of content that was replaced in its file. It is kept because its bytes are archived. */
  addReplaced(row: StoredFile): void;
  /** Removes the archived bytes of this file id. */
  fileRemoved(file_id: number): void;
  /** Copies bytes of a file into the archive. `false`: there is a gap before them, or the archive cannot be written now. */
  append(file_id: number, start: number, bytes: Uint8Array): Promise<boolean>;
  /** How far a file is archived, including pending bytes. */
  archivedTo(file_id: number): number;
  /** Archived bytes, as `ArchiveStore.read`. */
  read: ArchiveStore["read"];
  /** Writes all pending changes, unless a write failed recently. */
  persist(): Promise<void>;
  /** Call when all bytes lost to failed writes were appended again. Removes the notice once they are written. */
  backfilled(): Promise<void>;
  close(): Promise<void>;
}

/** Writes changes to an opened store. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the pending changes: its functions are short
export function createArchiveWriter<Entry>(options: ArchiveWriterOptions<Entry>): ArchiveWriter<Entry> {
  const { opened } = options;
  let store = opened.store;
  const pending_chunks = store && createPendingChunks(store, opened.contents.archived_to);
  const writable = store !== undefined && !opened.read_only;
  let write_error: Notice | undefined;
  /** Monotonic time. */
  let retry_at = 0;
  let persisting: Promise<void> | undefined;
  let entries = new Set<Entry>();
  let sessions = new Set<string>();
  let removed = new Set<string>();
  let replaced_rows: StoredFile[] = [];
  let removed_files: number[] = [];

  function onWriteError(error: unknown) {
    const cause = error instanceof StoreError ? error : new StoreError("refused", String(error));
    retry_at = performance.now() + options.retry;
    write_error = noticeOf(
      "error",
      daemonText("archive_not_written", { error: cause.message }),
      remedyOf(cause),
    );
  }

  async function writeAll(to: ArchiveStore, from: PendingChunks): Promise<void> {
    const batch = { entries, sessions, removed, superseded: replaced_rows, removed_files };
    entries = new Set();
    sessions = new Set();
    removed = new Set();
    replaced_rows = [];
    removed_files = [];
    try {
      const chunks = await from.take();
      await to.write({
        chunks,
        files: [...batch.superseded, ...[...batch.entries].flatMap((entry) => options.rowOf(entry) ?? [])],
        sessions: [...batch.sessions].flatMap((id) => options.sessionRowOf(id) ?? []),
        // Sessions that came back have a row again.
        removed_sessions: [...batch.removed].filter((id) => !options.sessionRowOf(id)),
        removed_files: batch.removed_files,
      });
      from.written();
    } catch (error) {
      from.failed();
      entries = new Set([...batch.entries, ...entries]);
      sessions = new Set([...batch.sessions, ...sessions]);
      removed = new Set([...batch.removed, ...removed]);
      replaced_rows = [...batch.superseded, ...replaced_rows];
      removed_files = [...batch.removed_files, ...removed_files];
      onWriteError(error);
      options.onLoss();
    }
  }

  async function persist(): Promise<void> {
    while (persisting) await persisting;
    if (!writable || !store || !pending_chunks || performance.now() < retry_at) return;
    const rows = entries.size + sessions.size + removed.size + replaced_rows.length + removed_files.length;
    if (rows + pending_chunks.pendingBytes === 0) return;
    persisting = writeAll(store, pending_chunks).finally(() => {
      persisting = undefined;
    });
    await persisting;
  }

  return {
    writable,
    get failing() {
      return performance.now() < retry_at;
    },
    get notices() {
      return write_error ? [...opened.notices, write_error] : opened.notices;
    },
    ...(opened.retry && { retry: opened.retry }),
    contents: opened.contents,
    entryChanged: (entry) => entries.add(entry),
    sessionChanged: (id) => sessions.add(id),
    sessionRemoved: (id) => removed.add(id),
    addReplaced: (row) => replaced_rows.push(row),
    fileRemoved: (file_id) => removed_files.push(file_id),
    async append(file_id, start, bytes) {
      if (!writable || !pending_chunks || performance.now() < retry_at) return false;
      let accepted = pending_chunks.append(file_id, start, bytes);
      if (pending_chunks.pendingBytes > PENDING_LIMIT && !persisting) void persist();
      if (pending_chunks.pendingBytes > MAX_PENDING) await persist();
      if (!accepted) accepted = pending_chunks.append(file_id, start, bytes);
      return accepted;
    },
    archivedTo: (file_id) => pending_chunks?.end(file_id) ?? 0,
    read: async (file_id, from, to) => (await store?.read(file_id, from, to)) ?? new Uint8Array(),
    persist,
    async backfilled() {
      if (!write_error) return;
      await persist();
      if (performance.now() >= retry_at) write_error = undefined;
    },
    async close() {
      retry_at = 0;
      await persist();
      const closing = store;
      store = undefined;
      await closing?.close();
    },
  };
}
