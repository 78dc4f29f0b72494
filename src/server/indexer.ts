import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { SessionLinkFacts } from "../formats/format.ts";
import type { Followed } from "./follow.ts";
import type { Draft } from "./reading.ts";
import type { FileIdentity } from "./store/store.ts";

/** A file to be read from its beginning to its end, into rows alone. */
export interface IndexJob {
  path: string;
  /** A format's id. */
  format: string;
  known?: FileIdentity;
  /** Text of its side file. */
  side_text?: string;
  /** Nobody will write to it any more: what is torn at its end is shown as such. */
  close: boolean;
  /** Bytes that need not be packed for the archive. */
  archived_to: number;
  /** Bytes that it had when it was seen last. */
  size: number;
}

export type IndexedRow = Pick<Draft, "id" | "summary" | "open_calls">;
export interface Indexed {
  result: Followed;
  /** By the ids that the file itself gives its sessions. */
  rows: IndexedRow[];
  facts: SessionLinkFacts[];
}

export interface IndexHandlers {
  /** As in `followFile`. */
  begin(replaced: boolean): void;
  /**
   * The bytes as they stand in the file, valid until it resolves, when more may come; `true`: the job ends here.
   * `packed`: the same for the archive, where they are not in it yet.
   */
  bytes(bytes: Uint8Array, offset: number, packed: Uint8Array | undefined): Promise<boolean>;
  preview(rows: readonly IndexedRow[]): void;
}

/**
 * Reads files on threads of their own, so that neither requests nor live sessions wait for them, and so that the memory that
 * reading takes is given back: the threads end when there is nothing to read.
 */
export interface Indexer {
  /** Rejects when the file cannot be read, or its thread ended. */
  index(job: IndexJob, handlers: IndexHandlers): Promise<Indexed>;
  close(): Promise<void>;
}

export type ToIndexWorker =
  | { type: "index"; number: number; job: IndexJob }
  /** `buffer`: that of the bytes, for others. */
  | { type: "taken"; number: number; stop: boolean; buffer: ArrayBuffer };
export type FromIndexWorker =
  | { type: "begin"; number: number; replaced: boolean }
  | {
      type: "bytes";
      number: number;
      bytes: Uint8Array<ArrayBuffer>;
      offset: number;
      packed?: Uint8Array<ArrayBuffer>;
      rows?: IndexedRow[];
    }
  | ({ type: "end"; number: number } & Indexed)
  | { type: "failed"; number: number; message: string };

interface Job {
  handlers: IndexHandlers;
  resolve(indexed: Indexed): void;
  reject(error: Error): void;
  size: number;
}

/** Each takes some 30 MB while it reads. */
const MOST_THREADS = 2;
/** Bytes that a thread has to read before another is worth its memory. */
const MUCH = 1024 * 1024;

/** The sources run as they are; in the package all of the daemon is one file, which knows when it is this thread. */
const PROGRAM = import.meta.url.endsWith(".ts")
  ? new URL("./index-worker.ts", import.meta.url)
  : new URL(import.meta.url);

/** `idle_ms`: how long a thread waits for more. */
export function createIndexer({ idle_ms = 2_000 }: { idle_ms?: number } = {}): Indexer {
  const most = Math.min(MOST_THREADS, availableParallelism());
  const threads = new Set<Thread>();

  /** The thread that has the least to do; one more while all of them have much. */
  function idlest(): Thread {
    const [least] = [...threads].sort((one, other) => one.load() - other.load());
    if (least && (least.load() < MUCH || threads.size >= most)) return least;
    const started = startThread(idle_ms, () => threads.delete(started));
    threads.add(started);
    return started;
  }

  return {
    index: (job, handlers) => idlest().index(job, handlers),
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
function startThread(idle_ms: number, ended: () => void): Thread {
  const jobs = new Map<number, Job>();
  let next = 1;
  let idle_timer: NodeJS.Timeout | undefined;
  const worker = new Worker(PROGRAM, { execArgv: [], argv: [] });
  worker.unref();
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
    const job = jobs.get(message.number);
    if (!job) return;
    switch (message.type) {
      case "begin":
        job.handlers.begin(message.replaced);
        return;
      case "bytes": {
        if (message.rows) job.handlers.preview(message.rows);
        const { number } = message;
        const { buffer } = message.bytes;
        const taken = (stop: boolean) =>
          worker.postMessage({ type: "taken", number, stop, buffer } satisfies ToIndexWorker, [buffer]);
        job.handlers.bytes(message.bytes, message.offset, message.packed).then(taken, (error: unknown) => {
          jobs.delete(number);
          taken(true);
          job.reject(error instanceof Error ? error : new Error(String(error)));
          rest();
        });
        return;
      }
      case "end":
        jobs.delete(message.number);
        job.resolve(message);
        rest();
        return;
      case "failed":
        jobs.delete(message.number);
        job.reject(new Error(message.message));
        rest();
        return;
      default:
        message satisfies never;
    }
  }

  function rest(): void {
    if (jobs.size > 0) return;
    clearTimeout(idle_timer);
    idle_timer = setTimeout(() => void end(), idle_ms).unref();
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
        jobs.set(number, { handlers, resolve, reject, size: job.size }),
      );
      worker.postMessage({ type: "index", number, job } satisfies ToIndexWorker);
      return indexed;
    },
    async close() {
      fail(new Error("The daemon ends."));
      await end();
    },
  };
}
