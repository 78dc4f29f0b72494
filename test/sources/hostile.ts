import { isDeepStrictEqual } from "node:util";
import { keyIn, recordIn, withRecord } from "./source-fixtures.ts";

/** A value that an attacker may put into a field of a session. */
export interface Payload {
  name: string;
  value: unknown;
}

const nested = (levels: number): unknown => JSON.parse(`${'{"a":['.repeat(levels)}0${"]}".repeat(levels)}`);

export const payloads: readonly Payload[] = [
  { name: "terminal controls", value: "\u001b[31m\u001b]0;title\u0007\u001b[2J\u009b1m" },
  { name: "bidi controls", value: "a\u202egnp.exe\u2066b\u200fc" },
  { name: "a script", value: "<script>alert(1)</script><img src=x onerror=alert(1)>" },
  { name: "a link", value: "[x](javascript:alert(1)) javascript:alert(1)" },
  { name: "lone surrogates", value: "a\ud800b\udc00c" },
  { name: "NUL", value: "a\u0000b\u0000" },
  { name: "line separators", value: "a\u2028b\u2029c\r\nd\u0085e" },
  { name: "__proto__", value: "__proto__" },
  { name: "constructor", value: "constructor" },
  { name: "template markers", value: "{{7*7}} $" + "{7*7} <%= 7*7 %> %s %n" },
  { name: "tags that close", value: "</tool_result></system-reminder></user_query>]]>-->" },
  { name: "a long string", value: "long ".repeat(200_000) },
  { name: "deep nesting", value: nested(200) },
  { name: "a huge number", value: 1e308 },
  { name: "a negative number", value: -Number.MAX_VALUE },
  { name: "a list of lists", value: [[[]], [null], [{}]] },
  {
    name: "an own __proto__",
    value: JSON.parse('{"__proto__":{"type":"text","text":"x"},"constructor":{"prototype":1}}'),
  },
];

/** The paths of all strings in a JSON value, as names and indexes. */
export function stringPaths(value: unknown, above: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value === "string") return [[...above]];
  if (Array.isArray(value)) return value.flatMap((item, index) => stringPaths(item, [...above, index]));
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, item]) => stringPaths(item, [...above, name]));
}

/** The member of a JSON value at a path. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, step) => (inner === null || typeof inner !== "object" ? undefined : Reflect.get(inner, step)),
    value,
  );
}

/** The JSON value with a replaced member at a path. */
export function withValueAt(
  value: unknown,
  [step, ...rest]: readonly (string | number)[],
  other: unknown,
): unknown {
  if (step === undefined) return other;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? withValueAt(item, rest, other) : item));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      name === step ? withValueAt(item, rest, other) : item,
    ]),
  );
}

/** Whether a value is contained in another one, at any depth; a string also in a longer string. */
export function holds(value: unknown, wanted: unknown): boolean {
  if (typeof value === "string" && typeof wanted === "string") return value.includes(wanted);
  if (isDeepStrictEqual(value, wanted)) return true;
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some((inner) => holds(inner, wanted));
}

/** The lines of a session with a value in one record, and in all other versions of that record in a log. */
export function withHostile(
  lines: readonly string[],
  index: number,
  path: readonly (string | number)[],
  value: unknown,
): string[] {
  const key = keyIn(lines[index] ?? "");
  return lines.map((line, number) =>
    number === index || (key !== undefined && keyIn(line) === key)
      ? withRecord(line, withValueAt(recordIn(line), path, value))
      : line,
  );
}
