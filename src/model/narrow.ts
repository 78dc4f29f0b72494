/** Helpers that narrow foreign JSON: they return the value if it has the expected shape, otherwise `undefined`. */
export type JsonObject = Record<string, unknown>;

/** An object that is neither null nor an array. */
export function asObject(value: unknown): JsonObject | undefined {
  // A non-null object that is not an array has string keys and unknown values.
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}
export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
/** A string that is not blank. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && !isBlank(value) ? value : undefined;
}
/** Whether a text is empty or only white space. */
export function isBlank(text: string): boolean {
  // The first character decides nearly always. Readers ask this several times for each record, and `trim` copies the text.
  const first = text.charCodeAt(0);
  const isVisible = first > 0x20 && first < 0x7f;
  return !isVisible && text.trim() === "";
}
/** A finite number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
/** An array. Other values give an empty one. */
export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
const isString = (item: unknown): item is string => typeof item === "string";
/** The strings of an array; the array itself if it contains nothing else. Other values give an empty array. */
export function asStrings(value: unknown): string[] {
  const items = asArray(value);
  return items.every(isString) ? items : items.filter(isString);
}
/** The message of a thrown error; any other thrown value as a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
/** The message of a system error, without the call and the path that Node adds. */
export const causeOf = (error: unknown): string => messageOf(error).replace(/, \w+ '.*'$/s, "");
