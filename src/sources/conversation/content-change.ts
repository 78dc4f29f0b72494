import type { DiffHunk, FileDiff } from "../../model/parts/ui-extra.ts";
import { fileDiff } from "./unified-diff.ts";

/** Number of unchanged lines around a change. */
const CONTEXT = 3;

/** The change between two contents of a file as one hunk: from the first to the last line that differs. */
export function changeOf(path: string, before: string | undefined, after: string): FileDiff {
  const old_lines = linesOf(before ?? "");
  const new_lines = linesOf(after);
  const shorter = Math.min(old_lines.length, new_lines.length);
  let start = 0;
  while (start < shorter && old_lines[start] === new_lines[start]) start += 1;
  let same = 0;
  while (same < shorter - start && old_lines.at(-1 - same) === new_lines.at(-1 - same)) same += 1;
  const change = before === undefined ? "create" : "update";
  if (start === old_lines.length && start === new_lines.length) return fileDiff(path, change, []);
  const removed = old_lines.slice(start, old_lines.length - same);
  const added = new_lines.slice(start, new_lines.length - same);
  const leading = old_lines.slice(Math.max(0, start - CONTEXT), start);
  const trailing = old_lines.slice(old_lines.length - same, old_lines.length - same + CONTEXT);
  const unchanged = leading.length + trailing.length;
  const hunk: DiffHunk = {
    old_start: old_lines.length === 0 ? 0 : start - leading.length + 1,
    old_lines: removed.length + unchanged,
    new_start: new_lines.length === 0 ? 0 : start - leading.length + 1,
    new_lines: added.length + unchanged,
    lines: [
      ...leading.map((line) => ` ${line}`),
      ...removed.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...trailing.map((line) => ` ${line}`),
    ],
  };
  return fileDiff(path, change, [hunk]);
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
