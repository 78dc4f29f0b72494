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
  /** The bytes as they stand in the file, valid until it resolves, when more may come; `true`: the job ends here. */
  bytes(bytes: Uint8Array, offset: number): Promise<boolean>;
  preview(rows: readonly IndexedRow[]): void;
}

/**
 * Reads files on a thread of its own, so that neither requests nor live sessions wait for them, and so that the memory that
 * reading takes is given back: the thread ends when there is nothing to read.
 */
export interface Indexer {
  /** Rejects when the file cannot be read, or the thread ended. */
  index(job: IndexJob, handlers: IndexHandlers): Promise<Indexed>;
  close(): Promise<void>;
}

export type ToIndexWorker =
  | { type: "index"; number: number; job: IndexJob }
  /** `buffer`: that of the bytes, for others. */
  | { type: "taken"; number: number; stop: boolean; buffer: ArrayBuffer };
export type FromIndexWorker =
  | { type: "begin"; number: number; replaced: boolean }
  | { type: "bytes"; number: number; bytes: Uint8Array<ArrayBuffer>; offset: number; rows?: IndexedRow[] }
  | ({ type: "end"; number: number } & Indexed)
  | { type: "failed"; number: number; message: string };

/** The sources run as they are; in the package all of the daemon is one file, which knows when it is this thread. */
const PROGRAM = import.meta.url.endsWith(".ts")
  ? new URL("./index-worker.ts", import.meta.url)
  : new URL(import.meta.url);

interface Job {
  handlers: IndexHandlers;
  resolve(indexed: Indexed): void;
  reject(error: Error): void;
}

/** `idle_ms`: how long the thread waits for more. */
export function createIndexer({ idle_ms = 2_000 }: { idle_ms?: number } = {}): Indexer {
  const jobs = new Map<number, Job>();
  let worker: Worker | undefined;
  let next = 1;
  let idle_timer: NodeJS.Timeout | undefined;

  function startWorker(): Worker {
    const started = new Worker(PROGRAM, { execArgv: [], argv: [] });
    started.unref();
    started.on("message", (message: FromIndexWorker) => receive(started, message));
    const ended = (error: Error) => {
      if (worker !== started) return;
      worker = undefined;
      for (const { reject } of jobs.values()) reject(error);
      jobs.clear();
    };
    started.on("error", ended);
    started.on("exit", () => ended(new Error("The thread that reads files ended.")));
    return started;
  }

  function receive(from: Worker, message: FromIndexWorker): void {
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
          from.postMessage({ type: "taken", number, stop, buffer } satisfies ToIndexWorker, [buffer]);
        job.handlers.bytes(message.bytes, message.offset).then(taken, (error: unknown) => {
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
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  }

  return {
    index(job, handlers) {
      clearTimeout(idle_timer);
      worker ??= startWorker();
      const number = next++;
      const indexed = new Promise<Indexed>((resolve, reject) =>
        jobs.set(number, { handlers, resolve, reject }),
      );
      worker.postMessage({ type: "index", number, job } satisfies ToIndexWorker);
      return indexed;
    },
    async close() {
      clearTimeout(idle_timer);
      const waiting = [...jobs.values()];
      jobs.clear();
      for (const { reject } of waiting) reject(new Error("The daemon ends."));
      await end();
    },
  };
}
