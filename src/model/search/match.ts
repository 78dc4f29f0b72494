import { textPattern } from "../text-pattern.ts";
import type { SearchQuery, SearchTerm } from "./query.ts";

/** A range of a text, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** An excerpt of a part with the positions of the matches. */
export interface Snippet {
  readonly text: string;
  readonly ranges: readonly TextRange[];
}

/** Finds the terms of a query in a text; `undefined`: a term is missing, or an excluded one was found. */
export type Matcher = (text: string) => readonly TextRange[] | undefined;

/** Characters in a snippet before its first match, and in total. */
const BEFORE = 60;
const LENGTH = 240;
/** Maximum number of matches per term, sufficient for a snippet. */
const MAX_MATCHES = 20;

/** The pattern of a term, with the flag `g`: callers must set `lastIndex`. */
function patternOf(term: SearchTerm): RegExp {
  if (term.type === "text") return textPattern(term.text, "giu");
  try {
    return new RegExp(term.source, "giu");
  } catch {
    return new RegExp(term.source, "gi");
  }
}

/** Creates a matcher for a query. A query without terms matches any text, without positions. */
export function createMatcher({ terms }: Pick<SearchQuery, "terms">): Matcher {
  const patterns = terms.map((term) => ({ pattern: patternOf(term), excluded: term.excluded }));
  const words = terms.flatMap((term) =>
    term.type === "text" && !term.excluded ? indexForm(term.text).toLowerCase().split(/\s+/) : [],
  );
  return (text) => {
    // A cheap check before the patterns, which allow marks and line ends between words.
    const lower = indexForm(text).toLowerCase();
    if (!words.every((word) => lower.includes(word))) return undefined;
    const ranges: TextRange[] = [];
    for (const { pattern, excluded } of patterns) {
      pattern.lastIndex = 0;
      let found = pattern.exec(text);
      if ((found === null) !== excluded) return undefined;
      for (let count = 0; found !== null && count < MAX_MATCHES; count++) {
        if (found[0] !== "") ranges.push({ start: found.index, end: found.index + found[0].length });
        else pattern.lastIndex += 1;
        found = pattern.exec(text);
      }
    }
    return ranges.sort((one, other) => one.start - other.start);
  };
}

/**
 * One line around the first match, with all matches in it. Without matches: the text's beginning. A match in a line of JSON is shown
 * with the line's escapes decoded, as the page shows it.
 */
export function snippetOf(text: string, ranges: readonly TextRange[]): Snippet {
  const first = ranges[0]?.start ?? 0;
  const from = startOf(text, Math.max(0, first - BEFORE));
  const to = Math.min(text.length, from + LENGTH);
  const prefix = from > 0 ? "…" : "";
  let line = prefix;
  /** The position in the line of each character of the range. */
  const places: number[] = [];
  let space = false;
  const json = jsonLineAt(text, first);
  for (let at = from; at < to; at = from + places.length) {
    const escaped = json !== undefined && at >= json.start && at < json.end ? escapeAt(text, at) : undefined;
    const character = escaped?.character ?? text[at] ?? "";
    const isSpace = /\s/.test(character);
    for (let unit = 0; unit < (escaped?.length ?? 1); unit++) places.push(line.length);
    // Consecutive white space becomes one space.
    if (!isSpace) line += character;
    else if (!space && line.length > prefix.length) line += " ";
    space = isSpace;
  }
  places.push(line.length);
  const inLine = ranges.flatMap(({ start, end }) => {
    const begin = places[Math.max(start, from) - from];
    const stop = places[Math.min(end, to) - from];
    return begin === undefined || stop === undefined || stop <= begin || start >= to || end <= from
      ? []
      : [{ start: begin, end: stop }];
  });
  return {
    text: (to < text.length ? `${line}…` : line).toWellFormed(),
    ranges: merged(inLine),
  };
}

