import { Worker } from "node:worker_threads";
import type { StoreJob } from "./log-writer.ts";

/** A job as it is sent to the thread, which has the formats itself. */
export type LogJob = Omit<StoreJob, "snapshots">;
export type ToLogWorker = LogJob & { number: number };
export type FromLogWorker = { number: number; changed: string[] } | { number: number; error: string };

/** Next to this file in the sources and next to the bundle in the package. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./log-worker.ts" : "./log-worker.js",
  import.meta.url,
);
/** Idle time after which the thread ends, in milliseconds. It caches the content of the logs. */
const IDLE_MS = 60_000;

/** Reads stores and writes record logs on a separate thread, because both block. */
export interface LogThread {
  /** Returns the logs that changed. Rejects if the store cannot be read or a log cannot be written. */
  update(job: LogJob): Promise<string[]>;
  close(): Promise<void>;
}

export function createLogThread(): LogThread {
  let worker: Worker | undefined;
  let idle_timer: NodeJS.Timeout | undefined;
  let next = 1;
  const waiting = new Map<number, { resolve(changed: string[]): void; reject(error: Error): void }>();

  function start(): Worker {
    if (worker) return worker;
    const started = new Worker(PROGRAM, { execArgv: [], argv: [] });
    started.unref();
    started.on("message", (message: FromLogWorker) => {
      const job = waiting.get(message.number);
      waiting.delete(message.number);
      if ("error" in message) job?.reject(new Error(message.error));
      else job?.resolve(message.changed);
      if (waiting.size === 0) idle_timer = setTimeout(() => void end(), IDLE_MS).unref();
    });
    const fail = (error: Error) => {
      if (worker !== started) return;
      worker = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.on("error", fail);
    started.on("exit", () => fail(new Error("The thread that reads agents' stores has ended.")));
    worker = started;
    return started;
  }

  async function end(): Promise<void> {
    clearTimeout(idle_timer);
    const ending = worker;
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error("The daemon is shutting down."));
    waiting.clear();
    await ending?.terminate();
  }

  return {
    update(job) {
      clearTimeout(idle_timer);
      const number = next++;
      const done = new Promise<string[]>((resolve, reject) => waiting.set(number, { resolve, reject }));
      start().postMessage({ ...job, number } satisfies ToLogWorker);
      return done;
    },
    close: end,
  };
}
