/**
 * Access to JSON text as it was written: numbers keep their digits and members their order, which is lost by parsing and
 * serializing. The text is valid JSON. Paths consist of member names and array indexes.
 */
export class RawJson {
  private readonly text: string;
  /** Start positions of the values in each object or array, by its own start, so that none is scanned twice. */
  private inside: Map<number, ReadonlyMap<string | number, number>> | undefined;
  /** The position after the last found value: values are mostly requested in order. */
  private from = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The text at `path` of a value that was parsed from it. Serializes the value if there is nothing at `path`. */
  of(value: unknown, path: readonly (string | number)[]): string {
    const written = JSON.stringify(value);
    const name = path.at(-1);
    // Most agents use JSON.stringify, so the same text is in the line, and searching for it is cheaper than scanning. Numbers are
    // excluded, because a match could be the prefix of a longer one.
    if (typeof name === "string" && typeof value !== "number" && this.inside === undefined) {
      const member = `"${name}":${written}`;
      const found = this.text.indexOf(member, this.from);
      if (found !== -1) {
        this.from = found + member.length;
        return written;
      }
    }
    const raw = this.at(path);
    // A slice would keep the whole line in memory.
    return raw === undefined ? written : structuredClone(raw);
  }

  /** The text of the value at `path`, a slice of the whole. For duplicate names the last one counts, as for `JSON.parse`. */
  at(path: readonly (string | number)[]): string | undefined {
    let at = skipSpace(this.text, 0);
    for (const step of path) {
      const found = this.valuesOf(at).get(step);
      if (found === undefined) return undefined;
      at = found;
    }
    return this.text.slice(at, valueEnd(this.text, at));
  }

  private valuesOf(start: number): ReadonlyMap<string | number, number> {
    this.inside ??= new Map();
    let values = this.inside.get(start);
    if (values === undefined) {
      values = valuesAt(this.text, start);
      this.inside.set(start, values);
    }
    return values;
  }
}

/** Start positions of the members or items of the value that begins at `start`; empty if it is neither an object nor an array. */
function valuesAt(text: string, start: number): ReadonlyMap<string | number, number> {
  const values = new Map<string | number, number>();
  const isObject = text[start] === "{";
  if (!isObject && text[start] !== "[") return values;
  let at = skipSpace(text, start + 1);
  while (at < text.length && text[at] !== "}" && text[at] !== "]") {
    let key: string | number = values.size;
    if (isObject) {
      const end = valueEnd(text, at);
      key = JSON.parse(text.slice(at, end)) as string; // Names are strings in valid JSON.
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    values.set(key, at);
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return values;
}

/** The end of the value that begins at `at`. */
function valueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return stringEnd(text, at);
  if (first !== "{" && first !== "[") {
    let end = at;
    while (end < text.length && !/[\s,\]}]/.test(text[end] ?? "")) end += 1;
    return end;
  }
  let depth = 0;
  for (let position = at; position < text.length; position += 1) {
    const character = text[position];
    if (character === '"') position = stringEnd(text, position) - 1;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return position + 1;
    }
  }
  return text.length;
}

function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === '"') return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t" || text[at] === "\n" || text[at] === "\r") at += 1;
  return at;
}
