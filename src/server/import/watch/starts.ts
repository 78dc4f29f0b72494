import { lstat, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { CodedText } from "../../../model/text/catalog.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import type { Format } from "../../../sources/contract.ts";
import type { KnownFile, WatchRoot } from "./found-file.ts";
import { isMissing, whyUnread } from "./why-unread.ts";

/** The start of a walk. `base`: the folder to which the paths for `classify` are relative. */
export interface Start {
  path: string;
  base: string;
  format?: Format;
  /** A file that the user named. */
  single?: boolean;
  /** A file added with `follow`. */
  known?: KnownFile;
  sample?: boolean;
}

/**
 * Resolves the roots that exist, the named paths and the followed files. `setError` is called for paths that cannot be read.
 */
export async function resolveStarts({
  roots,
  paths,
  followed,
  isOff,
  setError,
}: {
  roots: readonly WatchRoot[];
  paths: readonly string[];
  followed: ReadonlyMap<string, KnownFile>;
  isOff(format: Format): boolean;
  setError(path: string, why: CodedText): void;
}): Promise<Start[]> {
  const inRoots = new Map<string, Start>();
  for (const { path: root, format, sample = false, folders = format.root?.folders ?? [] } of roots) {
    for (const folder of folders) {
      try {
        const base = await realpath(root);
        const path = await realpath(join(base, folder));
        const same = inRoots.get(path);
        // Agents that share a variable may share a folder. Then the content of a file decides.
        if (same !== undefined && same.format !== format) delete same.format;
        else inRoots.set(path, { path, base, format, sample });
      } catch (error) {
        if (!isMissing(error) && !isOff(format))
          setError(join(root, folder), whyUnread(join(root, folder), error));
      }
    }
  }
  const found = [...inRoots.values()].filter(({ format }) => format === undefined || !isOff(format));
  for (const path of paths) {
    try {
      const real = await realpath(path);
      const isFolder = (await lstat(real)).isDirectory();
      found.push({ path: real, base: isFolder ? real : dirname(real), single: !isFolder });
    } catch (error) {
      setError(path, isMissing(error) ? daemonText("path_missing", { path }) : whyUnread(path, error));
    }
  }
  for (const [path, known] of followed) found.push({ path, base: dirname(path), known });
  return found;
}

/** The path that `Format.classify` gets. */
export const pathWithin = (start: Start, path: string): string =>
  relative(start.base, path).split(sep).join("/");
