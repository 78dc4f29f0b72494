import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { DiffHunk, FileDiff } from "../../model/parts/ui-extra.ts";
import { readPatch } from "../conversation/patch.ts";
import { fileDiff } from "../conversation/unified-diff.ts";
import { pathOf } from "./values.ts";

/** The files that a call of an editing tool changes, by its arguments. Empty: they do not say it. */
export function filesOfArguments(input: JsonObject | undefined): FileDiff[] {
  if (input === undefined) return [];
  const patch = readPatch(asString(input.input) ?? "");
  if (patch.length > 0) return patch;
  const path = asText(input.filePath);
  const content = asString(input.content);
  if (path !== undefined && content !== undefined)
    return [fileDiff(path, "create", [replacement("", content)])];
  const hunks = new Map<string, DiffHunk[]>();
  for (const item of [input, ...asArray(input.replacements)]) {
    const { filePath, oldString, newString } = asObject(item) ?? {};
    const name = asText(filePath) ?? path;
    const [before, after] = [asString(oldString), asString(newString)];
    if (name === undefined || before === undefined || after === undefined) continue;
    hunks.set(name, [...(hunks.get(name) ?? []), replacement(before, after)]);
  }
  return [...hunks].map(([name, list]) => fileDiff(name, "update", list));
}

/** A hunk that replaces a text at an unknown place. Equal lines at both ends, which tools demand, are context. */
function replacement(before: string, after: string): DiffHunk {
  const old_lines = linesOf(before);
  const new_lines = linesOf(after);
  let start = 0;
  while (start < old_lines.length && start < new_lines.length && old_lines[start] === new_lines[start])
    start += 1;
  let end = 0;
  while (
    end < old_lines.length - start &&
    end < new_lines.length - start &&
    old_lines.at(-1 - end) === new_lines.at(-1 - end)
  )
    end += 1;
  return {
    old_start: 0,
    old_lines: old_lines.length,
    new_start: 0,
    new_lines: new_lines.length,
    lines: [
      ...old_lines.slice(0, start).map((line) => ` ${line}`),
      ...old_lines.slice(start, old_lines.length - end).map((line) => `-${line}`),
      ...new_lines.slice(start, new_lines.length - end).map((line) => `+${line}`),
      ...old_lines.slice(old_lines.length - end).map((line) => ` ${line}`),
    ],
  };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * The files of `textEditGroup` and `notebookEditGroup`: the new lines and their place. The text that they replaced is not
 * recorded.
 */
export function filesOfEdits(groups: readonly unknown[]): FileDiff[] {
  const hunks = new Map<string, DiffHunk[]>();
  for (const value of groups) {
    const group = asObject(value) ?? {};
    const path = pathOf(group.uri);
    if (path === undefined) continue;
    const added = asArray(group.edits).flatMap(asArray).flatMap(hunkOf);
    hunks.set(path, [...(hunks.get(path) ?? []), ...added]);
  }
  return [...hunks].map(([path, list]) => fileDiff(path, "update", list));
}

/** An edit `{range, text}`, or `{uri, edit}` of a notebook's cell. */
function hunkOf(value: unknown): DiffHunk[] {
  const object = asObject(value) ?? {};
  const edit = asObject(object.edit) ?? object;
  const text = asString(edit.text);
  if (text === undefined || text === "") return [];
  const start = asNumber(asObject(edit.range)?.startLineNumber) ?? 0;
  const lines = linesOf(text);
  return [
    {
      old_start: start,
      old_lines: 0,
      new_start: start,
      new_lines: lines.length,
      lines: lines.map((line) => `+${line}`),
    },
  ];
}
