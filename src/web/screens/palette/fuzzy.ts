import type { TextRange } from "../../../model/search/match.ts";

/** A match of a query in an entry. `ranges`: where in the title, in UTF-16 code units, in order and without overlaps. */
export interface FuzzyMatch {
  /** Higher is better. Comparable only among matches of the same query. */
  readonly score: number;
  readonly ranges: readonly TextRange[];
}

/** The weight of a match in the details, relative to a match in the title. */
const DETAIL_WEIGHT = 0.4;
/** Maximum length of the range that contains scattered letters, per letter of the word. */
const MAX_SPREAD = 3;

/**
 * Matches a query against an entry. Each word of the query must occur in the title or the details: as a substring, or as
 * scattered letters in order, of which the first begins a word. Case is ignored. `undefined`: no match. An empty query matches
 * everything.
 */
export function fuzzyMatch(query: string, title: string, details = ""): FuzzyMatch | undefined {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const [inTitle, inDetails] = [lowerCase(title), lowerCase(details)];
  let score = 0;
  const ranges: TextRange[] = [];
  for (const word of words) {
    const titleMatch = matchWord(word, inTitle);
    const detailMatch = matchWord(word, inDetails);
    if (titleMatch === undefined && detailMatch === undefined) return undefined;
    const detailScore = (detailMatch?.score ?? 0) * DETAIL_WEIGHT;
    score += Math.max(titleMatch?.score ?? 0, detailScore);
    if (titleMatch !== undefined && titleMatch.score >= detailScore) ranges.push(...titleMatch.ranges);
  }
  // If two titles match equally well, the shorter one is more likely the wanted one.
  return { score: score - Math.min(title.length, 100) / 1_000, ranges: joined(ranges) };
}

/** Lower case with the same length: a letter whose lower case has two code units ("İ") is left as it is. */
const lowerCase = (text: string): string => {
  const lower = text.toLowerCase();
  return lower.length === text.length
    ? lower
    : text.replace(/[\s\S]/g, (unit) => (unit.toLowerCase().length === 1 ? unit.toLowerCase() : unit));
};

const isBoundary = (text: string, at: number): boolean =>
  at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "");

function matchWord(word: string, text: string): FuzzyMatch | undefined {
  let best: FuzzyMatch | undefined;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const score = isBoundary(text, at) ? (at === 0 ? 12 : 10) : 6;
    if (best === undefined || score > best.score)
      best = { score: score + word.length / 10, ranges: [{ start: at, end: at + word.length }] };
    if (isBoundary(text, at)) break;
  }
  return best ?? scattered(word, text);
}

/** Finds the letters of a word in order, starting at the beginning of a word of the text. */
function scattered(word: string, text: string): FuzzyMatch | undefined {
  if (word.length < 2) return undefined;
  const first = word[0] ?? "";
  for (let start = text.indexOf(first); start >= 0; start = text.indexOf(first, start + 1)) {
    if (!isBoundary(text, start)) continue;
    const ranges: TextRange[] = [];
    let at = start;
    for (const letter of word) {
      const found = text.indexOf(letter, at);
      if (found < 0) return undefined;
      ranges.push({ start: found, end: found + letter.length });
      at = found + letter.length;
    }
    if (at - start > word.length * MAX_SPREAD) continue;
    const together = joined(ranges);
    return { score: 4 - together.length / word.length, ranges: together };
  }
  return undefined;
}

function joined(ranges: readonly TextRange[]): TextRange[] {
  const result: TextRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last !== undefined && range.start <= last.end)
      result[result.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    else result.push(range);
  }
  return result;
}
