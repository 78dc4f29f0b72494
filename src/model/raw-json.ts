/**
 * JSON as its writer wrote it: numbers keep their digits and members their order, which parsing and writing again loses. The
 * text is valid JSON. Its paths are of member names and array indexes.
 */
export class RawJson {
  private readonly text: string;
  /** Where the values of an object or an array begin, by where that begins: none is walked through twice. */
  private inside: Map<number, ReadonlyMap<string | number, number>> | undefined;
  /** Behind what was found last: values are mostly asked for in their order. */
  private from = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The text of a value that was parsed of it and stands at `path`; written anew where nothing stands there. */
  of(value: unknown, path: readonly (string | number)[]): string {
    const written = JSON.stringify(value);
    const name = path.at(-1);
    // Most agents write with JSON.stringify, so the same text stands in the line; finding it is cheaper than walking there,
    // while that goes well. A number could be the beginning of a longer one.
    if (typeof name === "string" && typeof value !== "number" && this.inside === undefined) {
      const member = `"${name}":${written}`;
      const found = this.text.indexOf(member, this.from);
      if (found !== -1) {
        this.from = found + member.length;
        return written;
      }
    }
    const raw = this.at(path);
    // A slice of a long line would keep all of the line in memory.
    return raw === undefined ? written : structuredClone(raw);
  }

  /** The text of the value that stands at `path`, a slice of the whole; of equal names the last one counts, as for `JSON.parse`. */
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

/** Where the members or items of what begins at `start` begin themselves; none, where it is no object and no array. */
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

/** Where the value that begins at `at` ends. */
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
