/**
 * The text of a value inside valid JSON, as its writer wrote it: numbers keep their digits and members their order, which
 * parsing and writing again loses. `value` is the parsed value, `path` leads to it (member names and array indexes).
 */
export function rawJson(text: string, value: unknown, path: readonly (string | number)[]): string {
  const written = JSON.stringify(value);
  const name = path.at(-1);
  // Most agents write with JSON.stringify, so the same text stands in the line; finding it is cheaper than walking there. A
  // number could be the beginning of a longer one.
  if (typeof name === "string" && typeof value !== "number" && text.includes(`"${name}":${written}`)) {
    return written;
  }
  let at = skipSpace(text, 0);
  for (const step of path) {
    const found = typeof step === "number" ? itemAt(text, at, step) : memberAt(text, at, step);
    if (found === undefined) return written;
    at = found;
  }
  // A slice of a long line would keep all of the line in memory.
  return structuredClone(text.slice(at, valueEnd(text, at)));
}

/** Where the value of an object's member begins; of equal names the last one counts, as for `JSON.parse`. */
function memberAt(text: string, object: number, name: string): number | undefined {
  if (text[object] !== "{") return undefined;
  let found: number | undefined;
  let at = skipSpace(text, object + 1);
  while (text[at] === '"') {
    const end = valueEnd(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (JSON.parse(text.slice(at, end)) === name) found = value;
    at = skipSpace(text, valueEnd(text, value));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}

function itemAt(text: string, array: number, index: number): number | undefined {
  if (text[array] !== "[") return undefined;
  let at = skipSpace(text, array + 1);
  for (let passed = 0; passed < index; passed += 1) {
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] !== ",") return undefined;
    at = skipSpace(text, at + 1);
  }
  return text[at] === "]" ? undefined : at;
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
