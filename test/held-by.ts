import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a mutant runs is recorded, which takes memory of its own. */
export const canMeasure = process.env.VERBATIM_MUTATION_FILES === undefined;

/** Bytes of the heap that are held by what this makes. */
export function heldBy(make: () => unknown): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("No collector to call.");
  collect();
  const { heapUsed } = process.memoryUsage();
  const made = [make()];
  collect();
  const now = process.memoryUsage().heapUsed;
  // It is alive until now.
  made.pop();
  return now - heapUsed;
}
