/** A hunk of a unified diff. Each of `lines` begins with a space, `-` or `+`. Line numbers are one-based; 0: unknown. */
export interface Hunk {
  readonly old_start: number;
  readonly new_start: number;
  readonly lines: readonly string[];
}

/** A line with its sign, or `GAP`, and its line numbers. A line number is empty if the line is not on that side. */
export interface DiffLine {
  old: string;
  new: string;
  text: string;
}

/** The text of the line between two hunks. */
export const GAP = "@";

/** The lines of all hunks in order. */
export function numberLines(hunks: readonly Hunk[]): DiffLine[] {
  const lines: DiffLine[] = [];
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0) lines.push({ old: "", new: "", text: GAP });
    let before = hunk.old_start;
    let after = hunk.new_start;
    const known = before > 0 || after > 0;
    for (const text of hunk.lines) {
      const sign = text[0];
      lines.push({
        old: known && sign !== "+" && sign !== "\\" ? String(before++) : "",
        new: known && sign !== "-" && sign !== "\\" ? String(after++) : "",
        text,
      });
    }
  }
  return lines;
}

/** Maximum length of compared lines, in UTF-16 code units. */
const MAX_COMPARED = 1_000;
/** Minimum share of the longer line that must be equal. Otherwise the lines are considered unrelated. */
const MIN_SIMILARITY = 0.4;

type Range = readonly [start: number, end: number];

/**
 * The changed range inside each line, by line index: what is between the common prefix and the common suffix of a removed line
 * and the added line that replaces it. Lines that were replaced completely are absent.
 */
export function changedRanges(lines: readonly DiffLine[]): ReadonlyMap<number, Range> {
  const ranges = new Map<number, Range>();
  let index = 0;
  while (index < lines.length) {
    const removed = runOf(lines, index, "-");
    const added = runOf(lines, index + removed, "+");
    // Lines can be paired only if as many were added as were removed.
    if (removed > 0 && removed === added)
      for (let at = index; at < index + removed; at += 1) compare(lines, at, at + removed, ranges);
    index += Math.max(1, removed + added);
  }
  return ranges;
}

/** Number of consecutive lines with a sign. */
function runOf(lines: readonly DiffLine[], from: number, sign: "+" | "-"): number {
  let to = from;
  while (lines[to]?.text[0] === sign) to += 1;
  return to - from;
}

function compare(
  lines: readonly DiffLine[],
  removed: number,
  added: number,
  ranges: Map<number, Range>,
): void {
  const before = lines[removed]?.text.slice(1) ?? "";
  const after = lines[added]?.text.slice(1) ?? "";
  const length = Math.max(before.length, after.length);
  if (length > MAX_COMPARED || before === after) return;
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end += 1;
  [start, end] = toWords(before, start, end);
  [start, end] = toWords(after, start, end);
  if (start + end < MIN_SIMILARITY * length) return;
  ranges.set(removed, [start, before.length - end]);
  ranges.set(added, [start, after.length - end]);
}

/** A code unit of a word. Includes joiners, variation selectors and surrogates, so that no character is split. */
const WORD = /[\p{L}\p{N}\p{M}_]|\u200d|\ufe0f|[\ud800-\udfff]/u;

/** Widens a changed range to whole words, which also avoids splitting characters. `end`: length of the common suffix. */
function toWords(text: string, start: number, end: number): [start: number, end: number] {
  let [from, to] = [start, text.length - end];
  while (from > 0 && isWord(text, from - 1) && isWord(text, from)) from -= 1;
  while (to < text.length && isWord(text, to - 1) && isWord(text, to)) to += 1;
  return [from, text.length - to];
}

const isWord = (text: string, at: number): boolean => WORD.test(text[at] ?? "");
