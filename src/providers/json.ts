import { asObject } from "../model/narrow.ts";

// Helpers that narrow foreign JSON. They return `undefined` for values of other types.
export { asNumber, asObject, asString } from "../model/narrow.ts";
/** A foreign JSON object, which is never modified. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An array, possibly empty. */
export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** A non-empty string: providers send `""` for absent values. White space is kept, because it may be part of an answer. */
export function asNonEmpty(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Parses JSON; `undefined`: the text is not JSON. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The arguments of a tool call as an object; `undefined`: the text is not a JSON object. Empty text means no arguments. */
export function argumentsObject(arguments_json: string): JsonObject | undefined {
  if (arguments_json.trim() === "") return {};
  return asObject(parseJson(arguments_json)?.value);
}

/** Replaces lone surrogates in JSON text, including escaped ones. All other text is unchanged. */
export function wellFormedJson(text: string): string {
  if (!text.isWellFormed()) return wellFormedJson(text.toWellFormed());
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  const parsed = parseJson(text);
  if (parsed === undefined) return text;
  const legal = stringifyBody(parsed.value);
  return legal === JSON.stringify(parsed.value) ? text : legal;
}

/** Serializes the body of a request. Lone surrogates, which servers reject, become U+FFFD. */
export function stringifyBody(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === "string" && !value.isWellFormed() ? value.toWellFormed() : value,
  );
}
