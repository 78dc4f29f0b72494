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

/** Lines cut out of bytes, decoded and parsed, and nothing made of them. */
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
    // Blank, or two records on a line: what is torn costs as much.
  }
}

if (!isMainThread) {
  // What `parseByTwoThreads` gave it.
  for (const path of workerData as string[]) decodeAndParse(readFileSync(path));
  parentPort?.postMessage("done");
}
