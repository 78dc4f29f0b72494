/** The own value of a table for an untrusted name; `undefined`: none, even if its prototype has one. */
export function own<Value>(
  table: Readonly<Record<string, Value>>,
  name: string | undefined,
): Value | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}
