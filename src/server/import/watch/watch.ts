import { lstat } from "node:fs/promises";
import { sep } from "node:path";
import type { CodedText } from "../../../model/text/catalog.ts";
import type { Format } from "../../../sources/contract.ts";
import { createFolderEvents } from "./folder-events.ts";
import type { FoundFile, KnownFile, WatchRoot } from "./found-file.ts";
import { createInspector } from "./inspect.ts";
import { createKnownFiles } from "./known-files.ts";
import { resolveStarts, type Start } from "./starts.ts";
import { createWalk, MAX_CONCURRENT_CALLS, newSeen } from "./walk.ts";

export interface WatchOptions {
  roots: readonly WatchRoot[];
  /** Files or folders of any format, in addition to the roots. */
  paths: readonly string[];
  formats: readonly Format[];
  /** Recognizes the format of a file in a named folder by its path and first bytes. Absent: each format's `detect` is used. */
  recognize?(path: string, head: Uint8Array): Format | undefined;
  /** Whether a named file is a store, which is read through its record logs and is not a session file itself. Absent: none is. */
  isStore?(path: string, head: Uint8Array): boolean;
  /** Poll interval of files marked with `setHot`, and of everything. Milliseconds. */
  hotInterval: number;
  listInterval: number;
  /** Whether to use file system events. They only trigger checks earlier. */
  hints: boolean;
  /** Ids of the agents that the user switched off. Their files are neither checked nor reported. Absent: none. */
  off?: ReadonlySet<string>;
  /** Called with files that are new or changed since they were last reported, in no order. */
  onFound(files: FoundFile[]): void;
  /** Called with reported paths that no longer have a session file. */
  onGone(paths: string[]): void;
  /** Called after the first complete scan. */
  onReady(): void;
}

export interface SessionWatch {
  /** All known files, by path. */
  readonly files: ReadonlyMap<string, FoundFile>;
  /** Errors of the last scan, and named files that are not sessions, by path. */
  readonly errors: ReadonlyMap<string, CodedText>;
  /** Time of the last complete scan, in milliseconds since 1970. */
  readonly scanned_at: number | undefined;
  /** Starts or stops polling this file every `hotInterval`. */
  setHot(path: string, hot: boolean): void;
  /** Adds a file outside all scanned folders to the complete scans, with its known format. */
  follow(file: KnownFile): void;
  /** Checks these paths at once. */
  check(paths: readonly string[]): Promise<void>;
  /** Starts a complete scan. */
  rescan(): Promise<void>;
  close(): Promise<void>;
}

/** File system events within this time after a check are handled together, in milliseconds. */
const EVENT_DELAY_MS = 15;

