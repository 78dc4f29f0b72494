import type { Dirent } from "node:fs";
import { type FileHandle, readdir } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { compileGlob, type PathMatcher } from "./glob-pattern.ts";
import { type OpenFolder, openFolder, PathError, type Place } from "./paths.ts";

/** A regular file that was found. */
interface WalkedFile {
  /** Path relative to the session's folder. */
  readonly path: string;
  /** Path relative to the folder in which the walk began. */
  readonly below: string;
  /** Opens the file without following links. Only valid until the next file is requested. */
  open(): Promise<FileHandle>;
}

interface WalkOptions {
  signal: AbortSignal;
  /** Called with the reason when the walk skips something. */
  onCut: (why: string) => void;
}

const MAX_DEPTH = 64;
/** Folders that are skipped, unless the walk begins in one of them. */
const SKIPPED = new Set([".git", "node_modules", ".hg", ".svn"]);
const ENTRY_LIMIT = 200_000;
const IGNORE_FILE_LIMIT = 64 * 1024;
const IGNORE_LINE_LIMIT = 1_000;
/**
 * Time after which the walk yields to other work, in milliseconds: an untrusted repository's rules may take long for many names.
 */
const TURN_MS = 5;

/** A line of a `.gitignore`. */
interface IgnoreRule {
  /** The folder of the `.gitignore`, relative to the session's folder, with a trailing `/`; empty for that folder itself. */
  readonly folder: string;
  readonly matches: PathMatcher;
  readonly folders_only: boolean;
  readonly negated: boolean;
}

/**
 * All regular files below a folder, sorted by name within each folder, except for ignored files and the data folder. Does not
 * follow links. Depth and number of entries are limited. Throws `PathError` if the folder itself cannot be opened; subfolders
 * that cannot be opened are skipped.
 */
export async function* walkFiles(place: Place, options: WalkOptions): AsyncGenerator<WalkedFile> {
  const { signal, onCut } = options;
  let left = ENTRY_LIMIT;
  const isIgnored = createIgnored(signal);
  const prefix = place.relative === "" ? "" : `${place.relative}/`;

  async function* walk(
    folder: OpenFolder,
    path: string,
    above: readonly IgnoreRule[],
    depth: number,
  ): AsyncGenerator<WalkedFile> {
    const rules = [...above, ...(await readIgnoreFile(folder, path))];
    let entries: Dirent[];
    try {
      entries = await readdir(folder.path, { withFileTypes: true });
    } catch {
      onCut(`${path} could not be listed`);
      return;
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (signal.aborted) return;
      if (left-- <= 0) {
        onCut(`only the first ${ENTRY_LIMIT.toLocaleString("en")} entries were checked`);
        return;
      }
      const own = path + entry.name;
      const isFolder = entry.isDirectory();
      if ((!isFolder && !entry.isFile()) || (await isIgnored(own, isFolder, rules))) continue;
      if (!isFolder) {
        yield { path: own, below: own.slice(prefix.length), open: () => folder.openFile(entry.name) };
      } else if (!SKIPPED.has(entry.name)) {
        if (depth >= MAX_DEPTH) {
          onCut(`folders deeper than ${MAX_DEPTH} were not searched`);
          continue;
        }
        const inner = await folder.openFolder(entry.name).catch(() => undefined);
        if (inner === undefined) continue;
        try {
          yield* walk(inner, `${own}/`, rules, depth + 1);
        } finally {
          await inner.close();
        }
      }
    }
  }

  const above = await rulesAbove(place, isIgnored);
  const start = await openFolder(place);
  try {
    yield* walk(start, prefix, above, 0);
  } finally {
    await start.close();
  }
}

/** The rules of the parent folders of a walk; none if they ignore the folder itself, because it was requested explicitly. */
async function rulesAbove(place: Place, isIgnored: Ignored): Promise<IgnoreRule[]> {
  const names = place.relative.split("/").filter((name) => name !== "");
  const rules: IgnoreRule[] = [];
  let path = "";
  for (const name of names) {
    const folder = await openFolder({ ...place, relative: path.replace(/\/$/, "") });
    try {
      rules.push(...(await readIgnoreFile(folder, path)));
    } finally {
      await folder.close();
    }
    path += `${name}/`;
    if (await isIgnored(path.slice(0, -1), true, rules)) return [];
  }
  return rules;
}

async function readIgnoreFile(folder: OpenFolder, path: string): Promise<IgnoreRule[]> {
  let file: FileHandle;
  try {
    file = await folder.openFile(".gitignore");
  } catch (error) {
    if (error instanceof PathError) return [];
    throw error;
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(IGNORE_FILE_LIMIT), 0, IGNORE_FILE_LIMIT, 0);
    const lines = buffer.toString("utf8", 0, bytesRead).split(/\r?\n/, IGNORE_LINE_LIMIT);
    return lines.flatMap((line) => readIgnoreLine(line, path));
  } finally {
    await file.close();
  }
}

function readIgnoreLine(line: string, folder: string): IgnoreRule[] {
  const bare = line.trimEnd();
  const text = bare.endsWith("\\") ? line.slice(0, bare.length + 1) : bare;
  if (text === "" || text.startsWith("#")) return [];
  const negated = text.startsWith("!");
  const pattern = (negated ? text.slice(1) : text).replace(/\/$/, "");
  const folders_only = text.endsWith("/");
  // A pattern without a slash, except at its end, matches names at any depth.
  const isAnchored = pattern.includes("/");
  try {
    const matches = compileGlob(isAnchored ? pattern : `**/${pattern}`, { braces: false });
    return [{ folder, matches, folders_only, negated }];
  } catch {
    return [];
  }
}

type Ignored = (path: string, isFolder: boolean, rules: readonly IgnoreRule[]) => Promise<boolean>;

/** Creates a check whether rules ignore a path. It yields regularly. Once the walk is aborted, it ignores everything. */
function createIgnored(signal: AbortSignal): Ignored {
  let since = performance.now();
  const isLong = () => performance.now() - since > TURN_MS;
  const yieldToOthers = async (): Promise<void> => {
    await setImmediate();
    since = performance.now();
  };
  return async (path, isFolder, rules) => {
    // Yield even if there are no rules: a folder may contain a hundred thousand names.
    if (isLong()) await yieldToOthers();
    for (let index = rules.length - 1; index >= 0; index--) {
      const rule = rules[index];
      if (rule === undefined || (rule.folders_only && !isFolder) || !path.startsWith(rule.folder)) continue;
      if (isLong()) {
        await yieldToOthers();
        if (signal.aborted) return true;
      }
      if (rule.matches(path.slice(rule.folder.length))) return !rule.negated;
    }
    return signal.aborted;
  };
}
