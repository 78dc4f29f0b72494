import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import type { SessionLinkFacts } from "../../sources/contract.ts";
import type { FileIdentity } from "../../store/contract.ts";
import type { SourceUpdate } from "../../store/index/contract.ts";
import type { Followed } from "../files/follow.ts";
import type { IndexReport, IndexTarget } from "../index/index-writer.ts";
import type { SessionBuilder } from "./reading.ts";

/** A file to read completely, only for its rows. */
export interface IndexJob {
  path: string;
  /** A format id. */
  format: string;
  known?: FileIdentity;
  /** Text of the side file. */
  side_text?: string;
  /** A file last modified before this time is complete: a torn last line is shown as such. Milliseconds. */
  close_before: number;
  /** Last known size in bytes. */
  size: number;
  /** Present: the parts are indexed too, under this key. */
  parts?: PartsJob;
}

/** How the parts of a file are indexed. */
export interface PartsJob {
  key: string;
  target: IndexTarget;
  side_stamp?: string;
  /**
   * Present: only the parts are wanted. Then a huge file is read from the start of its last indexed segment. The rows of its
   * sessions, by their listed ids.
   */
  known_rows?: IndexedRow[];
}

/** The row of a session that another thread read. */
export type IndexedRow = Pick<SessionBuilder, "id" | "summary" | "open_calls">;
/** The result of reading a file: its rows, and the facts that link its runs. */
export interface Indexed {
  result: Followed;
  /** By the session ids in the file. */
  rows: IndexedRow[];
  facts: SessionLinkFacts[];
  /** Milliseconds that reading took, without waiting for a thread. */
  duration: number;
}

export interface IndexHandlers {
  /** Called first if the file is not the known one. */
  replaced(): void;
  /** Reports that all bytes before `end` were read. Returns `true` to stop the job. */
  progress(end: number): boolean;
  preview(rows: readonly IndexedRow[]): void;
}

/**
 * Reads files on worker threads, so that requests and live sessions do not wait. The threads end when idle, which frees their
 * memory.
 */
export interface Indexer {
  /** Rejects if the file cannot be read or its thread ends. */
  index(job: IndexJob, handlers: IndexHandlers): Promise<Indexed>;
  /** Pauses or resumes reading, for more urgent work. */
  pause(): void;
  resume(): void;
  /** Writes rows of a session without a file into the part index. */
  write(target: IndexTarget, update: SourceUpdate): void;
  close(): Promise<void>;
}

/** A message from the daemon to a thread. `number` identifies the job, also in replies. */
export type ToIndexWorker =
  | { type: "index"; number: number; job: IndexJob }
  | { type: "stop"; number: number }
  | { type: "write"; target: IndexTarget; update: SourceUpdate }
  | { type: "pause" }
  | { type: "resume" };
/** A message from a thread about a job. `end` or `failed` comes last. */
export type FromIndexWorker =
  | { type: "replaced"; number: number }
  | { type: "progress"; number: number; end: number; rows?: IndexedRow[] }
  | ({ type: "end"; number: number } & Indexed)
  | { type: "failed"; number: number; message: string }
  | IndexReport;

interface Job {
  handlers: IndexHandlers;
  resolve(indexed: Indexed): void;
  reject(error: Error): void;
  size: number;
  /** The key for its parts in the index. */
  key: string | undefined;
}

/** Each thread takes about 60 MB while it reads. */
const MAX_THREADS = 2;
/** Queued bytes per thread above which another thread is started. */
const LOAD_PER_THREAD_BYTES = 1024 * 1024;

/** Next to this file in the sources and next to the bundle in the package. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./index-worker.ts" : "./index-worker.js",
  import.meta.url,
);

/** Idle time after which a thread ends. Milliseconds. */
const IDLE_MS = 2_000;

