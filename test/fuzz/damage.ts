import fc from "fast-check";

/** Values that a writer would not write in that place. */
const ODD: readonly unknown[] = [
  null,
  "",
  0,
  -1,
  1.5,
  1e21,
  true,
  [],
  {},
  [null],
  "\ud83d",
  "__proto__",
  "constructor",
  { type: "text" },
  { __proto__: null, toString: 1 },
  "2026-99-99T99:99:99Z",
  "x".repeat(5_000),
  "\u0000\u001b[31m\u202e",
  Array.from({ length: 300 }, (_, at) => at),
];

const TORN: readonly string[] = [
  "\u0000\u0000",
  "}{",
  "{",
  "}",
  "\r",
  "\ufeff",
  '"',
  "\\",
  "\u2028",
  "[".repeat(600),
  " ",
  "\n\n",
];

export interface Damage {
  kind: "lose" | "double" | "move" | "join" | "tear" | "insert" | "odd" | "flip" | "rename";
  at: number;
  path: number[];
  odd: number;
}

export const damages: fc.Arbitrary<Damage[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(
      "lose",
      "double",
      "move",
      "join",
      "tear",
      "insert",
      "odd",
      "odd",
      "odd",
      "flip",
      "rename",
    ),
    at: fc.nat(9_999),
    path: fc.array(fc.nat(7), { maxLength: 6 }),
    odd: fc.nat(9_999),
  }),
  { maxLength: 12, size: "max" },
);

/** The lines of a file (each with its newline) with all of the damage applied. */
export function damaged(lines: readonly string[], all: readonly Damage[]): string {
  const out = lines.map((line) => `${line}\n`);
  for (const { kind, at, path, odd } of all) {
    const index = at % Math.max(1, out.length);
    const line = out[index] ?? "";
    const cut = odd % (line.length + 1);
    switch (kind) {
      case "lose":
        out.splice(index, 1);
        break;
      case "double":
        out.splice(odd % (out.length + 1), 0, line);
        break;
      case "move":
        out.splice(index, 1);
        out.splice(odd % (out.length + 1), 0, line);
        break;
      case "join":
        out[index] = line.trimEnd();
        break;
      case "tear":
        out[index] = line.slice(0, cut);
        break;
      case "insert":
        out[index] = line.slice(0, cut) + (TORN[odd % TORN.length] ?? "") + line.slice(cut);
        break;
      case "flip":
        out[index] = line.slice(0, cut) + String.fromCharCode(odd % 256) + line.slice(cut + 1);
        break;
      case "odd":
      case "rename":
        out[index] = withChangedValue(line, path, kind === "odd" ? ODD[odd % ODD.length] : undefined);
        break;
      default:
        kind satisfies never;
    }
  }
  return out.join("");
}

function withChangedValue(line: string, path: readonly number[], odd: unknown): string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return line;
  }
  return `${JSON.stringify(changed(value, path, odd))}\n`;
}

/** The value with the member at the path replaced, if it exists; `undefined`: the member is renamed. */
export function changed(value: unknown, [first, ...rest]: readonly number[], odd: unknown): unknown {
  if (first === undefined || typeof value !== "object" || value === null) return odd ?? null;
  const entries = Object.entries(value);
  const chosen = entries[first % Math.max(1, entries.length)];
  if (chosen === undefined) return odd ?? null;
  const [key, before] = chosen;
  if (Array.isArray(value)) {
    return value.map((inner: unknown, at) => (String(at) === key ? changed(inner, rest, odd) : inner));
  }
  if (odd === undefined && rest.length === 0) {
    return Object.fromEntries(entries.map(([name, inner]) => [name === key ? `${name}_` : name, inner]));
  }
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, name === key ? changed(before, rest, odd) : inner]),
  );
}

/** The places of cuts in a whole of this length, in order. */
export const cutPlaces = (length: number, cuts: readonly number[]): number[] =>
  cuts.map((cut) => cut % (length + 1)).sort((a, b) => a - b);

/** The text in pieces that end at these places. */
export function pieces<Whole extends string | Uint8Array>(whole: Whole, cuts: readonly number[]): Whole[] {
  const places = [0, ...cutPlaces(whole.length, cuts), whole.length];
  // Slices of a string are strings, slices of bytes are bytes.
  return places.slice(1).map((end, at) => whole.slice(places[at], end) as Whole);
}
