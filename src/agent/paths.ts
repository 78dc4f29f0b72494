import { randomUUID } from "node:crypto";
import { type BigIntStats, constants, existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, rename, unlink } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { AgentHost } from "./agent.ts";
import { ToolInputError } from "./tool.ts";
import { requireExactText } from "./tool-input.ts";

/**
 * How file tools stay inside the session's folder. `locate` resolves every link when a call is prepared, so that rules and the person
 * judge the path that is really meant. When the call runs, that path is opened component by component from the folder's own
 * handle, following no link at all: whatever was swapped in since is refused, and there is no moment at which a check has passed and the
 * thing checked can still change. On Linux each component is opened below its parent's handle (`/proc/self/fd/N/name` is `openat`);
 * elsewhere by path, with what was opened compared to what the path then names.
 *
 * The daemon's own folder, with its keys, is no part of a session's folder that has it inside (a home folder has). It is known by
 * what it is, not by its name, which a link, a mount or another case may change; and it is refused when it is opened, so that whatever walks
 * folders does not come into it either.
 *
 * A hard link to a file outside looks like any other file, and a process with rights outside can move a folder out while
 * it is open: neither can be seen from here.
 */

/** A path inside the session's folder, all links resolved. It need not exist. */
export interface Place {
  /** The session's folder. */
  readonly root: string;
  readonly absolute: string;
  /** Below `root`, `/` between names; empty for `root` itself. */
  readonly relative: string;
  /** The daemon's own folder, which is not opened; absent where there is none. */
  readonly private_folder?: FolderIdentity;
}

type FolderIdentity = Pick<BigIntStats, "dev" | "ino">;

/** A path that cannot be used as it was asked for; the message is for the model. */
export class PathError extends Error {
  override readonly name = "PathError";
  /** Nothing is there. */
  readonly is_missing: boolean;
  constructor(message: string, is_missing = false) {
    super(message);
    this.is_missing = is_missing;
  }
}

/** Finds what a path means. Throws `ToolInputError` where it leads out of the session's folder, or into the daemon's own. */
export function locate(
  { cwd, private_folder }: Pick<AgentHost, "cwd" | "private_folder">,
  path: string,
): Place {
  const place = locateIn(cwd, path);
  const hidden = statSync(private_folder, { bigint: true, throwIfNoEntry: false });
  if (hidden === undefined) return place;
  let folder = place.root;
  for (const name of ["", ...namesOf(place.relative)]) {
    folder = join(folder, name);
    const there = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
    if (there === undefined) break;
    if (isSameFolder(there, hidden)) throw new ToolInputError(`${path}: ${PRIVATE}`);
  }
  return { ...place, private_folder: hidden };
}

/** Finds a file of the session's own (`AgentHost.files`), named by its whole path; nothing where that is not what the path means. */
export function locateKept(
  { cwd, files }: Pick<AgentHost, "cwd" | "files">,
  path: string,
): Place | undefined {
  const asked = resolve(cwd, path);
  if (asked.startsWith(files + sep)) return locateIn(files, asked);
  const inherited = keptPath(files, asked);
  return inherited !== asked && existsSync(inherited) ? locateIn(files, inherited) : undefined;
}

/**
 * Where a kept file that history names is among the session's own: what a fork took over from another session lies below that
 * one's name, while its history names it where that one kept it.
 */
export function keptPath(files: string, path: string): string {
  const sessions = dirname(files);
  const isOthers = path.startsWith(sessions + sep) && !path.startsWith(files + sep);
  return isOthers ? join(files, relative(sessions, path)) : path;
}

const PRIVATE =
  "this is in the folder where Verbatim keeps its keys and histories, which file tools do not use.";

