import { asText, type JsonObject } from "../../model/narrow.ts";
import type { DiffHunk, FileDiff, UiExtra } from "../../model/parts/ui-extra.ts";

const HEADER = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The hunks of one file's unified diff, without file headers and surrounding text. */
export function hunksOf(diff: string): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let hunk: DiffHunk | undefined;
  for (const line of diff.split("\n")) {
    const [header, old_start, new_start] = HEADER.exec(line) ?? [];
    if (header !== undefined) {
      hunk = {
        old_start: Number(old_start),
        old_lines: 0,
        new_start: Number(new_start),
        new_lines: 0,
        lines: [],
      };
      hunks.push(hunk);
    } else if (hunk !== undefined && /^[ +-]/.test(line)) {
      hunk.lines.push(line);
      if (!line.startsWith("+")) hunk.old_lines += 1;
      if (!line.startsWith("-")) hunk.new_lines += 1;
    }
  }
  return hunks;
}

/** A change of one file with its line counts. */
export function fileDiff(path: string, change: FileDiff["change"], hunks: DiffHunk[]): FileDiff {
  let additions = 0;
  let deletions = 0;
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.startsWith("+")) additions += 1;
      if (line.startsWith("-")) deletions += 1;
    }
  }
  return { path, change, additions, deletions, hunks };
}

/** The file change in `resultDisplay` of a call, which Gemini CLI and its forks show in the terminal. */
export function displayedDiff(display: JsonObject | undefined, path?: string): UiExtra | undefined {
  const diff = asText(display?.fileDiff);
  const name = path ?? asText(display?.filePath) ?? asText(display?.fileName);
  const hunks = diff === undefined ? [] : hunksOf(diff);
  if (name === undefined || hunks.length === 0) return undefined;
  const isNew = display?.originalContent === null || display?.originalContent === "";
  return { type: "diff", files: [fileDiff(name, isNew ? "create" : "update", hunks)] };
}
