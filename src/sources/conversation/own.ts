/** A table's own value of a foreign name; `undefined`: it has none, whatever its prototype has. */
export function own<Value>(
  table: Readonly<Record<string, Value>>,
  name: string | undefined,
): Value | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}
