import { asObject } from "../model/narrow.ts";

// How foreign JSON is looked at: each gives `undefined` where the value is of another kind.
export { asNumber, asObject, asString } from "../model/narrow.ts";
/** Foreign JSON, which nobody changes. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A list, which may be empty. */
export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** A string that says something: providers send `""` where they mean nothing. White space may be a token of an answer. */
export function asNonEmpty(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** `undefined` where the text is no JSON. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * The arguments of a tool call as an object; `undefined` where the text is no JSON object. The empty text means no
 * arguments.
 */
export function argumentsObject(arguments_json: string): JsonObject | undefined {
  if (arguments_json.trim() === "") return {};
  return asObject(parseJson(arguments_json)?.value);
}

/** JSON text without halves of characters, which may hide in its escapes; any other text stays byte for byte. */
export function wellFormedJson(text: string): string {
  if (!text.isWellFormed()) return wellFormedJson(text.toWellFormed());
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  const parsed = parseJson(text);
  if (parsed === undefined) return text;
  const legal = stringifyBody(parsed.value);
  return legal === JSON.stringify(parsed.value) ? text : legal;
}

/** JSON for a request: lone surrogates, which servers refuse, become U+FFFD. */
export function stringifyBody(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === "string" && !value.isWellFormed() ? value.toWellFormed() : value,
  );
}
