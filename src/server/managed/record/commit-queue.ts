import { daemonText } from "../../../model/text/daemon-texts.ts";
import { type Notice, noticeOf, remedyOf, StoreError } from "../../../store/contract.ts";
import type {
  HistoryStore,
  OpenedHistory,
  SessionWrite,
  StoredSession,
} from "../../../store/history/contract.ts";

/** Changes within this time are one commit, in milliseconds. Longer if the disk is slow (see `commit`). */
const BATCH_MS = 3;
const MAX_BATCH_MS = 60;
/** Pause between retries after a failed write, in milliseconds. */
const RETRY_MS = 1_000;

/** One session's part of a commit. */
export interface Taken {
  /** The session's id. */
  id: string;
  /** Absent: there is nothing to write, but `done` is called in order. */
  write?: SessionWrite;
  /** Called when it is on disk. */
  done(): void;
}

/** A session with something to write. */
export interface Writer {
  /** The session's id. */
  readonly id: string;
  /** Called just before a commit. Returns what is new since the last call, which is then written exactly once. */
  take(): Taken | undefined;
}

/** Writes the history of all managed sessions, in shared transactions. */
export interface CommitQueue {
  /** Whether there is a store and this daemon has its lock. */
  readonly writable: boolean;
  /** Whether another daemon has the lock. */
  readonly taken: boolean;
  readonly notices: readonly Notice[];
  /** The reason why pending changes cannot be written. Also one of the notices. */
  readonly write_error: Notice | undefined;
  /** See `OpenedDatabase`. */
  retry?(): boolean;
  readonly path: string;
  /** The sessions that an earlier daemon stored. */
  readonly sessions: readonly StoredSession[];
  /** See `HistoryStore`. */
  history(session_id: string): Promise<string[]>;
  pending(session_id: string): Promise<string[]>;
  /** Includes the writer in the next commit. */
  changed(writer: Writer): void;
  /** Writes pending changes now, if the disk is usable. */
  flush(): Promise<void>;
  /** Resolves when all pending changes of a session are on disk. May take long while the disk fails. */
  stored(session_id: string): Promise<void>;
  /** Writes pending changes and closes the store. */
  close(): Promise<void>;
}

/** `retry`: see `RETRY_MS`. */
export function createCommitQueue(opened: OpenedHistory, { retry = RETRY_MS } = {}): CommitQueue {
  let { store } = opened;
  const writable = store !== undefined && !opened.read_only;
  const writers = new Set<Writer>();
  /** Taken from writers but not on disk yet, in order. */
  let unwritten: Taken[] = [];
  let waiting: { id: string; resolve: () => void }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let committing: Promise<void> | undefined;
  let last_duration = 0;
  let write_error: Notice | undefined;

  function schedule(delay: number) {
    timer ??= setTimeout(() => void flush(), delay);
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    while (committing) await committing;
    if (!store) return;
    committing = commit(store).finally(() => {
      committing = undefined;
    });
    await committing;
  }

  /**
   * Commits all pending changes in one transaction. At most half of the time is spent writing, so that other work can continue.
   */
  async function commit(to: HistoryStore): Promise<void> {
    for (const writer of writers) {
      const taken = writer.take();
      if (taken) unwritten.push(taken);
    }
    writers.clear();
    const started = performance.now();
    const { written, left, error } = await writeAll(to, unwritten);
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
      schedule(retry);
    }
  }

  function failed(error: unknown) {
    const cause = error instanceof StoreError ? error : new StoreError("refused", String(error));
    write_error = noticeOf(
      "error",
      daemonText("sessions_not_written", { error: cause.message }),
      remedyOf(cause),
    );
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
    sessions: opened.sessions,
    history: async (id) => (await store?.history(id)) ?? [],
    pending: async (id) => (await store?.pending(id)) ?? [],
    changed(writer) {
      if (!writable || !store) return;
      writers.add(writer);
      schedule(Math.min(MAX_BATCH_MS, Math.max(BATCH_MS, last_duration)));
    },
    flush,
    stored(id) {
      const is_waiting = [...writers, ...unwritten].some((one) => one.id === id);
      return is_waiting ? new Promise((resolve) => waiting.push({ id, resolve })) : Promise.resolve();
    },
    async close() {
      if (writable) await flush();
      clearTimeout(timer);
      timer = undefined;
      const closing = store;
      store = undefined;
      await closing?.close();
    },
  };
}

/** Writes all sessions in one transaction. If that fails because of some session, writes each on its own. */
async function writeAll(
  store: HistoryStore,
  taken: readonly Taken[],
): Promise<{ written: readonly Taken[]; left: Taken[]; error?: unknown }> {
  const writesOf = (some: readonly Taken[]) => some.flatMap(({ write }) => write ?? []);
  try {
    const writes = writesOf(taken);
    if (writes.length > 0) await store.write(writes);
    return { written: taken, left: [] };
  } catch (error) {
    const kind = error instanceof StoreError ? error.kind : "refused";
    if (kind !== "refused") return { written: [], left: [...taken], error };
    const left = new Set<string>();
    for (const [id, own] of Map.groupBy(taken, ({ id }) => id)) {
      try {
        const writes = writesOf(own);
        if (writes.length > 0) await store.write(writes);
      } catch {
        left.add(id);
      }
    }
    const isLeft = ({ id }: Taken) => left.has(id);
    return { written: taken.filter((one) => !isLeft(one)), left: taken.filter(isLeft), error };
  }
}
