import { Worker } from "node:worker_threads";
import type { SearchPage, SearchRequest } from "../../store/index/contract.ts";
import type { IndexState } from "./index-state.ts";

export interface ToSearchWorker {
  number: number;
  path: string;
  request: SearchRequest;
}
export type FromSearchWorker =
  | { type: "page"; number: number; page: SearchPage; took: number }
  | { type: "failed"; number: number; message: string; broken: boolean };

/** A regular expression may take for ever: so long a search may take, in milliseconds. */
const LONGEST_MS = 10_000;
/** The thread ends after so long without a search. */
const IDLE_MS = 120_000;

const PROGRAM = import.meta.url.endsWith(".ts")
  ? new URL("./search-worker.ts", import.meta.url)
  : new URL(import.meta.url);

/** It took too long: the query is to blame, not the daemon. */
export class SearchTimeout extends Error {
  constructor() {
    super("The search took longer than 10 seconds and was ended.");
    this.name = "SearchTimeout";
  }
}

/** Searches on a thread of its own, so that nothing waits for a search, and none can hang the daemon. */
export interface SearchThread {
  /** Rejects with a `SearchTimeout`, or where the index cannot be read. */
  search(request: SearchRequest): Promise<{ page: SearchPage; took: number }>;
  close(): Promise<void>;
}

export function createSearchThread(state: IndexState): SearchThread {
  let worker: Worker | undefined;
  let generation = 0;
  let idle_timer: NodeJS.Timeout | undefined;
  let next = 1;
  const waiting = new Map<
    number,
    {
      resolve(found: { page: SearchPage; took: number }): void;
      reject(error: Error): void;
      timer: NodeJS.Timeout;
    }
  >();

  function start(): Worker {
    // One that had opened the file before would search what was deleted.
    if (worker && generation === state.generation) return worker;
    if (worker) end(worker, new Error("The search index is being rebuilt. Search again."));
    generation = state.generation;
    const started = new Worker(PROGRAM, { workerData: "search", execArgv: [], argv: [] });
    started.unref();
    started.on("message", (message: FromSearchWorker) => receive(message));
    started.on("error", (error) => end(started, error instanceof Error ? error : new Error(String(error))));
    worker = started;
    return started;
  }

  function receive(message: FromSearchWorker): void {
    const asked = waiting.get(message.number);
    if (message.type === "failed" && message.broken) state.rebuild(generation);
    if (!asked) return;
    waiting.delete(message.number);
    clearTimeout(asked.timer);
    if (message.type === "page") asked.resolve(message);
    else asked.reject(new Error(message.message));
    rest();
  }

  function rest(): void {
    clearTimeout(idle_timer);
    if (waiting.size > 0) return;
    idle_timer = setTimeout(() => {
      if (worker) end(worker, new Error("The search thread ended."));
    }, IDLE_MS).unref();
  }

  function end(ended: Worker, error: Error): void {
    if (worker !== ended) return;
    worker = undefined;
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    waiting.clear();
    void ended.terminate();
  }

  return {
    search(request) {
      const thread = start();
      clearTimeout(idle_timer);
      const number = next++;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => end(thread, new SearchTimeout()), LONGEST_MS);
        waiting.set(number, { resolve, reject, timer });
        thread.postMessage({ number, path: state.path, request } satisfies ToSearchWorker);
      });
    },
    async close() {
      clearTimeout(idle_timer);
      if (worker) end(worker, new Error("The daemon is shutting down."));
    },
  };
}
