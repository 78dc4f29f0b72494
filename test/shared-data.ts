import { existsSync } from "node:fs";
import { resolve } from "node:path";

/**
 * A path in the folder of real sessions that some machines have beside this repository, or `undefined` if it does not exist.
 * Tests that use it skip themselves: `describe.skipIf(!sharedData())`.
 */
export function sharedData(...segments: string[]): string | undefined {
  const path = resolve(import.meta.dirname, "../../shared", ...segments);
  return existsSync(path) ? path : undefined;
}
