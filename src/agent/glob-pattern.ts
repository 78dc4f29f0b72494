import { ToolInputError } from "./tool.ts";
import { matchWithStars } from "./wildcard.ts";

/** Whether a path (names separated by `/`, without a leading or trailing `/`) matches the pattern. */
export type PathMatcher = (path: string) => boolean;

type NamePiece = { kind: "star" } | { kind: "any" } | { kind: "one"; of: (character: string) => boolean };
type Segment = "**" | readonly NamePiece[];

/** Maximum number of alternatives from braces. */
const MAX_ALTERNATIVES = 200;
const MAX_PATTERN_LENGTH = 1_000;

/**
 * Compiles a pattern as in shells and git: `*` and `?` within a name, `**` for any number of folders, `[a-z]` and `[!a-z]`,
 * `{a,b}`. Names that begin with a dot are not special. Throws `ToolInputError` if the pattern is too large. Git has no braces:
 * with `braces: false` they are literal.
 *
 * Patterns are not converted to regular expressions, because they come from models and from files of unknown repositories, and
 * matching must be fast for all of them.
 */
export function compileGlob(pattern: string, { braces = true } = {}): PathMatcher {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new ToolInputError(`The pattern is longer than ${MAX_PATTERN_LENGTH} characters.`);
  const bare = pattern.replace(/^(?:\.\/)+/, "");
  const alternatives = (braces ? expandBraces(bare) : [bare]).map((alternative) =>
    alternative
      .split("/")
      .filter((name) => name !== "")
      .map((name): Segment => (name === "**" ? "**" : compileName(name))),
  );
  return (path) => {
    const names = path.split("/");
    return alternatives.some((segments) =>
      matchWithStars(
        names,
        segments,
        (segment) => segment === "**",
        (name, segment) => segment !== "**" && matchName(name, segment),
      ),
    );
  };
}

function matchName(name: string, pieces: readonly NamePiece[]): boolean {
  return matchWithStars(
    name,
    pieces,
    (piece) => piece.kind === "star",
    (character, piece) => piece.kind === "any" || (piece.kind === "one" && piece.of(character)),
  );
}

function compileName(name: string): NamePiece[] {
  const pieces: NamePiece[] = [];
  for (let at = 0; at < name.length; at++) {
    const character = name.charAt(at);
    if (character === "*") pieces.push({ kind: "star" });
    else if (character === "?") pieces.push({ kind: "any" });
    else if (character === "[") {
      const end = name.indexOf("]", at + 2);
      if (end < 0) pieces.push(literal("["));
      else {
        pieces.push({ kind: "one", of: compileClass(name.slice(at + 1, end)) });
        at = end;
      }
    } else if (character === "\\" && at + 1 < name.length) pieces.push(literal(name.charAt(++at)));
    else pieces.push(literal(character));
  }
  return pieces;
}

function literal(wanted: string): NamePiece {
  return { kind: "one", of: (character) => character === wanted };
}

function compileClass(text: string): (character: string) => boolean {
  const isNegated = text.startsWith("!") || text.startsWith("^");
  const body = isNegated ? text.slice(1) : text;
  const ranges: [string, string][] = [];
  for (let at = 0; at < body.length; at++) {
    const from = body.charAt(at);
    const to = body.charAt(at + 2);
    if (body.charAt(at + 1) === "-" && to !== "") {
      ranges.push([from, to]);
      at += 2;
    } else ranges.push([from, from]);
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== isNegated;
}

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = firstBraces(next);
    if (braces === undefined) done.push(next);
    else {
      const { start, end, options } = braces;
      for (const option of options) open.push(next.slice(0, start) + option + next.slice(end + 1));
    }
    if (done.length + open.length > MAX_ALTERNATIVES)
      throw new ToolInputError(`The pattern's braces expand to more than ${MAX_ALTERNATIVES} alternatives.`);
  }
  return done;
}

/** The first matching pair of braces that contains a comma. */
function firstBraces(text: string): { start: number; end: number; options: string[] } | undefined {
  for (let start = text.indexOf("{"); start >= 0; start = text.indexOf("{", start + 1)) {
    let depth = 0;
    let from = start + 1;
    const options: string[] = [];
    for (let at = start; at < text.length; at++) {
      const character = text.charAt(at);
      if (character === "{") depth++;
      else if (character === "," && depth === 1) {
        options.push(text.slice(from, at));
        from = at + 1;
      } else if (character === "}" && --depth === 0) {
        if (options.length === 0) break;
        options.push(text.slice(from, at));
        return { start, end: at, options };
      }
    }
  }
  return undefined;
}
