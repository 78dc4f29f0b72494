import { type FSWatcher, watch as watchFolder } from "node:fs";
import { basename, join, sep } from "node:path";

/** The folders whose file system events are received. */
export interface FolderEvents {
  paths(): string[];
  listen(folder: string): void;
  forget(folder: string): void;
}

/** The system's limit on watched folders is shared with the user's other programs. */
const MAX_WATCHED_FOLDERS = 4_000;

/** Receives file system events. `onEvent`: called with paths that may have changed. `hints`: `false` receives none. */
export function createFolderEvents(hints: boolean, onEvent: (path: string) => void): FolderEvents {
  const folders = new Map<string, FSWatcher>();

  function listen(folder: string) {
    if (!hints || folders.has(folder) || folders.size >= MAX_WATCHED_FOLDERS) return;
    try {
      const watcher = watchFolder(folder, { persistent: false });
      folders.set(folder, watcher);
      watcher.on("change", (event, name) => {
        if (name === null) return;
        // The event for the folder itself has the folder's own name. A new folder at its path would not be reported by this
        // watcher.
        if (event === "rename" && name.toString() === basename(folder)) {
          forgetBelow(folder);
          onEvent(folder);
        }
        onEvent(join(folder, name.toString()));
      });
      watcher.on("error", () => forget(folder));
    } catch {
      // Too many watched folders, or this one was just deleted: the next complete scan covers it.
    }
  }

  function forget(folder: string) {
    folders.get(folder)?.close();
    folders.delete(folder);
  }

  function forgetBelow(folder: string) {
    for (const path of folders.keys()) if (path === folder || path.startsWith(folder + sep)) forget(path);
  }

  return { paths: () => [...folders.keys()], listen, forget };
}
