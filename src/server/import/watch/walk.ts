import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import type { CodedText } from "../../../model/text/catalog.ts";
import type { FolderEvents } from "./folder-events.ts";
import type { FoundFile } from "./found-file.ts";
import type { Inspector } from "./inspect.ts";
import { pathWithin, type Start } from "./starts.ts";
import { isMissing, whyUnread } from "./why-unread.ts";

/** Session files and readable folders that a scan found. */
export interface Seen {
  files: Set<string>;
  folders: Set<string>;
}

interface WalkOptions {
  inspect: Inspector["inspect"];
  events: FolderEvents;
  known: ReadonlyMap<string, FoundFile>;
  onFound(files: readonly FoundFile[]): void;
  setError(path: string, why: CodedText): void;
  isClosed(): boolean;
}

/** Folders that have many files and no sessions. They are skipped in named folders. */
const SKIPPED = new Set(["node_modules", ".git"]);
/** No agent nests deeper. Also ends a walk through an endless file system. */
const MAX_DEPTH = 16;
/** Concurrent file system calls. The thread pool has four threads, and others need them too. */
export const MAX_CONCURRENT_CALLS = 16;

/** Creates the function that scans everything below a folder and reports what it finds in batches. */
export function createWalk(
  options: WalkOptions,
): (start: Start, folder: string, seen: Seen) => Promise<void> {
  const { events } = options;

  async function walk(start: Start, folder: string, seen: Seen, depth = 0): Promise<void> {
    if (options.isClosed() || depth > MAX_DEPTH) return;
    events.listen(folder);
    let entries: Dirent[];
    try {
      entries = await readdir(folder, { withFileTypes: true });
    } catch (error) {
      if (!isMissing(error)) {
        options.setError(folder, whyUnread(folder, error));
        // The files in an unreadable folder are not reported as deleted.
        seen.folders.add(folder);
        for (const path of options.known.keys()) if (path.startsWith(folder + sep)) seen.files.add(path);
        for (const path of events.paths()) if (path.startsWith(folder + sep)) seen.folders.add(path);
      }
      return;
    }
    seen.folders.add(folder);
    const names = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(folder, entry.name))
      // Many files in an agent's folder are not session files. They are not checked.
      .filter(
        (path) => start.format === undefined || start.format.classify(pathWithin(start, path)) !== undefined,
      );
    for (let at = 0; at < names.length; at += MAX_CONCURRENT_CALLS) {
      const inspected = await Promise.all(
        names.slice(at, at + MAX_CONCURRENT_CALLS).map((path) => options.inspect(start, path)),
      );
      const found = inspected.filter((file) => file !== undefined);
      for (const { path } of found) seen.files.add(path);
      options.onFound(found);
    }
    for (const entry of entries) {
      if (!entry.isDirectory() || isSkipped(start, join(folder, entry.name), entry.name)) continue;
      await walk(start, join(folder, entry.name), seen, depth + 1);
    }
  }

  return walk;
}

function isSkipped(start: Start, path: string, name: string): boolean {
  if (start.format === undefined) return SKIPPED.has(name);
  const { snapshots } = start.format;
  if (snapshots?.skips?.includes(name) === true) return true;
  return snapshots?.mayContainStores?.(pathWithin(start, path)) === false;
}

/** For a scan that begins. */
export const newSeen = (): Seen => ({ files: new Set(), folders: new Set() });
