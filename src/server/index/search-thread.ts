import { Worker } from "node:worker_threads";
import { CodedError } from "../../model/text/coded-error.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type {
  PastPage,
  PastRequest,
  SearchPage,
  SearchRequest,
  SessionUsage,
  UsageRequest,
} from "../../store/index/contract.ts";
import type { IndexState } from "./index-state.ts";

/** A request to the thread, with the index to search. */
export type ToSearchWorker = { number: number; path: string } & (
  | { type: "search"; request: SearchRequest }
  | { type: "usage"; request: UsageRequest }
  | { type: "past"; request: PastRequest }
);
export type FromSearchWorker =
  | { type: "page"; number: number; page: SearchPage; took: number }
  | { type: "usage"; number: number; usage: SessionUsage[] }
  | { type: "past"; number: number; page: PastPage }
  | { type: "failed"; number: number; message: string; broken: boolean };

/** Maximum duration of a search, in milliseconds, because a regular expression may never end. */
const MAX_SEARCH_MS = 10_000;
/** Idle time after which the thread ends, in milliseconds. */
const IDLE_MS = 120_000;

/** Next to this file in the sources and next to the bundle in the package. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./search-worker.ts" : "./search-worker.js",
  import.meta.url,
);

/** A search that took too long because of its query. */
export class SearchTimeout extends CodedError {
  override readonly name = "SearchTimeout";
  constructor() {
    super(daemonText("search_timeout"));
  }
}

/** Searches on a separate thread, so that a search cannot block the daemon. */
export interface SearchThread {
  /** Rejects with a `SearchTimeout`, or if the index cannot be read. */
  search(request: SearchRequest): Promise<{ page: SearchPage; took: number }>;
  usage(request: UsageRequest): Promise<SessionUsage[]>;
  /** The same for the past of all sessions. */
  past(request: PastRequest): Promise<PastPage>;
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
      resolve(answer: Exclude<FromSearchWorker, { type: "failed" }>): void;
      reject(error: Error): void;
      timer: NodeJS.Timeout;
    }
  >();

  function start(): Worker {
    // A thread with the deleted file open would search old data.
    if (worker && generation === state.generation) return worker;
    if (worker) end(worker, new Error("The search index is being rebuilt. Search again."));
    generation = state.generation;
    const started = new Worker(PROGRAM, { execArgv: [], argv: [] });
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
    if (message.type === "failed") asked.reject(new Error(message.message));
    else asked.resolve(message);
    rest();
  }

  function rest(): void {
    clearTimeout(idle_timer);
    if (waiting.size > 0) return;
    idle_timer = setTimeout(() => {
      if (worker) end(worker, new Error("The search thread has ended."));
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

  function ask(
    question:
      | { type: "search"; request: SearchRequest }
      | { type: "usage"; request: UsageRequest }
      | { type: "past"; request: PastRequest },
  ): Promise<Exclude<FromSearchWorker, { type: "failed" }>> {
    const thread = start();
    clearTimeout(idle_timer);
    const number = next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(thread, new SearchTimeout()), MAX_SEARCH_MS);
      waiting.set(number, { resolve, reject, timer });
      thread.postMessage({ number, path: state.path, ...question } satisfies ToSearchWorker);
    });
  }

  return {
    async search(request) {
      const answer = await ask({ type: "search", request });
      if (answer.type !== "page") throw new Error("The search thread answered another question.");
      return answer;
    },
    async usage(request) {
      const answer = await ask({ type: "usage", request });
      if (answer.type !== "usage") throw new Error("The search thread answered another question.");
      return answer.usage;
    },
    async past(request) {
      const answer = await ask({ type: "past", request });
      if (answer.type !== "past") throw new Error("The search thread answered another question.");
      return answer.page;
    },
    async close() {
      clearTimeout(idle_timer);
      if (worker) end(worker, new Error("The daemon is shutting down."));
    },
  };
}
