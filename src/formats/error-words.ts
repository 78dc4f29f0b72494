import { asObject, asText } from "./narrow.ts";

/**
 * What an error says to a person, where its text ends with the JSON that a provider answered with. `answer`: that JSON;
 * absent: the text says it all.
 */
export function errorWords(text: string): { message: string; answer?: unknown } {
  const at = text.indexOf("{");
  if (at === -1) return { message: text };
  let answer: unknown;
  try {
    answer = JSON.parse(text.slice(at));
  } catch {
    return { message: text };
  }
  const told = asObject(answer);
  const inner = asText(asObject(told?.error)?.message) ?? asText(told?.message) ?? asText(told?.error);
  if (inner === undefined) return { message: text };
  return { message: `${text.slice(0, at)}${inner}`, answer };
}