/** The line around a position, if it is JSON or a line of it. */
function jsonLineAt(text: string, at: number): TextRange | undefined {
  const start = text.lastIndexOf("\n", at) + 1;
  if (!/^\s*[[{"]/.test(text.slice(start, start + BEFORE))) return undefined;
  const end = text.indexOf("\n", at);
  return { start, end: end === -1 ? text.length : end };
}

/**
 * The character that a JSON escape at a position represents, and the length of the escape. Escaped control characters stay
 * escaped.
 */
function escapeAt(text: string, at: number): { character: string; length: number } | undefined {
  if (text[at] !== "\\") return undefined;
  const [escaped] = /^\\(?:u(?!00[01])[\da-fA-F]{4}|["\\/nrt])/.exec(text.slice(at, at + 6)) ?? [];
  return escaped === undefined
    ? undefined
    : { character: String(JSON.parse(`"${escaped}"`)), length: escaped.length };
}

/** The start of a word near a position, so that a snippet does not begin within a word. */
function startOf(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + BEFORE / 2).search(/\s/);
  return space === -1 ? at : at + space + 1;
}

function merged(ranges: readonly TextRange[]): TextRange[] {
  const joined: TextRange[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last && range.start <= last.end)
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    else joined.push(range);
  }
  return joined;
}

/** Maximum number of trigrams per query. More of them do not filter better. */
const MAX_TRIGRAMS = 12;

/** The normalized form of a text for indexing and lookup. Letter case is handled by the index. */
export function indexForm(text: string): string {
  // ASCII, which most text is, is already normalized.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  return /^[\x00-\x7f]*$/.test(text) ? text : text.normalize("NFKC");
}

/**
 * Trigrams that every matching text must contain, in the index's form. Empty: none could be determined, and all texts have to be
 * checked.
 */
export function trigramsOf({ terms }: Pick<SearchQuery, "terms">): string[] {
  const trigrams = new Set<string>();
  for (const term of terms) {
    if (term.excluded) continue;
    const literals = term.type === "text" ? term.text.split(/\s+/) : literalsOf(term.source);
    for (const literal of literals) {
      const characters = Array.from(indexForm(literal));
      for (let at = 0; at + 3 <= characters.length; at++) trigrams.add(characters.slice(at, at + 3).join(""));
    }
  }
  const all = [...trigrams];
  if (all.length <= MAX_TRIGRAMS) return all;
  const stride = all.length / MAX_TRIGRAMS;
  return Array.from({ length: MAX_TRIGRAMS }, (_, n) => all[Math.floor(n * stride)] ?? "");
}

/** Literal strings that every match of a regular expression contains. Groups and alternatives are ignored. */
function literalsOf(source: string): string[] {
  if (source.includes("|")) return [];
  const literals: string[] = [];
  let run = "";
  let depth = 0;
  const end = () => {
    literals.push(run);
    run = "";
  };
  for (let at = 0; at < source.length; at++) {
    const character = source[at] ?? "";
    if (character === "[") {
      end();
      while (at < source.length && source[at] !== "]") at += source[at] === "\\" ? 2 : 1;
    } else if (character === "(" || character === ")") {
      end();
      depth += character === "(" ? 1 : -1;
    } else if ("*?{".includes(character)) {
      // The preceding character may be optional.
      run = Array.from(run).slice(0, -1).join("");
      end();
      if (character === "{") at = Math.max(at, source.indexOf("}", at));
    } else if (character === "\\") {
      const escaped = source[++at] ?? "";
      if (/[a-z0-9]/i.test(escaped)) {
        end();
        // Escapes of classes and code points are not literals: `\u0041`, `\x41`, `\p{L}`, `\cA`, `\k<name>`.
        at += skipped(escaped, source.slice(at + 1));
      } else if (depth === 0) run += escaped;
    } else if ("^$.+".includes(character)) end();
    else if (depth === 0) run += character;
  }
  end();
  return literals;
}

/** Number of characters that belong to an escape after its letter. */
function skipped(letter: string, rest: string): number {
  const patterns: Readonly<Record<string, RegExp>> = {
    u: /^(?:\{[^}]*\}|[\da-f]{4})/i,
    x: /^[\da-f]{2}/i,
    p: /^\{[^}]*\}/,
    P: /^\{[^}]*\}/,
    c: /^[a-z]/i,
    k: /^<[^>]*>/,
  };
  return patterns[letter]?.exec(rest)?.[0].length ?? 0;
}