/** `report`: called after writes to the part index. */
export function createIndexer(report: (report: IndexReport) => void = () => {}): Indexer {
  const most = Math.min(MAX_THREADS, availableParallelism());
  const threads = new Set<Thread>();
  let paused = false;

  /** The thread with the smallest load. Starts another thread while all have a large load. */
  function leastLoaded(): Thread {
    const [least] = [...threads].sort((one, other) => one.load() - other.load());
    if (least && (least.load() < LOAD_PER_THREAD_BYTES || threads.size >= most)) return least;
    const started = startThread(report, () => threads.delete(started));
    threads.add(started);
    if (paused) started.pause();
    return started;
  }

  return {
    index: (job, handlers) => leastLoaded().index(job, handlers),
    write: (target, update) => leastLoaded().write(target, update),
    pause() {
      paused = true;
      for (const thread of threads) thread.pause();
    },
    resume() {
      paused = false;
      for (const thread of threads) thread.resume();
    },
    async close() {
      await Promise.all([...threads].map((thread) => thread.close()));
    },
  };
}

interface Thread extends Indexer {
  /** Bytes of its queued files. */
  load(): number;
}

/** `ended`: called when the thread accepts no more jobs; may be called several times. */
function startThread(report: (report: IndexReport) => void, ended: () => void): Thread {
  const jobs = new Map<number, Job>();
  /** Sources whose rows the thread has received but not written yet. */
  const unwritten = new Set<string>();
  let next = 1;
  let idle_timer: NodeJS.Timeout | undefined;
  // V8 reads this flag when it creates the thread's heap. With the daemon's own 4 MB, many short-lived objects would survive the
  // next collection, and reading would take 1.5 times as long. With 16 MB it is hardly faster, and takes 40 MB more.
  setFlagsFromString("--max-semi-space-size=8");
  const worker = new Worker(PROGRAM, { execArgv: [], argv: [] });
  worker.unref();
  const post = (message: ToIndexWorker) => worker.postMessage(message);
  worker.on("message", receive);
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("The thread that reads files has ended.")));

  function fail(error: Error): void {
    ended();
    clearTimeout(idle_timer);
    for (const { reject } of jobs.values()) reject(error);
    jobs.clear();
  }

  function receive(message: FromIndexWorker): void {
    if (message.type === "indexed" || message.type === "index_failed") {
      for (const key of message.keys) unwritten.delete(key);
      report(message);
      rest();
      return;
    }
    const job = jobs.get(message.number);
    if (!job) return;
    switch (message.type) {
      case "replaced":
        job.handlers.replaced();
        return;
      case "progress":
        if (message.rows) job.handlers.preview(message.rows);
        if (job.handlers.progress(message.end)) post({ type: "stop", number: message.number });
        return;
      case "end":
        jobs.delete(message.number);
        job.resolve(message);
        rest();
        return;
      case "failed":
        jobs.delete(message.number);
        if (job.key !== undefined) unwritten.delete(job.key);
        job.reject(new Error(message.message));
        rest();
        return;
      default:
        message satisfies never;
    }
  }

  function rest(): void {
    if (jobs.size > 0 || unwritten.size > 0) return;
    clearTimeout(idle_timer);
    idle_timer = setTimeout(() => void end(), IDLE_MS).unref();
  }

  async function end(): Promise<void> {
    ended();
    await worker.terminate();
  }

  return {
    load: () => [...jobs.values()].reduce((sum, { size }) => sum + size, 0),
    index(job, handlers) {
      clearTimeout(idle_timer);
      const number = next++;
      const indexed = new Promise<Indexed>((resolve, reject) =>
        jobs.set(number, { handlers, resolve, reject, size: job.size, key: job.parts?.key }),
      );
      if (job.parts) unwritten.add(job.parts.key);
      post({ type: "index", number, job });
      return indexed;
    },
    write(target, update) {
      clearTimeout(idle_timer);
      unwritten.add(update.key);
      post({ type: "write", target, update });
    },
    pause: () => post({ type: "pause" }),
    resume: () => post({ type: "resume" }),
    async close() {
      fail(new Error("The daemon is shutting down."));
      await end();
    },
  };
}
