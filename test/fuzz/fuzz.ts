import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Corpora } from "./target.ts";
import type { Batch, WorkerMessage, WorkerOptions } from "./worker.ts";

export interface FuzzOptions {
  /** Total duration for all targets. */
  seconds: number;
  /** The same seed tries the same cases, as many as the time allows. */
  seed: number;
  corpora: Corpora;
  /** The file that exports `targets`; absent: all of this folder. */
  targets?: string;
  /** Only targets whose name contains this. */
  only?: string;
  /** Starts at one case of the seed, as named by a finding. */
  path?: string;
  /** Where findings are written. */
  folder: string;
  /** Cases of a target that are tried before it is another target's turn. Each target gets at least one batch. Default: 25. */
  batch?: number;
  /** CPU that one case may take, in milliseconds. */
  slowest_ms?: number;
  onFinding?(finding: Finding): void;
}

export interface Finding {
  target: string;
  seed: number;
  /** The failing case's path below the seed. */
  path: string;
  error: string;
  input: unknown;
  /** Where it was written. */
  file: string;
}

export interface FuzzResult {
  /** Cases tried, by target. */
  cases: Record<string, number>;
  findings: Finding[];
}

/** Number of findings after which a target is no longer tried. */
const ENOUGH = 5;
/** A thread whose case takes this many times the allowed CPU is terminated. Faster cases report themselves. */
const TERMINATION_FACTOR = 5;
/** The same for elapsed time, for a case that waits forever. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Tries damaged and generated input on all readers of foreign input, in a separate thread that is terminated when a case does not
 * return. Each target gets the same time.
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { seconds, seed, folder, only, batch: cases = 25, slowest_ms = 1_000 } = options;
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const result: FuzzResult = { cases: {}, findings: [] };
  const spent = new Map<string, number>();
  const batches = new Map<string, number>();

  const report = (found: Omit<Finding, "file">): void => {
    // The path grows with each shrinking step; the file has the complete path.
    const name = `${found.target.replaceAll(/[^a-z-]+/gi, "-")}-${found.seed}-${found.path.replaceAll(":", ".").slice(0, 150)}.json`;
    const file = join(folder, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, JSON.stringify(found, null, 2));
    const finding = { ...found, file };
    result.findings.push(finding);
    options.onFinding?.(finding);
  };

  let thread = await start();
  const targets = thread.targets.filter((name) => only === undefined || name.includes(only));
  if (targets.length === 0)
    throw new Error(`No target is called ${only}; there are: ${thread.targets.join(", ")}`);
  for (const name of targets) spent.set(name, 0);
  const until = performance.now() + seconds * 1_000;
  try {
    // On a busy machine, the time does not suffice for a batch of each target.
    while (performance.now() < until || targets.some((name) => !batches.has(name))) {
      const [target] =
        [...spent].filter(([name]) => isWorthwhile(name)).sort(([, a], [, b]) => a - b)[0] ?? [];
      if (target === undefined) break;
      const number = batches.get(target) ?? 0;
      batches.set(target, number + 1);
      const batch: Batch = {
        target,
        seed: (seed + number) | 0,
        cases,
        ...(options.path === undefined ? {} : { path: options.path }),
      };
      const started = performance.now();
      const answer = await ask(batch);
      spent.set(target, (spent.get(target) ?? 0) + performance.now() - started);
      result.cases[target] = (result.cases[target] ?? 0) + answer.cases;
      if (answer.finding !== undefined) report({ target, seed: batch.seed, ...answer.finding });
      if (options.path !== undefined) break;
    }
  } finally {
    await thread.worker.terminate();
  }
  return result;

  function isWorthwhile(name: string): boolean {
    return result.findings.filter(({ target }) => target === name).length < ENOUGH;
  }

  async function start(): Promise<{ worker: Worker; targets: string[] }> {
    const data: WorkerOptions = {
      corpora: options.corpora,
      targets: options.targets ?? join(import.meta.dirname, "targets.ts"),
      begun,
      slowest_ms,
    };
    const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: data });
    const message = await next(worker);
    if (message.type !== "ready") throw new Error("The worker did not begin with its targets");
    return { worker, targets: message.targets };
  }

  /** The worker's answer to a batch. A missing answer is a finding, and the worker is terminated. */
  async function ask(batch: Batch): Promise<WorkerMessage & { type: "done" }> {
    const first = Atomics.load(begun, 0);
    const { worker } = thread;
    worker.postMessage(batch);
    const answer = await Promise.race([next(worker), hang(worker)]);
    if (answer.type === "done") return answer;
    if (answer.type === "ready") throw new Error("The worker began twice");
    await worker.terminate();
    thread = await start();
    const path = String(Math.max(0, Atomics.load(begun, 0) - first - 1));
    thread.worker.postMessage({ ...batch, path, only: true } satisfies Batch);
    const sample = await next(thread.worker);
    const input = sample.type === "done" ? sample.finding?.input : undefined;
    return {
      type: "done",
      cases: 0,
      finding: { path, error: `no end in sight after ${answer.after}`, input },
    };
  }

  /** Resolves when the worker has been at one case for too long. */
  async function hang(worker: Worker): Promise<{ type: "hang"; after: string }> {
    let at = Atomics.load(begun, 0);
    let since = performance.now();
    let cpu = await cpuOf(worker);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 250).unref());
      if (thread.worker !== worker) return new Promise(() => undefined);
      const now = Atomics.load(begun, 0);
      if (now !== at) {
        at = now;
        since = performance.now();
        cpu = await cpuOf(worker);
        continue;
      }
      const waited = performance.now() - since;
      if (waited < slowest_ms * TERMINATION_FACTOR) continue;
      const used = (await cpuOf(worker)) - cpu;
      if (used > slowest_ms * TERMINATION_FACTOR)
        return { type: "hang", after: `${Math.round(used)} ms of CPU` };
      if (waited > LONGEST_WAIT_MS) return { type: "hang", after: `${Math.round(waited)} ms` };
    }
  }
}

/** CPU of a thread in milliseconds; 0 if it has ended. */
async function cpuOf(worker: Worker): Promise<number> {
  const usage = await worker.cpuUsage().catch(() => undefined);
  return usage === undefined ? 0 : (usage.user + usage.system) / 1_000;
}

function next(worker: Worker): Promise<WorkerMessage> {
  return new Promise((resolve, reject) => {
    const forget = (): void => {
      worker.off("message", onMessage);
      worker.off("error", onError);
    };
    const onMessage = (message: WorkerMessage): void => {
      forget();
      resolve(message);
    };
    const onError = (error: unknown): void => {
      forget();
      reject(error);
    };
    worker.on("message", onMessage);
    worker.on("error", onError);
  });
}
