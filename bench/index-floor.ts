import { readFileSync } from "node:fs";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/**
 * The baseline of indexing: two threads, as in the daemon, that read the files, split them into lines, and decode and parse each
 * line without further processing. Run directly, this file is one of the threads. Resolves with the seconds since the threads
 * started.
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

/** Splits bytes into lines, and decodes and parses them. */
export function decodeAndParse(bytes: Buffer): void {
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf("\n", from);
    const end = newline === -1 ? bytes.length : newline;
    parse(bytes.toString("utf8", from, end));
    from = end + 1;
  }
}

export function parse(line: string): void {
  try {
    JSON.parse(line);
  } catch {
    // Blank, or two records on a line: invalid lines cost as much.
  }
}

if (!isMainThread) {
  // The cast is safe: the data comes from `parseByTwoThreads`.
  for (const path of workerData as string[]) decodeAndParse(readFileSync(path));
  parentPort?.postMessage("done");
}
