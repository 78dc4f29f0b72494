import { resolve } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import fc from "fast-check";
import { type Plugin, runnerImport } from "vite";
import type { CaseWatch, Corpora, Target } from "./target.ts";

/** The worker's options. */
export interface WorkerOptions {
  corpora: Corpora;
  /** The file that exports `targets`. */
  targets: string;
  /** Counts the started cases; the watchdog reads it while this thread is busy. */
  begun: Int32Array<SharedArrayBuffer>;
  /** CPU of this thread that one case may take. */
  slowest_ms: number;
}
/** One batch of cases. With `only`, the input is returned and nothing is checked. */
export interface Batch {
  target: string;
  seed: number;
  cases: number;
  /** Where in the batch to start, as fast-check writes it. */
  path?: string;
  only?: boolean;
}
export type WorkerMessage =
  | { type: "ready"; targets: string[] }
  | { type: "done"; cases: number; finding?: { path: string; error: string; input: unknown } };

// The options with which this worker was created.
const options = workerData as WorkerOptions;
let before = process.threadCpuUsage();
const watch: CaseWatch = {
  begin() {
    Atomics.add(options.begun, 0, 1);
    before = process.threadCpuUsage();
  },
  end() {
    const { user, system } = process.threadCpuUsage(before);
    const milliseconds = Math.round((user + system) / 1_000);
    if (milliseconds > options.slowest_ms) throw new Error(`a case took ${milliseconds} ms of CPU`);
  },
};

/** Components import their styles, which the runner cannot load and no law is about. */
const withoutStyles: Plugin = {
  name: "without-styles",
  enforce: "pre",
  resolveId: (id) => (id.endsWith(".css") ? "\0no-styles" : undefined),
  load: (id) => (id === "\0no-styles" ? "" : undefined),
};

// Loaded by Vite, because Node does not read JSX.
const { module } = await runnerImport<{ targets(watch: CaseWatch, corpora: Corpora): Target[] }>(
  resolve(options.targets),
  {
    configFile: false,
    logLevel: "error",
    oxc: { jsx: { runtime: "automatic" } },
    plugins: [withoutStyles],
  },
);
const targets = module.targets(watch, options.corpora);
parentPort?.on("message", (batch: Batch) => {
  parentPort?.postMessage(run(batch));
});
parentPort?.postMessage({ type: "ready", targets: targets.map(({ name }) => name) } satisfies WorkerMessage);

function run({ target: name, seed, cases, path, only }: Batch): WorkerMessage {
  const target = targets.find((each) => each.name === name);
  if (target === undefined) throw new Error(`There is no target ${name}`);
  if (only === true) {
    const [[input] = []] = fc.sample(target.property, {
      seed,
      numRuns: 1,
      ...(path === undefined ? {} : { path }),
    });
    return { type: "done", cases: 0, finding: { path: path ?? "", error: "", input } };
  }
  // None of the properties is asynchronous.
  const result = fc.check(target.property, {
    seed,
    numRuns: cases,
    ...(path === undefined ? {} : { path }),
    interruptAfterTimeLimit: 20_000,
    markInterruptAsFailure: false,
  }) as fc.RunDetails<[unknown]>;
  if (!result.failed || result.counterexamplePath === null) return { type: "done", cases: result.numRuns };
  const { counterexample, counterexamplePath, errorInstance } = result;
  const error =
    errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
  return {
    type: "done",
    cases: result.numRuns,
    finding: { path: counterexamplePath, error, input: counterexample?.[0] },
  };
}
