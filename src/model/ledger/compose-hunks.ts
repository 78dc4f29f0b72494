import type { DiffHunk } from "../parts/ui-extra.ts";

/** Number of unchanged lines around a change, as in a unified diff. */
const CONTEXT = 3;

/**
 * A section of a file, as far as the diffs show it. `kept`: unchanged lines of the original, starting at the one-based line
 * `old`; the last one extends to the end of the file. `line`: a line with known text; with `old` it is from the original, without
 * it was added.
 */
type Segment = { kind: "kept"; old: number; count: number } | { kind: "line"; old?: number; text: string };

/** `old`: the line in the original. For an added line: the original line that follows it. */
type Operation = { sign: " " | "-" | "+"; text: string; old: number };

/**
 * Composes the diffs of one file, in order, into one diff from the original to the final text, without needing either text.
 * `undefined`: a diff has no line numbers, or does not apply to the result of the earlier ones.
 *
 * `isNew`: the file did not exist before the first diff.
 */
export function composeHunks(
  edits: readonly (readonly DiffHunk[])[],
  { isNew = false }: { isNew?: boolean } = {},
): DiffHunk[] | undefined {
  let segments: Segment[] = isNew ? [] : [{ kind: "kept", old: 1, count: Number.POSITIVE_INFINITY }];
  const removed = new Map<number, string>();
  for (const hunks of edits) {
    /** Number of lines added minus removed by the edit so far. */
    let shift = 0;
    for (const hunk of hunks) {
      const next = applyHunk(segments, hunk, shift, removed);
      if (next === undefined) return undefined;
      segments = next;
      shift += hunk.new_lines - hunk.old_lines;
    }
  }
  return hunksOf(operationsOf(segments, removed));
}

/** The segments after applying a hunk; `undefined`: it does not apply. Removed lines of the original are added to `removed`. */
function applyHunk(
  segments: readonly Segment[],
  hunk: DiffHunk,
  shift: number,
  removed: Map<number, string>,
): Segment[] | undefined {
  const lines = hunk.lines.filter((line) => !line.startsWith("\\"));
  // For an empty side, some writers give the line before it and others the line after it. The other side is unambiguous.
  const start = hunk.new_lines > 0 ? hunk.new_start - 1 : hunk.old_start - 1 + shift;
  if (start < 0 || (hunk.old_start === 0 && hunk.old_lines > 0)) return undefined;
  const split = splitAt(segments, start);
  if (split === undefined) return undefined;
  const { before } = split;
  /** The following segments in reverse order. */
  const after = split.after.toReversed();
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith("+")) {
      before.push({ kind: "line", text });
      continue;
    }
    const taken = takeLine(after);
    if (taken === undefined || (taken.text !== undefined && taken.text !== text)) return undefined;
    const { old } = taken;
    if (line.startsWith("-")) {
      if (old !== undefined) removed.set(old, text);
    } else before.push({ kind: "line", text, ...(old !== undefined && { old }) });
  }
  return [...before, ...after.toReversed()];
}

/** Splits segments at a zero-based line; `undefined`: the file is shorter. */
function splitAt(
  segments: readonly Segment[],
  index: number,
): { before: Segment[]; after: Segment[] } | undefined {
  const before: Segment[] = [];
  let left = index;
  for (const [at, segment] of segments.entries()) {
    if (left === 0) return { before, after: segments.slice(at) };
    const count = segment.kind === "kept" ? segment.count : 1;
    if (count <= left) {
      before.push(segment);
      left -= count;
    } else if (segment.kind === "kept") {
      before.push({ ...segment, count: left });
      const rest: Segment = { kind: "kept", old: segment.old + left, count: segment.count - left };
      return { before, after: [rest, ...segments.slice(at + 1)] };
    }
  }
  return left === 0 ? { before, after: [] } : undefined;
}

/** Removes the next line from reversed segments. */
function takeLine(segments: Segment[]): { old?: number; text?: string } | undefined {
  const next = segments.pop();
  if (next === undefined || next.kind === "line") return next;
  if (next.count > 1) segments.push({ kind: "kept", old: next.old + 1, count: next.count - 1 });
  return { old: next.old };
}

