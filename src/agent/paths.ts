import { randomUUID } from "node:crypto";
import { type BigIntStats, constants, existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, rename, unlink } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { AgentHost } from "./agent.ts";
import { ToolInputError } from "./tool.ts";
import { requireExactText } from "./tool-input.ts";

/**
 * How file tools stay inside the session's folder. `locate` resolves every link when a call is prepared, so that rules and the
 * user judge the real path. When the call runs, that path is opened component by component from the folder's own handle, without
 * following links: a link that was swapped in since then is refused, and nothing can change between a check and its use. On Linux
 * each component is opened relative to its parent's handle (`/proc/self/fd/N/name` acts as `openat`). On other systems it is
 * opened by path, and the opened file is then compared to what the path refers to.
 *
 * The data folder, with its keys, is excluded if it is inside the session's folder, such as a home folder. It is recognized by
 * its identity, not its name, which a link, a mount or letter case may change. It is refused when it is opened, so that walks do
 * not enter it either.
 *
 * Two cases cannot be detected: hard links to files outside, and another process that moves a folder out of the session's folder
 * while it is open.
 */

/** A path inside the session's folder with all links resolved. It need not exist. */
export interface Place {
  /** The session's folder. */
  readonly root: string;
  readonly absolute: string;
  /** Path relative to `root` with `/` as separator; empty for `root` itself. */
  readonly relative: string;
  /** Identity of the data folder, which must not be opened. Absent: there is none. */
  readonly private_folder?: FolderIdentity;
}

type FolderIdentity = Pick<BigIntStats, "dev" | "ino">;

/** A path that cannot be used as requested. The message is for the model. */
export class PathError extends Error {
  override readonly name = "PathError";
  /** Whether the path does not exist. */
  readonly is_missing: boolean;
  constructor(message: string, is_missing = false) {
    super(message);
    this.is_missing = is_missing;
  }
}

/** Resolves a path. Throws `ToolInputError` if it leads out of the session's folder, or into the data folder. */
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

/** Resolves the absolute path of a file in `AgentHost.files`; `undefined`: the path is not in that folder. */
export function locateStored(
  { cwd, files }: Pick<AgentHost, "cwd" | "files">,
  path: string,
): Place | undefined {
  const asked = resolve(cwd, path);
  if (asked.startsWith(files + sep)) return locateIn(files, asked);
  const inherited = keptPath(files, asked);
  return inherited !== asked && existsSync(inherited) ? locateIn(files, inherited) : undefined;
}

/**
 * The current path of a stored file that the history refers to. A fork's history contains the original paths, but its copies are
 * in a subfolder that is named after the original session.
 */
export function keptPath(files: string, path: string): string {
  const sessions = dirname(files);
  const isOthers = path.startsWith(sessions + sep) && !path.startsWith(files + sep);
  return isOthers ? join(files, relative(sessions, path)) : path;
}

const PRIVATE = "this is in Verbatim's data folder with keys and histories, which file tools cannot access.";

function isSameFolder(one: FolderIdentity, other: FolderIdentity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

function locateIn(cwd: string, path: string): Place {
  requireExactText(path, "The path");
  if (path === "") throw new ToolInputError("The path is empty.");
  if (/^~(?:\/|$)/.test(path))
    throw new ToolInputError(
      `${path}: \`~\` is not resolved, and files outside the session's folder ${cwd} cannot be used.`,
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

/** The path of a place, for users and models. */
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

/** The real path. Its last components may not exist. */
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
  if (code === "ELOOP") return new ToolInputError(`${path} leads through a cycle of links.`);
  if (code === "ENOTDIR") return new ToolInputError(`${path} leads through something that is not a folder.`);
  if (code === "ENAMETOOLONG") return new ToolInputError(`${path.slice(0, 200)}… is too long a path.`);
  if (code === "EACCES") return new ToolInputError(`${path} cannot be reached: permission denied.`);
  throw error;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** An open folder. Whatever is opened through it is in it, even if its path refers to something else by now. */
export interface OpenFolder {
  /** A path for `node:fs` that refers to this folder. */
  readonly path: string;
  /** Opens a regular file for reading, without following links. Throws `PathError`. */
  openFile(name: string): Promise<FileHandle>;
  /** Opens a subfolder without following links. Throws `PathError`. */
  openFolder(name: string): Promise<OpenFolder>;
  close(): Promise<void>;
}

const CAN_OPEN_BELOW = process.platform === "linux" && existsSync("/proc/self/fd");
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Opens a folder. Throws `PathError`. */
export async function openFolder(place: Place): Promise<OpenFolder> {
  return await openFolderAt(place, namesOf(place.relative), false);
}

/** Opens a regular file. Throws `PathError`. */
export async function openFile(place: Place): Promise<FileHandle> {
  const { folder, name } = await openParent(place, false);
  try {
    return await folder.openFile(name);
  } finally {
    await folder.close();
  }
}

/** Identifies the content of a file when it was read, to detect changes before it is replaced. */
export type FileIdentity = Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs" | "ctimeNs">;

/**
 * Writes a whole file atomically (to a temporary file in the same folder, which is then renamed), creating missing folders. A
 * link at the path is replaced, not followed. Throws `PathError`.
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
      throw new PathError(`${named(place)} was changed in the meantime. Read it again.`);
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

/** Opens a folder by a path of which all components except the last are already verified. */
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
      throw new PathError(`${name} is not a valid file name.`);
    return join(own, name);
  };
  return {
    path: own,
    openFolder: (name) => enter(check(name), place, name),
    async openFile(name) {
      const inside = check(name);
      try {
        // Checked before opening, because opening a device can have effects.
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

/** For systems without paths relative to handles: requires that a path still refers to the opened file and is inside `root`. */
async function requireSame(handle: FileHandle, path: string, root: string): Promise<void> {
  const [opened, real] = await Promise.all([handle.stat({ bigint: true }), realpath(path)]);
  const there = await lstat(path, { bigint: true });
  if (real === path && isInside(root, real) && opened.ino === there.ino && opened.dev === there.dev) return;
  await handle.close();
  throw new PathError(`${path} changed while it was being opened.`);
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isSymbolicLink()) return "a link that was created after the call was prepared";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

function explain(error: unknown, path: string): unknown {
  switch (codeOf(error)) {
    case "ENOENT":
      return new PathError(`${path} does not exist.`, true);
    case "ELOOP":
      return new PathError(`${path} leads through a link that was created after the call was prepared.`);
    case "ENOTDIR":
      return new PathError(`${path} leads through a link or something that is not a folder.`);
    case "EISDIR":
      return new PathError(`${path} is a folder.`);
    case "EACCES":
    case "EPERM":
      return new PathError(`${path}: permission denied.`);
    case "EROFS":
      return new PathError(`${path} is on a read-only file system.`);
    case "ENOSPC":
    case "EDQUOT":
      return new PathError(`${path} could not be written: no space left.`);
    case "ENAMETOOLONG":
      return new PathError(`${path.slice(0, 200)}… is too long a name.`);
    case "EMFILE":
    case "ENFILE":
      return new PathError(`${path}: too many open files.`);
    case "EIO":
      return new PathError(`${path}: the disk reports an error.`);
    default:
      return error;
  }
}
