import { asObject, asString } from "../../model/narrow.ts";
import type { DiffHunk, FileDiff } from "../../model/parts/ui-extra.ts";

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const FILE_HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

/**
 * The files of an `apply_patch` text (`*** Begin Patch` … `*** End Patch`) anywhere in `text`, such as in a here-document. Such
 * a patch has no line numbers, so hunks start at 0. Empty if there is no patch.
 */
export function readPatch(text: string): FileDiff[] {
  const begin = text.indexOf("*** Begin Patch");
  if (begin === -1) return [];
  const files: FileDiff[] = [];
  let file: FileDiff | undefined;
  let hunk: DiffHunk | undefined;
  for (const line of text.slice(begin).split("\n")) {
    if (line.startsWith("*** End Patch")) break;
    const header = FILE_HEADER.exec(line);
    if (header) {
      const [, operation, path = ""] = header;
      const change = operation === "Add" ? "create" : operation === "Delete" ? "delete" : "update";
      file = { path: path.trim(), change, additions: 0, deletions: 0, hunks: [] };
      hunk = undefined;
      files.push(file);
    } else if (file === undefined) {
      // Content before a file header is ignored.
    } else if (line.startsWith("*** Move to: ")) {
      file.change = "move";
      file.new_path = line.slice("*** Move to: ".length).trim();
    } else if (line.startsWith("@@")) {
      hunk = undefined;
    } else if (/^[ +-]/.test(line) || (line === "" && hunk !== undefined)) {
      if (hunk === undefined) {
        hunk = { old_start: 0, old_lines: 0, new_start: 0, new_lines: 0, lines: [] };
        file.hunks.push(hunk);
      }
      addLine(file, hunk, line === "" ? " " : line);
    }
  }
  return files;
}

/** Adds the hunks of a unified diff, as Codex writes it (without file headers), to `file`. */
function readUnifiedDiff(file: FileDiff, diff: string): void {
  let hunk: DiffHunk | undefined;
  for (const line of diff.split("\n")) {
    const header = HUNK.exec(line);
    if (header) {
      hunk = {
        old_start: Number(header[1]),
        old_lines: 0,
        new_start: Number(header[3]),
        new_lines: 0,
        lines: [],
      };
      file.hunks.push(hunk);
    } else if (hunk !== undefined && /^[ +-]/.test(line)) addLine(file, hunk, line);
  }
}

function addLine(file: FileDiff, hunk: DiffHunk, line: string): void {
  hunk.lines.push(line);
  if (line.startsWith("+")) {
    file.additions += 1;
    hunk.new_lines += 1;
  } else if (line.startsWith("-")) {
    file.deletions += 1;
    hunk.old_lines += 1;
  } else {
    hunk.new_lines += 1;
    hunk.old_lines += 1;
  }
}

/** Adds a complete file as one hunk of additions or deletions. */
function wholeFile(file: FileDiff, content: string, sign: "+" | "-"): void {
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return;
  const start = sign === "+" ? { old_start: 0, new_start: 1 } : { old_start: 1, new_start: 0 };
  const hunk: DiffHunk = { ...start, old_lines: 0, new_lines: 0, lines: [] };
  file.hunks.push(hunk);
  for (const line of lines) addLine(file, hunk, sign + line);
}

/** Reads `changes` of `patch_apply_end` or a `FileChange` item: `{path: {type, unified_diff | content, move_path}}`. */
export function readChanges(changes: unknown): FileDiff[] {
  const files: FileDiff[] = [];
  for (const [path, value] of Object.entries(asObject(changes) ?? {})) {
    const change = asObject(value);
    if (change === undefined) continue;
    const type = asString(change.type);
    const moved = asString(change.move_path);
    const file: FileDiff = {
      path,
      change:
        type === "add" ? "create" : type === "delete" ? "delete" : moved === undefined ? "update" : "move",
      ...(moved === undefined ? {} : { new_path: moved }),
      additions: 0,
      deletions: 0,
      hunks: [],
    };
    const diff = asString(change.unified_diff);
    const content = asString(change.content);
    if (diff !== undefined) readUnifiedDiff(file, diff);
    else if (content !== undefined) wholeFile(file, content, type === "delete" ? "-" : "+");
    files.push(file);
  }
  return files;
}
