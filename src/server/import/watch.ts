import { type FSWatcher, watch as watchFolder } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { causeOf } from "../../model/narrow.ts";
import type { Format, SessionPath } from "../../sources/contract.ts";
import { OPEN_FLAGS } from "../files/follow.ts";

/** A folder below which one agent keeps its sessions. */
export interface WatchRoot {
  format: Format;
  /** The agent's folder. `Format.classify` gets paths relative to it. */
  path: string;
  /** Contains the samples that ship with Verbatim. */
  sample?: boolean;
  /** An internal folder of Verbatim that the page does not show. */
  internal?: boolean;
  /** Subfolders to scan. Absent: those of the format. */
  folders?: readonly string[];
}

/** A session file's metadata, known without reading it. */
export interface FoundFile {
  path: string;
  format: Format;
  kind: SessionPath["kind"];
  side?: string;
  /** Changes when the side file does. Absent: there is no side file. */
  side_stamp?: string;
  /** `device:inode`. */
  inode: string;
  size: number;
  modified_at: number;
  sample: boolean;
}

/** The known classification of a file. */
type KnownFile = Pick<FoundFile, "path" | "format" | "kind" | "side">;

export interface WatchOptions {
  roots: readonly WatchRoot[];
  /** Files or folders of any format, in addition to the roots. */
  paths: readonly string[];
  formats: readonly Format[];
  /** Recognizes the format of a file in a named folder by its path and first bytes. Absent: each format's `detect` is used. */
  recognize?(path: string, head: Uint8Array): Format | undefined;
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
  readonly errors: ReadonlyMap<string, string>;
  /** Time of the last complete scan, in milliseconds since 1970. */
  readonly scanned_at: number | undefined;
  /** Whether a root existed during the last scan. */
  exists(root: string): boolean;
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

/** Folders that have many files and no sessions. They are skipped in named folders. */
const SKIPPED = new Set(["node_modules", ".git"]);
/** No agent nests deeper. Also ends a walk through an endless file system. */
const MAX_DEPTH = 16;
/** File system events within this time after a check are handled together, in milliseconds. */
const EVENT_DELAY_MS = 15;
/** The system's limit on watched folders is shared with the user's other programs. */
const MAX_WATCHED_FOLDERS = 4_000;
/** Concurrent file system calls. The thread pool has four threads, and others need them too. */
const MAX_CONCURRENT_CALLS = 16;
const HEAD_FOR_DETECTION = 64 * 1024;

/**
 * Finds the session files below the roots and the named paths, and reports changes. It uses only `lstat` and `readdir`. It opens
 * a file only in a named folder, to detect its format if the path does not show it. Links are not followed, except that a root or
 * a named path may be one.
 *
 * File system events can be lost silently (queue overflows, network drives), so correctness depends on the periodic complete
 * scans.
 */
export function watchSessions(options: WatchOptions): SessionWatch {
  const files = new Map<string, FoundFile>();
  const hot = new Set<string>();
  const followed = new Map<string, KnownFile>();
  /** Formats that were detected by content, with the stamp of the file at the time. */
  const detected = new Map<string, { stamp: string; format: Format | undefined }>();
  const event_paths = new Set<string>();
  /** Time of the last event-driven check. An event long after it is handled without delay. */
  let events_checked_at = Number.NEGATIVE_INFINITY;
  const folders = new Map<string, FSWatcher>();
  const timers = new Set<NodeJS.Timeout>();
  const sides = new Map<string, string>();
  const isOff = (format: Format) => options.off?.has(format.id) === true;
  let scanned_at: number | undefined;
  let closed = false;
  let ready = false;
  let scanning: Promise<void> | undefined;
  let starts: Start[] = [];
  let errors = new Map<string, string>();
  let existing = new Set<string>();

  /** The start of a walk. `base`: the folder to which the paths for `classify` are relative. */
  interface Start {
    path: string;
    base: string;
    format?: Format;
    /** A file that the user named. */
    single?: boolean;
    /** A file added with `follow`. */
    known?: KnownFile;
    sample?: boolean;
  }

  async function resolveStarts(): Promise<Start[]> {
    const found: Start[] = [];
    const there = new Set<string>();
    for (const {
      path: root,
      format,
      sample = false,
      folders = format.root?.folders ?? [],
    } of options.roots) {
      for (const folder of folders) {
        try {
          const base = await realpath(root);
          there.add(root);
          if (isOff(format)) continue;
          found.push({ path: await realpath(join(base, folder)), base, format, sample });
        } catch (error) {
          if (!isMissing(error) && !isOff(format)) errors.set(join(root, folder), whyUnread(error));
        }
      }
    }
    for (const path of options.paths) {
      try {
        const real = await realpath(path);
        const isFolder = (await lstat(real)).isDirectory();
        found.push({ path: real, base: isFolder ? real : dirname(real), single: !isFolder });
      } catch (error) {
        errors.set(path, isMissing(error) ? "the path does not exist" : whyUnread(error));
      }
    }
    for (const [path, known] of followed) found.push({ path, base: dirname(path), known });
    existing = there;
    return found;
  }

  const rootOf = (path: string): Start | undefined =>
    starts.find((start) => path === start.path || path.startsWith(start.path + sep));

  const within = (start: Start, path: string) => relative(start.base, path).split(sep).join("/");

  /**
   * A file's format and kind. Reads its first bytes only in a folder that the user named, if the path does not show the format.
   */
  async function classify(
    start: Start,
    path: string,
    stamp: string,
  ): Promise<({ format: Format } & SessionPath) | undefined> {
    if (start.known) return start.known;
    const name = within(start, path);
    if (start.format) {
      const found = start.format.classify(name);
      return found && { format: start.format, ...found };
    }
    const expected = options.formats.filter((format) => format.classify(name));
    if (!start.single && expected.length === 0 && !/\.jsonl(\.zst)?$/.test(path)) return undefined;
    // Several agents use the same names, so the content decides.
    const format = await detectFormat(path, stamp, [...expected, ...options.formats]);
    return format && { format, ...(format.classify(name) ?? { kind: "session" }) };
  }

  async function detectFormat(
    path: string,
    stamp: string,
    among: readonly Format[],
  ): Promise<Format | undefined> {
    const known = detected.get(path);
    if (known && (known.format || known.stamp === stamp)) return known.format;
    const head = await readHead(path, HEAD_FOR_DETECTION);
    const format =
      head &&
      (options.recognize ? options.recognize(path, head) : among.find((candidate) => candidate.detect(head)));
    detected.set(path, { stamp, format });
    return format;
  }

  /** Checks one file. `undefined`: it does not exist or is not a session file. */
  async function inspect(start: Start, path: string): Promise<FoundFile | undefined> {
    try {
      const state = await lstat(path, { bigint: true });
      if (start.single) errors.delete(path);
      if (!state.isFile()) {
        if (start.single) errors.set(path, "it is not a regular file");
        return undefined;
      }
      const inode = `${state.dev}:${state.ino}`;
      const size = Number(state.size);
      const modified_at = Number(state.mtimeNs) / 1e6;
      const what = await classify(start, path, `${inode}:${size}:${modified_at}`);
      if (!what) {
        if (start.single) errors.set(path, "it contains no session that Verbatim can read");
        return undefined;
      }
      if (isOff(what.format)) {
        if (start.single) errors.set(path, `${what.format.name} is switched off in the settings`);
        return undefined;
      }
      const side = what.side === undefined ? undefined : resolveSide(start, path, what.side);
      const side_stamp = side === undefined ? undefined : await stampOf(side);
      return {
        path,
        format: what.format,
        kind: what.kind,
        ...(side !== undefined && { side }),
        ...(side_stamp !== undefined && { side_stamp }),
        inode,
        size,
        modified_at,
        sample: start.sample === true,
      };
    } catch (error) {
      if (!isMissing(error)) errors.set(path, whyUnread(error));
      return undefined;
    }
  }

  /**
   * Resolves the side file's path as the format returns it, absolute or relative. It must be in the same folder as the
   * session file.
   */
  function resolveSide(start: Start, path: string, side: string): string | undefined {
    const resolved = side.startsWith("/") ? side : join(start.base, side);
    return dirname(resolved) === dirname(path) ? resolved : join(dirname(path), basename(side));
  }

  function emitFound(found: readonly FoundFile[]) {
    const changed = found.filter((file) => {
      const known = files.get(file.path);
      return (
        !known ||
        known.inode !== file.inode ||
        known.size !== file.size ||
        known.modified_at !== file.modified_at ||
        known.side_stamp !== file.side_stamp
      );
    });
    for (const file of changed) {
      files.set(file.path, file);
      if (file.side !== undefined) sides.set(file.side, file.path);
    }
    if (changed.length > 0 && !closed) options.onFound(changed);
  }

  function emitGone(paths: readonly string[]) {
    // Files of a switched-off agent are not reported as deleted.
    const gone = paths.filter((path) => {
      const known = files.get(path);
      return files.delete(path) && known !== undefined && !isOff(known.format);
    });
    for (const path of gone) detected.delete(path);
    if (gone.length > 0 && !closed) options.onGone(gone);
  }

  /** Session files and readable folders that a scan found. */
  interface Seen {
    files: Set<string>;
    folders: Set<string>;
  }

  const isSkipped = ({ format }: Start, name: string) =>
    format ? (format.snapshots?.skips?.includes(name) ?? false) : SKIPPED.has(name);

  const newSeen = (): Seen => ({ files: new Set(), folders: new Set() });

  /** Scans everything below a folder and reports what it finds in batches. */
  async function walk(start: Start, folder: string, depth: number, seen: Seen): Promise<void> {
    if (closed || depth > MAX_DEPTH) return;
    listen(folder);
    let entries: import("node:fs").Dirent[];
    try {
      entries = await readdir(folder, { withFileTypes: true });
    } catch (error) {
      if (!isMissing(error)) {
        errors.set(folder, whyUnread(error));
        // The files in an unreadable folder are not reported as deleted.
        seen.folders.add(folder);
        for (const path of files.keys()) if (path.startsWith(folder + sep)) seen.files.add(path);
        for (const path of folders.keys()) if (path.startsWith(folder + sep)) seen.folders.add(path);
      }
      return;
    }
    seen.folders.add(folder);
    const names = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(folder, entry.name))
      // Many files in an agent's folder are not session files. They are not checked.
      .filter(
        (path) => start.format === undefined || start.format.classify(within(start, path)) !== undefined,
      );
    for (let at = 0; at < names.length; at += MAX_CONCURRENT_CALLS) {
      const looked = await Promise.all(
        names.slice(at, at + MAX_CONCURRENT_CALLS).map((path) => inspect(start, path)),
      );
      const found = looked.filter((file) => file !== undefined);
      for (const { path } of found) seen.files.add(path);
      emitFound(found);
    }
    for (const entry of entries) {
      if (!entry.isDirectory() || isSkipped(start, entry.name)) continue;
      await walk(start, join(folder, entry.name), depth + 1, seen);
    }
  }

