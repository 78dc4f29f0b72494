import type { DiffHunk } from "../parts/ui-extra.ts";

/** Lines of unchanged text around a change, as in a unified diff. */
const CONTEXT = 3;

/**
 * A file as far as the diffs reveal it. `kept`: lines of the first text that no diff has touched, from the line `old` on
 * (counted from 1); the last one goes on to the end of the file. `line`: one line whose text is known; with `old` it is a line
 * of the first text, without it was added.
 */
type Segment = { kind: "kept"; old: number; count: number } | { kind: "line"; old?: number; text: string };

/** `old`: its line in the first text; of an added line the one before which it stands. */
type Operation = { sign: " " | "-" | "+"; text: string; old: number };

/**
 * Composes the diffs of one file, in the order in which they were applied, into one diff from the first text to the last. It
 * needs neither text. `undefined`: a diff has no line numbers, or does not fit what the ones before it made.
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
    /** Lines that the edit has added so far, less those that it has removed. */
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

/** The segments after a hunk; `undefined`: it does not fit. Lines of the first text that it removes go into `removed`. */
function applyHunk(
  segments: readonly Segment[],
  hunk: DiffHunk,
  shift: number,
  removed: Map<number, string>,
): Segment[] | undefined {
  const lines = hunk.lines.filter((line) => !line.startsWith("\\"));
  // An empty side names the line before it or the one behind it: writers differ. The other side is certain.
  const start = hunk.new_lines > 0 ? hunk.new_start - 1 : hunk.old_start - 1 + shift;
  if (start < 0 || (hunk.old_start === 0 && hunk.old_lines > 0)) return undefined;
  const split = splitAt(segments, start);
  if (split === undefined) return undefined;
  const { before } = split;
  /** The segments behind, the next one last. */
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

/** The segments before and from the line with this index (from 0); `undefined`: the file is shorter. */
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

/** Takes the next line off segments of which the next one is the last. */
function takeLine(segments: Segment[]): { old?: number; text?: string } | undefined {
  const next = segments.pop();
  if (next === undefined || next.kind === "line") return next;
  if (next.count > 1) segments.push({ kind: "kept", old: next.old + 1, count: next.count - 1 });
  return { old: next.old };
}

/** What a line editor would do to get from the first text to the last; lines that are kept unseen are left out. */
function operationsOf(segments: readonly Segment[], removed: ReadonlyMap<number, string>): Operation[] {
  const operations: Operation[] = [];
  let added: string[] = [];
  let next_old = 1;
  /** Ends a change before the line `old` of the first text. */
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

/** A change before the line `next` of the first text, without lines at its ends that were removed and added again. */
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
  /** Lines added less lines removed so far: a line's new number is its old one and this. */
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
      // An empty side names the line before it.
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

/** Whether no unseen line stands between this operation and the one before it. */
function follows(operations: readonly Operation[], index: number): boolean {
  const operation = operations[index];
  const before = operations[index - 1];
  if (operation === undefined || before === undefined) return false;
  return operation.old === (before.sign === "+" ? before.old : before.old + 1);
}

/** Behind the last line of the hunk whose first change is at `at`: changes that known lines join, and the lines behind them. */
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
