import { existsSync } from "node:fs";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { MAX_NOTICES, type ReadFailures, unreadNotice } from "./read-failures.ts";
import type { RecordLogs } from "./record-logs/record-logs.ts";
import { isStale, type SessionFile } from "./session-file.ts";
import { scannedFolders, type WatchRoot } from "./watch/found-file.ts";
import type { SessionWatch } from "./watch/watch.ts";

/** How far all files are read, and what cannot be read. */
export function importStatus({
  files,
  failures,
  archive,
  watch,
  record_logs,
  roots,
  isOff,
  isIdle,
}: {
  files: Iterable<SessionFile>;
  failures: ReadFailures;
  archive: Pick<ArchiveWriter<SessionFile>, "notices">;
  watch: Pick<SessionWatch, "errors">;
  record_logs: Pick<RecordLogs, "owns" | "errors">;
  roots: readonly WatchRoot[];
  isOff(entry: SessionFile): boolean;
  /** Whether all files were found, and none waits to be read. */
  isIdle: boolean;
}): ReturnType<Sessions["status"]> {
  const index = { files_found: 0, files_done: 0, bytes_found: 0, bytes_done: 0 };
  for (const entry of files) {
    if (isOff(entry)) continue;
    const size = entry.seen?.size ?? entry.identity?.size ?? 0;
    const stale = isStale(entry) && (!entry.done || failures.has(entry));
    index.files_found += 1;
    index.bytes_found += size;
    index.files_done += stale ? 0 : 1;
    index.bytes_done += stale ? Math.min(entry.progress, size) : size;
  }
  return {
    index: { ...index, done: isIdle },
    notices: [
      ...archive.notices,
      ...[...watch.errors, ...record_logs.errors]
        .filter(([path]) => !record_logs.owns(path) || record_logs.errors.has(path))
        .slice(0, MAX_NOTICES)
        .map(([, why]) => unreadNotice(why)),
      ...failures.notices,
    ],
    roots: roots
      .filter(({ internal }) => internal !== true)
      .flatMap((root) =>
        scannedFolders(root).map((path) => ({ agent: root.format.id, path, exists: existsSync(path) })),
      ),
  };
}
