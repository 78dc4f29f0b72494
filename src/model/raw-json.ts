/** JSON text that contains a value at the path `within`; absent: the text is that of the value. */
export interface WrittenJson {
  readonly text: string;
  readonly within?: readonly string[];
}

/**
 * Access to JSON text as it was written: numbers keep their digits and members their order, which is lost by parsing and
 * serializing. The text is valid JSON. Paths consist of member names and array indexes, and begin at the value at `within`.
 */
export class RawJson {
  private readonly text: string;
  private readonly within: readonly string[];
  /** Start positions of the values in each object or array, by its own start, so that none is scanned twice. */
  private inside: Map<number, ReadonlyMap<string | number, number>> | undefined;
  /** The position after the last found value: values are mostly requested in order. */
  private from = 0;

  constructor({ text, within = [] }: WrittenJson) {
    this.text = text;
    this.within = within;
  }

  /**
   * The text at `path` of a value that was parsed from it. If there is nothing at `path`: `written`, the value as `JSON.stringify`
   * writes it.
   */
  of(value: unknown, path: readonly (string | number)[], written = JSON.stringify(value)): string {
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
    for (const step of [...this.within, ...path]) {
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
  const isObject = text.charCodeAt(start) === OPEN_BRACE;
  if (!isObject && text.charCodeAt(start) !== OPEN_BRACKET) return values;
  let at = skipSpace(text, start + 1);
  while (at < text.length && !isClosing(text.charCodeAt(at))) {
    let key: string | number = values.size;
    if (isObject) {
      const end = stringEnd(text, at);
      key = nameOf(text.slice(at, end));
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    values.set(key, at);
    at = skipSpace(text, valueEnd(text, at));
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return values;
}

/** Decodes a member name from its JSON text. */
function nameOf(written: string): string {
  // Names are strings in valid JSON.
  return written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
}

/** The end of the value that begins at `at`. */
function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return stringEnd(text, at);
  if (!isOpening(first)) {
    let end = at;
    while (end < text.length && !endsValue(text.charCodeAt(end))) end += 1;
    return end;
  }
  let depth = 0;
  for (let position = at; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) position = stringEnd(text, position) - 1;
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code)) {
      depth -= 1;
      if (depth === 0) return position + 1;
    }
  }
  return text.length;
}

function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

// Character codes: comparing strings of one character takes several times as long.
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
const isOpening = (code: number): boolean => code === OPEN_BRACE || code === OPEN_BRACKET;
const isClosing = (code: number): boolean => code === CLOSE_BRACE || code === CLOSE_BRACKET;
const endsValue = (code: number): boolean => code === COMMA || isClosing(code) || isSpace(code);
