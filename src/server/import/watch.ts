import { type FSWatcher, watch as watchFolder } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { causeOf } from "../../model/narrow.ts";
import type { Format, SessionPath } from "../../sources/contract.ts";
import { OPEN_FLAGS } from "../files/follow.ts";

/** A folder below which one agent keeps its sessions. */
export interface WatchRoot {
  format: Format;
  /** The agent's folder: what `Format.classify` sees is relative to it. */
  path: string;
  /** Holds the samples that ship with Verbatim. */
  sample?: boolean;
  /** A folder of Verbatim's own, which the page does not name. */
  internal?: boolean;
  /** Folders in it that are looked at; absent: those of the format. */
  folders?: readonly string[];
}

/** What a look at the disk says of a session file, without reading it. */
export interface FoundFile {
  path: string;
  format: Format;
  kind: SessionPath["kind"];
  side?: string;
  /** Changes when the side file does; absent while there is none. */
  side_stamp?: string;
  /** `device:inode`. */
  inode: string;
  size: number;
  modified_at: number;
  sample: boolean;
}

/** What an earlier look said of a file. */
type KnownFile = Pick<FoundFile, "path" | "format" | "kind" | "side">;

export interface WatchOptions {
  roots: readonly WatchRoot[];
  /** Files or folders of any format, beside the roots. */
  paths: readonly string[];
  formats: readonly Format[];
  /** Tells the format of a file in a named folder by its path and first bytes. Absent: each format's `detect` does. */
  recognize?(path: string, head: Uint8Array): Format | undefined;
  /** How often files named by `setHot` are looked at, and how often everything is, in milliseconds. */
  hotInterval: number;
  listInterval: number;
  /** Whether to listen to the system's hints too. They are only ever a reason to look earlier. */
  hints: boolean;
  /** Agents that a person switched off, by id: their files are neither looked at nor reported. Absent: none are. */
  off?: ReadonlySet<string>;
  /** Files that are new, or have changed since they were last reported, in no order. */
  onFound(files: FoundFile[]): void;
  /** Reported paths at which there is no such file any more. */
  onGone(paths: string[]): void;
  /** Once everything has been looked at for the first time. */
  onReady(): void;
}

export interface SessionWatch {
  /** Everything known now, by path. */
  readonly files: ReadonlyMap<string, FoundFile>;
  /** What could not be looked at last time, and named files that hold no session: what is wrong with each path. */
  readonly errors: ReadonlyMap<string, string>;
  /** When everything was looked at last, in milliseconds since 1970. */
  readonly looked_at: number | undefined;
  /** Whether a root was there last time. */
  exists(root: string): boolean;
  /** Looks at this file every `hotInterval` until it is set cold. */
  setHot(path: string, hot: boolean): void;
  /** Looks at this file, too, whenever it looks at everything: it stands in no folder that is looked at. It stays what it was. */
  follow(file: KnownFile): void;
  /** Looks at these paths at once. */
  look(paths: readonly string[]): Promise<void>;
  /** Looks at everything, from now on. */
  rescan(): Promise<void>;
  close(): Promise<void>;
}

/** Folders that hold no sessions and many files, in a folder that a person named. */
const SKIPPED = new Set(["node_modules", ".git"]);
/** No agent nests deeper; it also ends a walk that a file system makes endless. */
const MAX_DEPTH = 16;
/** Hints of the system that come within this time after a look are looked at together, in milliseconds. */
const HINT_DELAY = 15;
/** The system's limit on watched folders is shared with every other program of the person. */
const MAX_FOLDERS = 4_000;
/** Looks in flight at a time: the thread pool has four threads, and others need them too. */
const AT_ONCE = 16;
const HEAD_FOR_DETECTION = 64 * 1024;

/**
 * Finds the session files below the roots and the named paths and says what changed. It only looks (`lstat`, `readdir`);
 * the one thing it opens is a file of a named folder whose path says nothing, to see of which format it is. Links are not
 * followed, except that a root or a named path may itself be one.
 *
 * Hints of the system get lost without a word (a queue that overflows, network drives), so a look at everything at
 * intervals is what counts.
 */
