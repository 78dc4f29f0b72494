import { readdir } from "node:fs/promises";
import { sep } from "node:path";
import type { CodedText } from "../../model/text/catalog.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { textFields } from "../../model/text/display-text.ts";
import type { AgentSource } from "../../protocol.ts";
import type { Format } from "../../sources/contract.ts";
import type { Notice } from "../../store/contract.ts";
import type { SessionList } from "../sessions/list.ts";
import type { Links } from "./links.ts";
import { type ReadFailures, unreadNotice } from "./read-failures.ts";
import type { RecordLogs } from "./record-logs/record-logs.ts";
import type { IndexedSession, SessionFile } from "./session-file.ts";
import type { TrackedFiles } from "./tracked-files.ts";
import { scannedFolders, type WatchRoot } from "./watch/found-file.ts";
import type { SessionWatch } from "./watch/watch.ts";
import { isMissing, whyUnread } from "./watch/why-unread.ts";

/** Describes each agent's session files, and reacts when an agent is switched on or off. */
export interface AgentSources {
  describe(): Promise<AgentSource[]>;
  /** Applies a changed switch. `off` already has the new value. */
  switched(agent: string): void;
}

export interface AgentSourcesOptions {
  formats: readonly Format[];
  roots: readonly WatchRoot[];
  /** Files and folders beside the agents' own. */
  paths: readonly string[];
  /** Ids of the agents that are switched off now. */
  off: ReadonlySet<string>;
  files: Pick<TrackedFiles, "all" | "byPath" | "onMissing">;
  indexed: ReadonlyMap<string, IndexedSession>;
  links: Pick<Links, "of">;
  list: Pick<SessionList, "mark" | "publish">;
  failures: Pick<ReadFailures, "byPath" | "clear">;
  watch: Pick<SessionWatch, "errors" | "files" | "scanned_at" | "rescan" | "setHot">;
  record_logs: Pick<RecordLogs, "errors" | "rescan">;
  isClosed(): boolean;
  /** Whether another session is listed in place of this one. */
  isReplaced(id: string): boolean;
  cancelRead(entry: SessionFile): void;
  enqueueBackfill(entry: SessionFile): void;
}

export function createAgentSources(options: AgentSourcesOptions): AgentSources {
  const { formats, roots, paths, off, files, indexed, links, list, failures, watch, record_logs } = options;
  const filesOf = (agent: string) => files.all().filter(({ format }) => format.id === agent);

  function switched(agent: string) {
    const own = filesOf(agent);
    for (const entry of own) for (const id of entry.sessions) list.mark(id);
    list.publish();
    if (!off.has(agent)) return void switchedOn(agent);
    for (const entry of own) {
      options.cancelRead(entry);
      failures.clear(entry);
      watch.setHot(entry.path, false);
    }
    void watch.rescan();
    void record_logs.rescan(agent);
  }

  /** Files written in the meantime are reported as new. Sessions whose files were deleted have to be marked here. */
  async function switchedOn(agent: string): Promise<void> {
    await record_logs.rescan(agent);
    await watch.rescan();
    if (options.isClosed() || off.has(agent)) return;
    const own = [...files.byPath.values()].filter(({ format }) => format.id === agent);
    for (const entry of own) options.enqueueBackfill(entry);
    files.onMissing(own.filter(({ path }) => !watch.files.has(path)).map(({ path }) => path));
  }

  /** The agent's own folders, then the folders from the command line that hold its sessions. */
  function foldersOf(format: Format, own: readonly SessionFile[]): string[] {
    const usual = roots
      .filter((root) => root.format.id === format.id && !root.internal && !root.sample)
      .flatMap(scannedFolders);
    const named = paths.filter((path) => own.some((entry) => !entry.gone && isWithin(path, entry.path)));
    return [...new Set([...usual, ...named])];
  }

  function problemsOf(folders: readonly string[], own: readonly SessionFile[]): AgentSource["problems"] {
    const unread = [...watch.errors, ...record_logs.errors]
      .filter(([path]) => folders.some((folder) => isWithin(folder, path)))
      .map(([path, why]) => [path, unreadNotice(why)] as const);
    const failed = own.flatMap(({ path }) => {
      const notice = failures.byPath.get(path);
      return notice ? [[path, notice] as const] : [];
    });
    return [...new Map([...unread, ...failed])].map(([path, notice]) => problemOf(path, notice));
  }

  async function describeOne(format: Format): Promise<AgentSource | undefined> {
    const own = filesOf(format.id);
    const sessions = own.flatMap((entry) => [...entry.sessions]).filter((id) => isTop(id)).length;
    // A format without a default folder is listed only if it has sessions.
    if (!format.root && sessions === 0) return undefined;
    const is_on = !off.has(format.id);
    const folders = foldersOf(format, own);
    const problems = is_on ? problemsOf(folders, own) : [];
    const descriptions = await Promise.all(folders.map(describeFolder));
    for (const { path, why } of descriptions)
      if (is_on && why !== undefined && !problems.some((problem) => problem.path === path))
        problems.push(problemOf(path, unreadNotice(why)));
    return {
      agent: format.id,
      name: format.name,
      is_on,
      folders: descriptions.map(({ path, exists }) => ({ path, exists })),
      sessions,
      ...(is_on && watch.scanned_at !== undefined && { read_at: watch.scanned_at }),
      problems,
    };
  }

  function isTop(id: string): boolean {
    const state = indexed.get(id);
    const isShown = state !== undefined && state.summary.parts > 0 && !options.isReplaced(id);
    return isShown && links.of(id) === undefined;
  }

  return {
    async describe() {
      const all = await Promise.all(formats.map(describeOne));
      return all
        .filter((source) => source !== undefined)
        .sort((one, other) => one.name.localeCompare(other.name, "en"));
    },
    switched,
  };
}

function problemOf(path: string, notice: Notice): AgentSource["problems"][number] {
  const { level: _, unread: _unread, agent: _agent, ...texts } = notice;
  return { path, ...textFields("remedy", daemonText("repair_or_remove")), ...texts };
}

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);

/** Whether the path exists, and why it cannot be read. */
async function describeFolder(path: string): Promise<{ path: string; exists: boolean; why?: CodedText }> {
  try {
    await readdir(path);
    return { path, exists: true };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return { path, exists: true };
    return isMissing(error) ? { path, exists: false } : { path, exists: true, why: whyUnread(path, error) };
  }
}