  async function scanAll(): Promise<void> {
    if (closed) return;
    errors = new Map();
    starts = await resolveStarts();
    const before = new Set(files.keys());
    const listened = [...folders.keys()];
    const seen = newSeen();
    for (const start of starts) {
      if (start.single || start.known) {
        const file = await inspect(start, start.path);
        if (file) {
          seen.files.add(file.path);
          emitFound([file]);
        }
      } else {
        await walk(start, start.path, 0, seen);
      }
    }
    if (closed) return;
    emitGone([...before].filter((path) => !seen.files.has(path)));
    // The system may not report deleted folders. Close their watchers.
    for (const folder of listened) if (!seen.folders.has(folder)) forget(folder);
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
    const owner = sides.get(path);
    if (owner !== undefined) return await inspectPath(owner);
    const start = rootOf(path);
    if (!start) return undefined;
    try {
      const state = await lstat(path);
      if (state.isDirectory()) {
        await walk(start, path, 0, newSeen());
        return undefined;
      }
    } catch {
      // Missing or unreadable: `inspect` handles both.
    }
    return await inspect(start, path);
  }

  async function inspectAll(paths: readonly string[]): Promise<void> {
    const found: FoundFile[] = [];
    const missing: string[] = [];
    for (let at = 0; at < paths.length && !closed; at += MAX_CONCURRENT_CALLS) {
      const some = paths.slice(at, at + MAX_CONCURRENT_CALLS);
      const looked = await Promise.all(some.map(inspectPath));
      for (const [place, path] of some.entries()) {
        const file = looked[place];
        if (file) found.push(file);
        else missing.push(path);
      }
    }
    // Report new paths first, so that a moved file is found before its old path is reported gone.
    emitFound(found);
    emitGone(missing);
  }

