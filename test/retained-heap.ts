import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The mutation runner records executed code, which takes additional memory. */
export const canMeasure = process.env.VERBATIM_MUTATION_FILES === undefined;

/** Heap bytes retained by the created value. */
export function retainedHeap(make: () => unknown): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("No collector to call.");
  collect();
  const { heapUsed } = process.memoryUsage();
  const made = [make()];
  collect();
  const now = process.memoryUsage().heapUsed;
  // Keeps it alive until here.
  made.pop();
  return now - heapUsed;
}
