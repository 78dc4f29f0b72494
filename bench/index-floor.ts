import { readFileSync } from "node:fs";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/**
 * The floor of indexing: two threads, as the daemon has, that read the files, cut their bytes into lines, decode and parse each, and
 * make nothing of them. Run by itself it is one of the threads. Resolves with the seconds that it took from the threads' start.
 */
export async function parseByTwoThreads(paths: readonly string[]): Promise<number> {
  const began = performance.now();
  await Promise.all(
    [0, 1].map(
      (share) =>
        new Promise<void>((resolve, reject) => {
          const own = paths.filter((_, index) => index % 2 === share);
          const thread = new Worker(import.meta.filename, { workerData: own });
          thread.once("message", () => resolve());
          thread.once("error", reject);
        }),
    ),
  );
  return (performance.now() - began) / 1_000;
}

function readAndParse(paths: readonly string[]): void {
  for (const path of paths) {
    const bytes = readFileSync(path);
    for (let from = 0; from < bytes.length; ) {
      const newline = bytes.indexOf("\n", from);
      const end = newline === -1 ? bytes.length : newline;
      JSON.parse(bytes.toString("utf8", from, end));
      from = end + 1;
    }
  }
}

if (!isMainThread) {
  // What `parseByTwoThreads` gave it.
  readAndParse(workerData as string[]);
  parentPort?.postMessage("done");
}
