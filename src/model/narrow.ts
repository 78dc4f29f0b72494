/** Narrowing of foreign JSON: the value where it has the wanted shape, else `undefined`. */
export type JsonObject = Record<string, unknown>;

/** An object that is neither null nor a list. */
export function asObject(value: unknown): JsonObject | undefined {
  // An object that is no array and not null has string keys, whose values stay unknown.
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}
export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
/** A string that holds more than white space. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
/** A number that is finite. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
/** Here what is no list is an empty one. */
export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
const isString = (item: unknown): item is string => typeof item === "string";
/** The strings of a list, the list itself where it holds nothing else; what is no list has none. */
export function asStrings(value: unknown): string[] {
  const items = asArray(value);
  return items.every(isString) ? items : items.filter(isString);
}
/** The message of a thrown error; any other thrown value as a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
/** The same of what the system refused, without the call and the path that Node adds. */
export const causeOf = (error: unknown): string => messageOf(error).replace(/, \w+ '.*'$/s, "");
