import type { Format } from "../../../sources/contract.ts";
import { type FoundFile, isReplaced } from "./found-file.ts";

/** The files that were reported. */
export interface KnownFiles {
  readonly files: ReadonlyMap<string, FoundFile>;
  /** The session file that has this side file. */
  ownerOf(side: string): string | undefined;
  /** Adds files. Returns those that are new or changed. */
  update(found: readonly FoundFile[]): FoundFile[];
  /** Removes files. Returns those that were known. */
  remove(paths: readonly string[]): string[];
}

/** Remembers the reported files. */
export function createKnownFiles(isOff: (format: Format) => boolean): KnownFiles {
  const files = new Map<string, FoundFile>();
  const sides = new Map<string, string>();
  return {
    files,
    ownerOf: (side) => sides.get(side),
    update(found) {
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
      for (const file of changed) files.set(file.path, file);
      for (const file of changed)
        if (file.side !== undefined && !isReplaced(file, files)) sides.set(file.side, file.path);
      return changed;
    },
    remove(paths) {
      // Files of a switched-off agent are not reported as deleted.
      return paths.filter((path) => {
        const known = files.get(path);
        return files.delete(path) && known !== undefined && !isOff(known.format);
      });
    },
  };
}
