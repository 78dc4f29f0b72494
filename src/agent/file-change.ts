import { structuredPatch } from "diff";
import type { FileDiff } from "../model/parts/ui-extra.ts";

/**
 * Maximum characters and changed lines of a diff. A larger change is shown as removing and adding all lines, because computing a
 * diff takes quadratic time and blocks the daemon.
 */
const TEXT_LIMIT = 2_000_000;
const EDIT_LIMIT = 1_000;

/** The change of a file as hunks with three lines of context. `before` is `undefined` for a new file. */
export function fileChange(path: string, before: string | undefined, after: string): FileDiff {
  const patch =
    (before ?? "").length + after.length > TEXT_LIMIT
      ? undefined
      : structuredPatch(path, path, before ?? "", after, undefined, undefined, {
          context: 3,
          maxEditLength: EDIT_LIMIT,
        });
  const hunks = patch
    ? patch.hunks.map((hunk) => ({
        old_start: hunk.oldStart,
        old_lines: hunk.oldLines,
        new_start: hunk.newStart,
        new_lines: hunk.newLines,
        // "\ No newline at end of file" is not a line.
        lines: hunk.lines.filter((line) => !line.startsWith("\\")),
      }))
    : [wholeFile(before ?? "", after)];
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    path,
    change: before === undefined ? "create" : "update",
    additions: lines.filter((line) => line.startsWith("+")).length,
    deletions: lines.filter((line) => line.startsWith("-")).length,
    hunks,
  };
}

function wholeFile(before: string, after: string): FileDiff["hunks"][number] {
  const linesOf = (text: string, sign: string): string[] =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => sign + line);
  const removed = linesOf(before, "-");
  const added = linesOf(after, "+");
  return {
    old_start: removed.length === 0 ? 0 : 1,
    old_lines: removed.length,
    new_start: added.length === 0 ? 0 : 1,
    new_lines: added.length,
    lines: [...removed, ...added],
  };
}
