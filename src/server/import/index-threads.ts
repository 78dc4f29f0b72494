import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import type { SessionLinkFacts } from "../../sources/contract.ts";
import type { FileIdentity } from "../../store/contract.ts";
import type { SourceUpdate } from "../../store/index/contract.ts";
import type { Followed } from "../files/follow.ts";
import type { IndexReport, IndexTarget } from "../index/index-writer.ts";
import type { SessionBuilder } from "./reading.ts";

/** A file to be read from its beginning to its end, into rows alone. */
export interface IndexJob {
  path: string;
  /** A format's id. */
  format: string;
  known?: FileIdentity;
  /** Text of its side file. */
  side_text?: string;
  /** Nobody writes any more to what was written to last before this, in milliseconds: what is torn at its end is shown as such. */
  close_before: number;
  /** Bytes that it had when it was seen last. */
  size: number;
  /** Its parts are indexed, too, under this key. */
  parts?: { key: string; target: IndexTarget; side_stamp?: string };
}

/** What the list needs of a session that another thread reads. */
export type IndexedRow = Pick<SessionBuilder, "id" | "summary" | "open_calls">;
/** What came of reading a file: its rows, and what links its runs. */
export interface Indexed {
  result: Followed;
  /** By the ids that the file itself gives its sessions. */
  rows: IndexedRow[];
  facts: SessionLinkFacts[];
}

export interface IndexHandlers {
  /** It is not the file that was known. Told before anything else. */
  replaced(): void;
  /** Reports progress: all bytes before this one were read. Returns `true` if the job is to end. */
  progress(end: number): boolean;
  preview(rows: readonly IndexedRow[]): void;
}

/**
 * Reads files on threads of their own, so that neither requests nor live sessions wait for them, and so that the memory that
 * reading takes is given back: the threads end when there is nothing to read.
 */
export interface Indexer {
  /** Rejects when the file cannot be read, or its thread ended. */
  index(job: IndexJob, handlers: IndexHandlers): Promise<Indexed>;
  /** Reading stands still from here on, or goes on: something else has to be done first. */
  pause(): void;
  resume(): void;
  /** Writes rows of a session that no file holds into the part index. */
  write(target: IndexTarget, update: SourceUpdate): void;
  close(): Promise<void>;
}

/** A message from the daemon to a thread. `number` names the job, in replies too. */
export type ToIndexWorker =
  | { type: "index"; number: number; job: IndexJob }
  | { type: "stop"; number: number }
  | { type: "write"; target: IndexTarget; update: SourceUpdate }
  | { type: "pause" }
  | { type: "resume" };
/** A message from a thread about a job; `end` or `failed` comes last. */
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
  /** Under which its parts are indexed. */
  key: string | undefined;
}

/** Each takes some 60 MB while it reads. */
const MAX_THREADS = 2;
/** Bytes that a thread has to read before another is worth its memory. */
const MUCH = 1024 * 1024;

/** The sources run as they are; in the package all of the daemon is one file, which knows when it is this thread. */
const PROGRAM = import.meta.url.endsWith(".ts")
  ? new URL("./index-worker.ts", import.meta.url)
  : new URL(import.meta.url);

/** How long a thread waits for more. */
const IDLE_MS = 2_000;

/** `report`: called with what was written into the part index. */
export function createIndexer(report: (report: IndexReport) => void = () => {}): Indexer {
  const most = Math.min(MAX_THREADS, availableParallelism());
  const threads = new Set<Thread>();
  let paused = false;

  /** The thread that has the least to do; one more while all of them have much. */
  function idlest(): Thread {
    const [least] = [...threads].sort((one, other) => one.load() - other.load());
    if (least && (least.load() < MUCH || threads.size >= most)) return least;
    const started = startThread(report, () => threads.delete(started));
    threads.add(started);
    if (paused) started.pause();
    return started;
  }

  return {
    index: (job, handlers) => idlest().index(job, handlers),
    write: (target, update) => idlest().write(target, update),
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
  /** Bytes of the files that it has been given to read. */
  load(): number;
}

/** `ended`: called when nothing can be given to it any more; once or several times. */
function startThread(report: (report: IndexReport) => void, ended: () => void): Thread {
  const jobs = new Map<number, Job>();
  /** Sources whose rows the thread has, and has not written yet. */
  const unwritten = new Set<string>();
  let next = 1;
  let idle_timer: NodeJS.Timeout | undefined;
  // V8 reads it when it makes the thread's heap; that of the daemon itself stays small, to save memory. In 4 MB much of what
  // is made of a file's lines would outlive the next collection: reading would take half as long again.
  setFlagsFromString("--max-semi-space-size=16");
  const worker = new Worker(PROGRAM, { execArgv: [], argv: [] });
  worker.unref();
  const post = (message: ToIndexWorker) => worker.postMessage(message);
  worker.on("message", receive);
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("The thread that reads files ended.")));

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
      fail(new Error("The daemon ends."));
      await end();
    },
  };
}
