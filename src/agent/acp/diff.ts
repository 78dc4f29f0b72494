import type { FileDiff } from "../../model/ui-extra.ts";

/** Unchanged lines that are shown before and after a change. */
const CONTEXT = 3;

/**
 * The change from one text to another as one hunk: what they share at the beginning and at the end is left out. Not the
 * smallest diff there is, and always a true one. An agent may give the text around its edit only, so the line numbers are 0:
 * not known.
 */
export function diffOf(path: string, before: string | undefined, after: string): FileDiff {
  const old = linesOf(before ?? "");
  const fresh = linesOf(after);
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < fresh.length - head &&
    old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]
  ) {
    tail += 1;
  }
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  const above = old.slice(Math.max(0, head - CONTEXT), head);
  const below = old.slice(old.length - tail, old.length - tail + CONTEXT);
  const lines = [
    ...above.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...below.map((line) => ` ${line}`),
  ];
  const shared = above.length + below.length;
  return {
    path,
    change: before === undefined ? "create" : "update",
    additions: added.length,
    deletions: removed.length,
    hunks:
      removed.length + added.length === 0
        ? []
        : [
            {
              old_start: 0,
              old_lines: removed.length + shared,
              new_start: 0,
              new_lines: added.length + shared,
              lines,
            },
          ],
  };
}

/** The change as a person reads it before allowing it. */
export function diffText({ path, change, hunks }: FileDiff): string {
  const heading = change === "create" ? `New file ${path}` : `Change ${path}`;
  return [heading, ...hunks.flatMap(({ lines }) => lines)].join("\n");
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  // The newline at the end ends the last line; it begins none.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