function isSameFolder(one: FolderIdentity, other: FolderIdentity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

function locateIn(cwd: string, path: string): Place {
  requireExactText(path, "The path");
  if (path === "") throw new ToolInputError("The path is empty.");
  if (/^~(?:\/|$)/.test(path))
    throw new ToolInputError(
      `${path}: \`~\` is not resolved, and files outside the session's folder ${cwd} are not used.`,
    );
  const root = realpathSync(cwd);
  let asked = resolve(cwd, path);
  if (isInside(root, asked)) asked = join(root, relative(root, asked));
  else if (isInside(resolve(cwd), asked)) asked = join(root, relative(resolve(cwd), asked));
  else throw outside(path, cwd);
  const absolute = resolveLinks(asked, path);
  if (!isInside(root, absolute)) throw outside(path, cwd);
  return { root, absolute, relative: relative(root, absolute).split(sep).join("/") };
}

/** The same place as a person and a model read it. */
export function named(place: Place): string {
  return place.relative === "" ? "." : place.relative;
}

function outside(path: string, cwd: string): ToolInputError {
  return new ToolInputError(
    `${path} is outside the session's folder ${cwd}: only files inside it can be used.`,
  );
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The real path, of which the last components may not exist. */
function resolveLinks(path: string, asked: string): string {
  const missing: string[] = [];
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return join(realpathSync(existing), ...missing);
    } catch (error) {
      const code = codeOf(error);
      if (code !== "ENOENT" || dirname(existing) === existing) throw refused(asked, error);
    }
    if (lstatSync(existing, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new ToolInputError(`${asked} leads through a link to something that does not exist.`);
    missing.unshift(basename(existing));
  }
}

function refused(path: string, error: unknown): ToolInputError {
  const code = codeOf(error);
  if (code === "ELOOP") return new ToolInputError(`${path} leads through links that go round in a circle.`);
  if (code === "ENOTDIR") return new ToolInputError(`${path} leads through something that is not a folder.`);
  if (code === "ENAMETOOLONG") return new ToolInputError(`${path.slice(0, 200)}… is too long a path.`);
  if (code === "EACCES") return new ToolInputError(`${path} cannot be reached: permission denied.`);
  throw error;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** A folder that is held open: what is reached through it lies in it, wherever its path may lead by now. */
export interface OpenFolder {
  /** A path for `node:fs` that means this folder. */
  readonly path: string;
  /** Opens a regular file for reading, following no link. Throws `PathError`. */
  openFile(name: string): Promise<FileHandle>;
  /** Opens a folder in it, following no link. Throws `PathError`. */
  openFolder(name: string): Promise<OpenFolder>;
  close(): Promise<void>;
}

const CAN_OPEN_BELOW = process.platform === "linux" && existsSync("/proc/self/fd");
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Opens a place that is a folder. Throws `PathError`. */
export async function openFolder(place: Place): Promise<OpenFolder> {
  return await openFolderAt(place, namesOf(place.relative), false);
}

/** Opens a place that is a regular file. Throws `PathError`. */
export async function openFile(place: Place): Promise<FileHandle> {
  const { folder, name } = await openParent(place, false);
  try {
    return await folder.openFile(name);
  } finally {
    await folder.close();
  }
}

/** What a file was when it was read: it is replaced only as long as it is the same. */
export type FileIdentity = Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs" | "ctimeNs">;

/**
 * Puts a whole file in its place, making the folders above it. It is written beside its place first and then renamed, so that
 * nobody ever sees half of it, and a link that has been put there is replaced, not followed. Throws `PathError`.
 */
export async function replaceFile(place: Place, data: Uint8Array, expected?: FileIdentity): Promise<void> {
  const { folder, name } = await openParent(place, true);
  const target = join(folder.path, name);
  const draft = join(folder.path, `.${randomUUID()}.tmp`);
  try {
    const before = await found(target);
    if (before !== undefined && !before.isFile())
      throw new PathError(`${named(place)} is ${kindOf(before)}, not a file.`);
    const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
    try {
      if (before !== undefined) await handle.chmod(Number(before.mode & 0o777n));
      if (!CAN_OPEN_BELOW) await requireSame(handle, draft, place.root);
      await handle.writeFile(data);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    if (expected !== undefined && !isSame(await found(target), expected))
      throw new PathError(`${named(place)} was changed by someone else meanwhile: read it again.`);
    await rename(draft, target);
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw explain(error, named(place));
  } finally {
    await folder.close();
  }
}

async function found(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isSame(now: FileIdentity | undefined, then: FileIdentity): boolean {
  return (
    now !== undefined &&
    now.dev === then.dev &&
    now.ino === then.ino &&
    now.size === then.size &&
    now.mtimeNs === then.mtimeNs &&
    now.ctimeNs === then.ctimeNs
  );
}

function namesOf(path: string): string[] {
  return path === "" ? [] : path.split("/");
}

async function openParent(place: Place, make: boolean): Promise<{ folder: OpenFolder; name: string }> {
  const names = namesOf(place.relative);
  const name = names.pop();
  if (name === undefined) throw new PathError(`${place.root} is a folder, not a file.`);
  return { folder: await openFolderAt(place, names, make), name };
}

async function openFolderAt(place: Place, names: readonly string[], make: boolean): Promise<OpenFolder> {
  let folder = await enter(place.root, place, place.root);
  for (const name of names) {
    const parent = folder;
    try {
      if (make) await mkdir(join(parent.path, name)).catch(ignoreExisting);
      folder = await parent.openFolder(name);
    } catch (error) {
      throw explain(error, named(place));
    } finally {
      await parent.close();
    }
  }
  return folder;
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== "EEXIST") throw error;
}

/** Opens a folder by a path whose last component alone is still to be trusted. */
async function enter(path: string, place: Place, shown: string): Promise<OpenFolder> {
  let handle: FileHandle;
  try {
    handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    throw explain(error, shown);
  }
  if (place.private_folder && isSameFolder(await handle.stat({ bigint: true }), place.private_folder)) {
    await handle.close();
    throw new PathError(`${shown}: ${PRIVATE}`);
  }
  const own = CAN_OPEN_BELOW ? `/proc/self/fd/${handle.fd}` : path;
  if (!CAN_OPEN_BELOW) await requireSame(handle, path, place.root);
  const check = (name: string): string => {
    if (name === "" || name === "." || name === ".." || name.includes("/"))
      throw new PathError(`${name} is not a name in a folder.`);
    return join(own, name);
  };
  return {
    path: own,
    openFolder: (name) => enter(check(name), place, name),
    async openFile(name) {
      const inside = check(name);
      try {
        // Looked at before it is opened: opening a device can already do something.
        const before = await lstat(inside, { bigint: true });
        if (!before.isFile()) throw new PathError(`${name} is ${kindOf(before)}, not a file.`);
        const file = await open(inside, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        const after = await file.stat({ bigint: true });
        if (!after.isFile()) {
          await file.close();
          throw new PathError(`${name} is ${kindOf(after)}, not a file.`);
        }
        if (!CAN_OPEN_BELOW) await requireSame(file, inside, place.root);
        return file;
      } catch (error) {
        throw explain(error, name);
      }
    },
    close: () => handle.close(),
  };
}

/** Where no path can be followed from a handle: what was opened must be what its path names, and that must be inside. */
async function requireSame(handle: FileHandle, path: string, root: string): Promise<void> {
  const [opened, real] = await Promise.all([handle.stat({ bigint: true }), realpath(path)]);
  const there = await lstat(path, { bigint: true });
  if (real === path && isInside(root, real) && opened.ino === there.ino && opened.dev === there.dev) return;
  await handle.close();
  throw new PathError(`${path} changed while it was opened.`);
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isSymbolicLink()) return "a link that was put there since the call was prepared";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

function explain(error: unknown, path: string): unknown {
  switch (codeOf(error)) {
    case "ENOENT":
      return new PathError(`${path} does not exist.`, true);
    case "ELOOP":
      return new PathError(`${path} leads through a link that was put there since the call was prepared.`);
    case "ENOTDIR":
      return new PathError(`${path} leads through a link, or something that is not a folder.`);
    case "EISDIR":
      return new PathError(`${path} is a folder.`);
    case "EACCES":
    case "EPERM":
      return new PathError(`${path}: permission denied.`);
    case "EROFS":
      return new PathError(`${path} is on a file system that cannot be written to.`);
    case "ENOSPC":
    case "EDQUOT":
      return new PathError(`${path} could not be written: no space left.`);
    case "ENAMETOOLONG":
      return new PathError(`${path.slice(0, 200)}… is too long a name.`);
    case "EMFILE":
    case "ENFILE":
      return new PathError(`${path}: too many files are open.`);
    case "EIO":
      return new PathError(`${path}: the disk reports an error.`);
    default:
      return error;
  }
}
