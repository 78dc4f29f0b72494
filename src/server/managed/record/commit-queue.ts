import { type Notice, remedyOf, StoreError } from "../../../store/contract.ts";
import {
  type HistoryStore,
  openHistoryStore,
  type SessionWrite,
  type StoredSession,
} from "./history-store.ts";

/** Changes within this time are one commit, in milliseconds; longer where the disk is slow (see `commit`). */
const BATCH_MS = 3;
const MAX_BATCH_MS = 60;
/** Between two tries to write to a disk that failed. */
const RETRY_MS = 1_000;

/** What one session gives to a commit. */
export interface Taken {
  /** The session's. */
  id: string;
  /** Absent: nothing of it has to be kept, but `done` comes in its order. */
  write?: SessionWrite;
  /** It is on disk. */
  done(): void;
}

/** A session that has something to write. */
export interface Writer {
  /** The session's. */
  readonly id: string;
  /** What there is since it was asked last, made right before the commit. Whatever it gave will be written, once. */
  take(): Taken | undefined;
}

/** The history of all sessions that this daemon runs, written together. */
export interface CommitQueue {
  /** There is a store, and it is this daemon's. */
  readonly writable: boolean;
  /** Another daemon has its lock. */
  readonly taken: boolean;
  readonly notices: readonly Notice[];
  /** Why what waits cannot be written now; one of the notices. */
  readonly write_error: Notice | undefined;
  /** See `OpenedDatabase`. */
  retry?(): boolean;
  readonly path: string;
  load(): StoredSession[];
  history(session_id: string): string[];
  pending(session_id: string): string[];
  /** The writer has something for the next commit. */
  changed(writer: Writer): void;
  /** Writes what waits now, if the disk takes it. */
  flush(): void;
  /** Resolves when all that waits now of a session is on disk, which, while the disk fails, may be long. */
  stored(session_id: string): Promise<void>;
  /** Writes what waits and closes the store. */
  close(): void;
}

export function createCommitQueue(options: {
  folder: string;
  now: () => number;
  retry?: number;
  check_limit?: number;
}): CommitQueue {
  const opened = openHistoryStore(options);
  let store: HistoryStore | undefined = opened.store;
  const writable = store !== undefined && !opened.read_only;
  const writers = new Set<Writer>();
  /** Taken from writers, and not on disk yet, in order. */
  let unwritten: Taken[] = [];
  let waiting: { id: string; resolve: () => void }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let last_duration = 0;
  let write_error: Notice | undefined;

  function schedule(delay: number) {
    timer ??= setTimeout(commit, delay);
  }

  /** Everything that waits, in one transaction. Half of the time at most is spent on the disk, so that the rest goes on. */
  function commit() {
    clearTimeout(timer);
    timer = undefined;
    if (!store) return;
    for (const writer of writers) {
      const taken = writer.take();
      if (taken) unwritten.push(taken);
    }
    writers.clear();
    const started = performance.now();
    const { written, left, error } = writeAll(store, unwritten);
    last_duration = performance.now() - started;
    unwritten = left;
    for (const { done } of written) done();
    const unstored = new Set(left.map(({ id }) => id));
    const resolved = waiting.filter(({ id }) => !unstored.has(id));
    waiting = waiting.filter(({ id }) => unstored.has(id));
    for (const { resolve } of resolved) resolve();
    if (error === undefined) write_error = undefined;
    else {
      failed(error);
      schedule(options.retry ?? RETRY_MS);
    }
  }

  function failed(error: unknown) {
    const cause = error instanceof StoreError ? error : new StoreError("refused", String(error));
    write_error = {
      level: "error",
      text: `What the sessions here do cannot be written: ${cause.message}. They wait, and nothing is shown that could be lost.`,
      remedy: remedyOf(cause),
    };
  }

  return {
    writable,
    taken: opened.taken === true,
    get notices() {
      return write_error ? [...opened.notices, write_error] : opened.notices;
    },
    get write_error() {
      return write_error;
    },
    ...(opened.retry && { retry: opened.retry }),
    path: store?.path ?? "",
    load: () => store?.load() ?? [],
    history: (id) => store?.history(id) ?? [],
    pending: (id) => store?.pending(id) ?? [],
    changed(writer) {
      if (!writable || !store) return;
      writers.add(writer);
      schedule(Math.min(MAX_BATCH_MS, Math.max(BATCH_MS, last_duration)));
    },
    flush: commit,
    stored(id) {
      const is_waiting = [...writers, ...unwritten].some((one) => one.id === id);
      return is_waiting ? new Promise((resolve) => waiting.push({ id, resolve })) : Promise.resolve();
    },
    close() {
      if (writable) commit();
      clearTimeout(timer);
      timer = undefined;
      store?.close();
      store = undefined;
    },
  };
}

/** Writes all together; where the store takes them and not some session's, each session's by itself. */
function writeAll(
  store: HistoryStore,
  taken: readonly Taken[],
): { written: readonly Taken[]; left: Taken[]; error?: unknown } {
  const writesOf = (some: readonly Taken[]) => some.flatMap(({ write }) => write ?? []);
  try {
    const writes = writesOf(taken);
    if (writes.length > 0) store.write(writes);
    return { written: taken, left: [] };
  } catch (error) {
    const kind = error instanceof StoreError ? error.kind : "refused";
    if (kind !== "refused") return { written: [], left: [...taken], error };
    const left = new Set<string>();
    for (const [id, own] of Map.groupBy(taken, ({ id }) => id)) {
      try {
        const writes = writesOf(own);
        if (writes.length > 0) store.write(writes);
      } catch {
        left.add(id);
      }
    }
    const isLeft = ({ id }: Taken) => left.has(id);
    return { written: taken.filter((one) => !isLeft(one)), left: taken.filter(isLeft), error };
  }
}
