import { isRecordLog } from "../../sources/record-log/log-line.ts";
import { type AgentSources, type AgentSourcesOptions, createAgentSources } from "./agent-sources.ts";
import { recognizeStore } from "./record-logs/recognize-store.ts";
import { createRecordLogs, type RecordLogs } from "./record-logs/record-logs.ts";
import type { SessionsTiming } from "./timing.ts";
import type { TrackedFiles } from "./tracked-files.ts";
import { type SessionWatch, watchSessions } from "./watch/watch.ts";

interface DiscoveryOptions extends Omit<AgentSourcesOptions, "files" | "watch" | "record_logs"> {
  files: TrackedFiles;
  /** Folder of the record logs. Absent: a temporary folder. */
  folder?: string;
  hints: boolean;
  timing: SessionsTiming;
  /** See `WatchOptions`. */
  onReady(): void;
}

/** Finds session files: those of the agents, and the record logs that are written from the agents' stores. */
export function createDiscovery(options: DiscoveryOptions): {
  watch: SessionWatch;
  record_logs: RecordLogs;
  sources: AgentSources;
} {
  const { formats, roots, paths, hints, timing, off, files } = options;
  const common = { formats, paths, hotInterval: timing.hot, listInterval: timing.list, hints, off };
  const record_logs = createRecordLogs({
    ...common,
    roots,
    ...(options.folder !== undefined && { folder: options.folder }),
    onChange: (changed) => void watch.check(changed),
  });
  const watch = watchSessions({
    ...common,
    roots: [...roots, ...record_logs.roots],
    isStore(path, head) {
      if (isRecordLog(path)) return false;
      const isLikely = formats.some(({ snapshots, detect }) => snapshots !== undefined && detect(head));
      const format = isLikely ? recognizeStore(path, head, formats) : undefined;
      return format !== undefined && off?.has(format.id) !== true;
    },
    onFound: files.onFound,
    onGone: files.onMissing,
    onReady: options.onReady,
  });
  const sources = createAgentSources({ ...options, watch, record_logs });
  return { watch, record_logs, sources };
}