  function listen(folder: string) {
    if (!options.hints || folders.has(folder) || folders.size >= MAX_WATCHED_FOLDERS) return;
    try {
      const watcher = watchFolder(folder, { persistent: false });
      folders.set(folder, watcher);
      watcher.on("change", (event, name) => {
        if (name === null) return;
        // The event for the folder itself has the folder's own name. A new folder at its path would not be reported by this
        // watcher.
        if (event === "rename" && name.toString() === basename(folder)) {
          forgetBelow(folder);
          queueCheck(folder);
        }
        queueCheck(join(folder, name.toString()));
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
    files,
    get errors() {
      return errors;
    },
    get scanned_at() {
      return scanned_at;
    },
    exists: (root) => existing.has(root),
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
      for (const folder of [...folders.keys()]) forget(folder);
      await (scanning_next ?? scanning);
    },
  };
}

async function stampOf(path: string): Promise<string | undefined> {
  try {
    const state = await lstat(path, { bigint: true });
    return state.isFile() ? `${state.ino}:${state.size}:${state.mtimeNs}` : undefined;
  } catch {
    return undefined;
  }
}

async function readHead(path: string, length: number): Promise<Uint8Array | undefined> {
  const handle = await open(path, OPEN_FLAGS);
  try {
    if (!(await handle.stat()).isFile()) return undefined;
    const { bytesRead, buffer } = await handle.read(new Uint8Array(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

export function isMissing(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    (error.code === "ENOENT" || error.code === "ENOTDIR")
  );
}

export const NO_PERMISSION = "no permission to read it";
/** Why a path cannot be read. Matches the message, because errors from other threads lose their code. */
export function whyUnread(error: unknown): string {
  const cause = causeOf(error);
  return /^E(?:ACCES|PERM):/.test(cause) ? NO_PERMISSION : `it cannot be read: ${cause}`;
}
