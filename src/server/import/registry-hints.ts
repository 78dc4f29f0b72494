import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import type { Format } from "../../sources/contract.ts";

/** Agents write an entry in more than one step: a look waits so long after the first, in milliseconds. */
const SETTLE_MS = 10;

/**
 * Asks for a look at the agents' registers as soon as the system says that one changed. Only a hint: looks at intervals find all
 * changes either way.
 */
export function watchRegistries(
  roots: readonly { format: Format; path: string }[],
  onChange: () => void,
): {
  /** Starts to watch folders that were not there before. */
  look(): void;
  close(): void;
} {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const changeSoon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      onChange();
    }, SETTLE_MS);
  };
  function look(): void {
    for (const { format, path } of roots) {
      const folder = format.registry && join(path, format.registry.folder);
      if (folder === undefined || watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, changeSoon);
        const end = (): void => {
          watcher.close();
          watchers.delete(folder);
        };
        watcher.on("error", end);
        watchers.set(folder, watcher);
      } catch {
        // It does not exist yet, or the system has no more watchers to give.
      }
    }
  }
  look();
  return {
    look,
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