export function watchSessions(options: WatchOptions): SessionWatch {
  const files = new Map<string, FoundFile>();
  const hot = new Set<string>();
  const followed = new Map<string, KnownFile>();
  /** Formats of files that only their bytes reveal, with the state from which they were detected. */
  const detected = new Map<string, { stamp: string; format: Format | undefined }>();
  const hinted = new Set<string>();
  /** When what was hinted was looked at last: a hint that comes long after it does not wait for more. */
  let looked_at = Number.NEGATIVE_INFINITY;
  const folders = new Map<string, FSWatcher>();
  const timers = new Set<NodeJS.Timeout>();
  const sides = new Map<string, string>();
  const isOff = (format: Format) => options.off?.has(format.id) === true;
  let looked_all_at: number | undefined;
  let closed = false;
  let ready = false;
  let scanning: Promise<void> | undefined;
  let starts: Start[] = [];
  let errors = new Map<string, string>();
  let existing = new Set<string>();

  /** Where a walk begins. `base`: what paths are relative to for `classify`. */
  interface Start {
    path: string;
    base: string;
    format?: Format;
    /** A file that a person named. */
    single?: boolean;
    /** A file that is followed. */
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
        errors.set(path, isMissing(error) ? "there is nothing at this path" : whyUnread(error));
      }
    }
    for (const [path, known] of followed) found.push({ path, base: dirname(path), known });
    existing = there;
    return found;
  }

  const rootOf = (path: string): Start | undefined =>
    starts.find((start) => path === start.path || path.startsWith(start.path + sep));

  const within = (start: Start, path: string) => relative(start.base, path).split(sep).join("/");

  /** A file's format and kind; reads its first bytes only where a person named the folder and the path says nothing. */
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
    // Names are shared by several agents: what the file holds decides.
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

  /** Looks at one file. `undefined`: none, or none of a session. */
  async function inspect(start: Start, path: string): Promise<FoundFile | undefined> {
    try {
      const state = await lstat(path, { bigint: true });
      if (start.single) errors.delete(path);
      if (!state.isFile()) {
        if (start.single) errors.set(path, "this is no regular file");
        return undefined;
      }
      const inode = `${state.dev}:${state.ino}`;
      const size = Number(state.size);
      const modified_at = Number(state.mtimeNs) / 1e6;
      const what = await classify(start, path, `${inode}:${size}:${modified_at}`);
      if (!what) {
        if (start.single) errors.set(path, "no session that Verbatim reads is in it");
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

  /** A format names the side file by path: as it was given one, relative or not. It must stand beside its owner. */
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
    // Those of an agent that was switched off are not gone.
    const gone = paths.filter((path) => {
      const known = files.get(path);
      return files.delete(path) && known !== undefined && !isOff(known.format);
    });
    for (const path of gone) detected.delete(path);
    if (gone.length > 0 && !closed) options.onGone(gone);
  }

  /** What a look met: session files, and folders that it could read. */
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
        // What could not be looked at is not gone.
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
      // Many files of an agent's folder are none of its sessions: no look at them is needed.
      .filter(
        (path) => start.format === undefined || start.format.classify(within(start, path)) !== undefined,
      );
    for (let at = 0; at < names.length; at += AT_ONCE) {
      const looked = await Promise.all(names.slice(at, at + AT_ONCE).map((path) => inspect(start, path)));
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
    // Where the system did not say that they went: their watchers are of use to nobody.
    for (const folder of listened) if (!seen.folders.has(folder)) forget(folder);
    looked_all_at = Date.now();
    if (!ready) {
      ready = true;
      options.onReady();
    }
  }

  let scanning_next: Promise<void> | undefined;

  /** A look that runs already may have passed a place before it changed: only one that begins now sees all. */
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

  /** What is at a path now; a folder is walked. */
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
      // Gone, or not to be looked at: `inspect` says which.
    }
    return await inspect(start, path);
  }

  async function inspectAll(paths: readonly string[]): Promise<void> {
    const found: FoundFile[] = [];
    const missing: string[] = [];
    for (let at = 0; at < paths.length && !closed; at += AT_ONCE) {
      const some = paths.slice(at, at + AT_ONCE);
      const looked = await Promise.all(some.map(inspectPath));
      for (const [place, path] of some.entries()) {
        const file = looked[place];
        if (file) found.push(file);
        else missing.push(path);
      }
    }
    // A file that was moved is found at its new path before it is missed at the old one.
    emitFound(found);
    emitGone(missing);
  }

  function listen(folder: string) {
    if (!options.hints || folders.has(folder) || folders.size >= MAX_FOLDERS) return;
    try {
      const watcher = watchFolder(folder, { persistent: false });
      folders.set(folder, watcher);
      watcher.on("change", (event, name) => {
        if (name === null) return;
        // That a folder itself went or was moved comes under its own name. What stands at its path after that is another
        // folder, which this watcher would never report.
        if (event === "rename" && name.toString() === basename(folder)) {
          forgetBelow(folder);
          hint(folder);
        }
        hint(join(folder, name.toString()));
      });
      watcher.on("error", () => forget(folder));
    } catch {
      // Too many watched folders, or one that just went: the next look at everything covers it.
    }
  }

  function forget(folder: string) {
    folders.get(folder)?.close();
    folders.delete(folder);
  }

  function forgetBelow(folder: string) {
    for (const path of folders.keys()) if (path === folder || path.startsWith(folder + sep)) forget(path);
  }

  function hint(path: string) {
    if (closed) return;
    hinted.add(path);
    if (hinted.size === 1) {
      after(Math.max(0, looked_at + HINT_DELAY - performance.now()), async () => {
        const paths = [...hinted];
        hinted.clear();
        looked_at = performance.now();
        await inspectAll(paths);
        looked_at = performance.now();
      });
    }
  }

  function after(delay: number, work: () => Promise<unknown>) {
    // A look that was under way then ends later: what it would wait for keeps the process.
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
      // A tree so large or slow that a look takes seconds is looked at less often: at most a tenth of the time.
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
    get looked_at() {
      return looked_all_at;
    },
    exists: (root) => existing.has(root),
    setHot(path, isHot) {
      if (isHot) hot.add(path);
      else hot.delete(path);
    },
    follow: ({ path, format, kind, side }) =>
      followed.set(path, { path, format, kind, ...(side !== undefined && { side }) }),
    look: inspectAll,
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
/** Why a place cannot be read. By its message: of an error that comes from a thread, no code is left. */
export function whyUnread(error: unknown): string {
  const cause = causeOf(error);
  return /^E(?:ACCES|PERM):/.test(cause) ? NO_PERMISSION : `it cannot be read: ${cause}`;
}