/** The edit operations from the original to the final text. Unchanged unknown lines are omitted. */
function operationsOf(segments: readonly Segment[], removed: ReadonlyMap<number, string>): Operation[] {
  const operations: Operation[] = [];
  let added: string[] = [];
  let next_old = 1;
  /** Ends a change before the line `old` of the original. */
  function endChange(old: number): void {
    const gone: { old: number; text: string }[] = [];
    for (; next_old < old; next_old += 1) {
      const text = removed.get(next_old);
      if (text !== undefined) gone.push({ old: next_old, text });
    }
    operations.push(...withoutSame(gone, added, next_old));
    added = [];
  }
  for (const segment of segments) {
    if (segment.kind === "line" && segment.old === undefined) {
      added.push(segment.text);
      continue;
    }
    const old = segment.old ?? next_old;
    endChange(old);
    if (segment.kind === "line") operations.push({ sign: " ", text: segment.text, old });
    next_old = old + (segment.kind === "kept" ? segment.count : 1);
  }
  const last = Math.max(0, ...removed.keys());
  if (next_old <= last || added.length > 0) endChange(Math.max(next_old, last + 1));
  return operations;
}

/** A change before the line `next` of the original, without lines at its ends that were removed and added again. */
function withoutSame(
  gone: readonly { old: number; text: string }[],
  added: readonly string[],
  next: number,
): Operation[] {
  let head = 0;
  while (head < Math.min(gone.length, added.length) && gone[head]?.text === added[head]) head += 1;
  let tail = 0;
  while (
    tail < Math.min(gone.length, added.length) - head &&
    gone[gone.length - 1 - tail]?.text === added[added.length - 1 - tail]
  )
    tail += 1;
  const behind = gone[gone.length - tail]?.old ?? next;
  const same = (lines: readonly { old: number; text: string }[]) =>
    lines.map(({ old, text }): Operation => ({ sign: " ", text, old }));
  return [
    ...same(gone.slice(0, head)),
    ...gone.slice(head, gone.length - tail).map(({ old, text }): Operation => ({ sign: "-", text, old })),
    ...added.slice(head, added.length - tail).map((text): Operation => ({ sign: "+", text, old: behind })),
    ...same(gone.slice(gone.length - tail)),
  ];
}

function hunksOf(operations: readonly Operation[]): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  /** Lines added minus removed so far: the difference between new and old line numbers. */
  let shift = 0;
  for (let at = 0; at < operations.length; ) {
    if (operations[at]?.sign === " ") {
      at += 1;
      continue;
    }
    let start = at;
    while (at - start < CONTEXT && operations[start - 1]?.sign === " " && follows(operations, start))
      start -= 1;
    const end = endOfHunk(operations, at);
    const lines = operations.slice(start, end);
    const old_lines = lines.filter(({ sign }) => sign !== "+").length;
    const new_lines = lines.filter(({ sign }) => sign !== "-").length;
    const first = lines[0]?.old ?? 1;
    hunks.push({
      // For an empty side, the line before it.
      old_start: old_lines === 0 ? first - 1 : first,
      old_lines,
      new_start: (new_lines === 0 ? first - 1 : first) + shift,
      new_lines,
      lines: lines.map(({ sign, text }) => `${sign}${text}`),
    });
    shift += new_lines - old_lines;
    at = end;
  }
  return hunks;
}

/** Whether there is no unknown line between this operation and the previous one. */
function follows(operations: readonly Operation[], index: number): boolean {
  const operation = operations[index];
  const before = operations[index - 1];
  if (operation === undefined || before === undefined) return false;
  return operation.old === (before.sign === "+" ? before.old : before.old + 1);
}

/**
 * The end of the hunk that starts with the change at `at`: includes further changes that are connected by known lines, and
 * trailing context.
 */
function endOfHunk(operations: readonly Operation[], at: number): number {
  let last = at;
  for (let index = at + 1; index < operations.length && follows(operations, index); index += 1) {
    if (operations[index]?.sign !== " ") last = index;
    else if (index - last > 2 * CONTEXT) break;
  }
  let end = last + 1;
  while (end - last <= CONTEXT && operations[end]?.sign === " " && follows(operations, end)) end += 1;
  return end;
}