/**
 * Finds the session files below the roots and the named paths, and reports changes. It uses only `lstat` and `readdir`. It opens
 * a file only in a named folder, to detect its format if the path does not show it. Links are not followed, except that a root or
 * a named path may be one.
 *
 * File system events can be lost silently (queue overflows, network drives), so correctness depends on the periodic complete
 * scans.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the scans and checks in progress: its functions are short
export function watchSessions(options: WatchOptions): SessionWatch {
  const hot = new Set<string>();
  const followed = new Map<string, KnownFile>();
  const event_paths = new Set<string>();
  /** Time of the last event-driven check. An event long after it is handled without delay. */
  let events_checked_at = Number.NEGATIVE_INFINITY;
  const timers = new Set<NodeJS.Timeout>();
  const isOff = (format: Format) => options.off?.has(format.id) === true;
  let scanned_at: number | undefined;
  let closed = false;
  let ready = false;
  let scanning: Promise<void> | undefined;
  let starts: Start[] = [];
  let errors = new Map<string, CodedText>();

  function setError(path: string, why: CodedText | undefined) {
    if (why === undefined) errors.delete(path);
    else errors.set(path, why);
  }
  const known = createKnownFiles(isOff);
  const inspector = createInspector({ ...options, isOff, setError });
  const events = createFolderEvents(options.hints, queueCheck);
  const walk = createWalk({
    inspect: inspector.inspect,
    events,
    known: known.files,
    onFound: emitFound,
    setError,
    isClosed: () => closed,
  });

  const rootOf = (path: string): Start | undefined =>
    starts.find((start) => path === start.path || path.startsWith(start.path + sep));

  function emitFound(found: readonly FoundFile[]) {
    const changed = known.update(found);
    if (changed.length > 0 && !closed) options.onFound(changed);
  }

  function emitGone(paths: readonly string[]) {
    const gone = known.remove(paths);
    for (const path of gone) inspector.forget(path);
    if (gone.length > 0 && !closed) options.onGone(gone);
  }

  async function scanAll(): Promise<void> {
    if (closed) return;
    errors = new Map();
    starts = await resolveStarts({ ...options, followed, isOff, setError });
    const before = new Set(known.files.keys());
    const listened = events.paths();
    const seen = newSeen();
    for (const start of starts) {
      if (start.single || start.known) {
        const file = await inspector.inspect(start, start.path);
        if (file) {
          seen.files.add(file.path);
          emitFound([file]);
        }
      } else {
        await walk(start, start.path, seen);
      }
    }
    if (closed) return;
    emitGone([...before].filter((path) => !seen.files.has(path)));
    // The system may not report deleted folders. Close their watchers.
    for (const folder of listened) if (!seen.folders.has(folder)) events.forget(folder);
    scanned_at = Date.now();
    if (!ready) {
      ready = true;
      options.onReady();
    }
  }

  let scanning_next: Promise<void> | undefined;

  /** Starts a scan after the current one, which may have passed a path before it changed. */
  function rescan(): Promise<void> {
    if (scanning_next) return scanning_next;
    if (!scanning) return scan();
    scanning_next = scanning.then(() => {
      scanning_next = undefined;
      return scan();
    });
    return scanning_next;
  }

  function scan(): Promise<void> {
    scanning ??= scanAll().finally(() => {
      scanning = undefined;
    });
    return scanning;
  }

  /** Checks a path. Walks it if it is a folder. */
  async function inspectPath(path: string): Promise<FoundFile | undefined> {
    const owner = known.ownerOf(path);
    if (owner !== undefined) return await inspectPath(owner);
    const start = rootOf(path);
    if (!start) return undefined;
    try {
      const state = await lstat(path);
      if (state.isDirectory()) {
        await walk(start, path, newSeen());
        return undefined;
      }
    } catch {
      // Missing or unreadable: `inspect` handles both.
    }
    return await inspector.inspect(start, path);
  }

  async function inspectAll(paths: readonly string[]): Promise<void> {
    const found: FoundFile[] = [];
    const missing: string[] = [];
    for (let at = 0; at < paths.length && !closed; at += MAX_CONCURRENT_CALLS) {
      const some = paths.slice(at, at + MAX_CONCURRENT_CALLS);
      const inspected = await Promise.all(some.map(inspectPath));
      for (const [place, path] of some.entries()) {
        const file = inspected[place];
        if (file) found.push(file);
        else missing.push(path);
      }
    }
    // Report new paths first, so that a moved file is found before its old path is reported gone.
    emitFound(found);
    emitGone(missing);
  }

  function queueCheck(path: string) {
    if (closed) return;
    event_paths.add(path);
    if (event_paths.size === 1) {
      after(Math.max(0, events_checked_at + EVENT_DELAY_MS - performance.now()), async () => {
        const paths = [...event_paths];
        event_paths.clear();
        events_checked_at = performance.now();
        await inspectAll(paths);
        events_checked_at = performance.now();
      });
    }
  }

  function after(delay: number, work: () => Promise<unknown>) {
    // A timer that a late check starts after `close` would keep the process alive.
    if (closed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!closed) void work();
    }, delay);
    timers.add(timer);
  }

  function pollHot() {
    after(options.hotInterval, async () => {
      await inspectAll([...hot]);
      pollHot();
    });
  }

  function pollAll(delay: number) {
    after(delay, async () => {
      const began = performance.now();
      await rescan();
      // In a large or slow tree, scans may take at most a tenth of the time.
      pollAll(Math.max(options.listInterval, (performance.now() - began) * 10));
    });
  }

  pollAll(0);
  pollHot();

  return {
    files: known.files,
    get errors() {
      return errors;
    },
    get scanned_at() {
      return scanned_at;
    },
    setHot(path, isHot) {
      if (isHot) hot.add(path);
      else hot.delete(path);
    },
    follow: ({ path, format, kind, side }) =>
      followed.set(path, { path, format, kind, ...(side !== undefined && { side }) }),
    check: inspectAll,
    rescan,
    async close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      for (const folder of events.paths()) events.forget(folder);
      await (scanning_next ?? scanning);
    },
  };
}
