import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import type { Format } from "../../sources/contract.ts";

/** Agents write an entry in several steps. Time to wait after the first before the registry is read, in milliseconds. */
const SETTLE_MS = 10;

/**
 * Calls `onChange` soon after an agent's process registry changed. Only a hint: the registries are also read at intervals, which
 * finds all changes.
 */
export function watchRegistries(
  roots: readonly { format: Format; path: string }[],
  onChange: () => void,
): {
  /** Starts to watch folders that did not exist before. */
  watchNew(): void;
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
  function watchNew(): void {
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
        // The folder does not exist yet, or the system has no free watchers.
      }
    }
  }
  watchNew();
  return {
    watchNew,
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
