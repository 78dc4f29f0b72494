import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CodedText } from "../../../model/text/catalog.ts";
import type { Format } from "../../../sources/contract.ts";
import type { WatchRoot } from "../watch/found-file.ts";
import { watchSessions } from "../watch/watch.ts";
import { whyUnread } from "../watch/why-unread.ts";
import { createLogThread } from "./log-thread.ts";
import { storeFolder } from "./log-writer.ts";
import { recognizeStore } from "./recognize-store.ts";

interface RecordLogsOptions {
  formats: readonly Format[];
  /** The agents' folders, and additional files and folders. */
  roots: readonly WatchRoot[];
  paths: readonly string[];
  /** Folder of the logs. Absent: a temporary folder that is removed with the daemon. */
  folder?: string;
  /** As in `WatchOptions`. */
  hotInterval: number;
  listInterval: number;
  hints: boolean;
  /** As in `WatchOptions`. */
  off?: ReadonlySet<string>;
  /** Called with logs that were appended to or moved, at both paths. */
  onChange(paths: string[]): void;
}

/**
 * Turns stores that change in place into record logs: reads a store whenever one of its files changes, and appends new records to
 * one file per session. Never writes to agents' stores.
 */
export interface RecordLogs {
  /** Folders of logs, to be watched as session files. */
  readonly roots: readonly WatchRoot[];
  /** Errors of stores that could not be read, by path. */
  readonly errors: ReadonlyMap<string, CodedText>;
  /** Whether a file belongs to a store. */
  owns(path: string): boolean;
  /** Scans an agent's stores again, because the agent was switched on or off. */
  rescan(agent: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Minimum pause between two scans of a store, in milliseconds, and as a multiple of the last scan's duration. Bounds the load on
 * the thread.
 */
const PAUSE_MS = 30;
const PAUSE_FACTOR = 4;
/** Delay of a second scan after one that found changes: two changes within a millisecond can have the same timestamp. */
const AGAIN_MS = 1_000;
/** A document may be half written when it is read, so the first retry comes soon. Then the delay doubles. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 30_000;
/** Consecutive failures before they are reported. */
const QUIET_FAILURES = 3;
/** A store modified within this time is polled often, also without file system events. Milliseconds. */
const HOT_MS = 600_000;

interface Store {
  readonly path: string;
  readonly format: Format;
  /** The store changed since the current scan began. */
  stale: boolean;
  scanning: boolean;
  failures: number;
  timer?: NodeJS.Timeout;
}

/** Watches the stores and writes their logs. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the stores: its functions are short
export function createRecordLogs(options: RecordLogsOptions): RecordLogs {
  const formats = options.formats.filter(({ snapshots }) => snapshots !== undefined);
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "verbatim-records-"));
  const thread = createLogThread();
  const stores = new Map<string, Store>();
  const owned = new Map<string, string>();
  const errors = new Map<string, CodedText>();
  let closed = false;
  const roots = formats.map((format): WatchRoot => {
    const path = join(folder, format.id);
    mkdirSync(path, { recursive: true });
    return { format, path, folders: ["."] };
  });

  const line_formats = options.formats.filter(({ snapshots }) => snapshots === undefined);
  const watched = new Map(formats.map((format) => [format.id, storeFormat(format)]));
  const watch = watchSessions({
    roots: options.roots.flatMap((root) => {
      const format = watched.get(root.format.id);
      return format === undefined || root.sample === true ? [] : [{ ...root, format }];
    }),
    paths: options.paths,
    formats: [...watched.values()],
    recognize(path, head) {
      if (line_formats.some((format) => format.detect(head))) return undefined;
      const format = recognizeStore(path, head, formats);
      return format && watched.get(format.id);
    },
    hotInterval: options.hotInterval,
    listInterval: options.listInterval,
    hints: options.hints,
    ...(options.off && { off: options.off }),
    onFound(files) {
      for (const { path, format, modified_at } of files) {
        const found = formats.find(({ id }) => id === format.id);
        if (!found) continue;
        const store = found.snapshots?.storeOf(path) ?? path;
        owned.set(path, store);
        watch.setHot(path, Date.now() - modified_at < HOT_MS);
        noteChange(store, found);
      }
    },
    onGone(paths) {
      for (const path of paths) {
        const store = owned.get(path);
        const format = store === undefined ? undefined : stores.get(store)?.format;
        watch.setHot(path, false);
        if (store !== undefined && format !== undefined) noteChange(store, format);
      }
    },
    onReady() {},
  });

  function noteChange(path: string, format: Format) {
    let store = stores.get(path);
    if (!store) {
      store = { path, format, stale: false, scanning: false, failures: 0 };
      stores.set(path, store);
    }
    store.stale = true;
    if (!store.scanning) scheduleScan(store, PAUSE_MS);
  }

  function scheduleScan(store: Store, delay: number) {
    if (closed) return;
    clearTimeout(store.timer);
    store.timer = setTimeout(() => void update(store), delay).unref();
  }

  async function update(store: Store): Promise<void> {
    if (closed || store.scanning || options.off?.has(store.format.id)) return;
    store.scanning = true;
    store.stale = false;
    const began = performance.now();
    let again: number | undefined;
    try {
      const changed = await thread.update({
        agent: store.format.id,
        store: store.path,
        folder: join(folder, store.format.id, storeFolder(store.path)),
      });
      store.failures = 0;
      errors.delete(store.path);
      if (changed.length > 0) {
        again = AGAIN_MS;
        if (!closed) options.onChange(changed);
      }
    } catch (error) {
      store.failures += 1;
      again = Math.min(RETRY_MS * 2 ** store.failures, MAX_RETRY_MS);
      if (store.failures > QUIET_FAILURES) errors.set(store.path, whyUnread(store.path, error));
    }
    store.scanning = false;
    const pause = Math.max(PAUSE_MS, (performance.now() - began) * PAUSE_FACTOR);
    if (store.stale) scheduleScan(store, store.failures > 0 ? (again ?? pause) : pause);
    else if (again !== undefined) scheduleScan(store, Math.max(again, pause));
  }

  return {
    roots,
    errors,
    owns: (path) => owned.has(path),
    async rescan(agent) {
      await watch.rescan();
      // Stores that disappeared while the agent was off were not reported.
      for (const { path, format } of stores.values()) if (format.id === agent) noteChange(path, format);
    },
    async close() {
      closed = true;
      for (const { timer } of stores.values()) clearTimeout(timer);
      await watch.close();
      await thread.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The format under which the watcher sees the files of an agent's stores. */
function storeFormat(format: Format): Format {
  const { snapshots } = format;
  return {
    ...format,
    classify: (path) => (snapshots?.storeOf(path) === undefined ? undefined : { kind: "session" }),
  };
}
