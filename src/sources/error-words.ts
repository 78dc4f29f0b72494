import { asObject, asText } from "../model/narrow.ts";
import { parseObject } from "./lines/parse-object.ts";

/**
 * What an error says to a person, where its text ends with the JSON that a provider answered with. `answer`: that JSON;
 * absent: the text says it all.
 */
export function errorWords(text: string): { message: string; answer?: unknown } {
  const at = text.indexOf("{");
  if (at === -1) return { message: text };
  const answer = parseObject(text.slice(at));
  const inner = asText(asObject(answer?.error)?.message) ?? asText(answer?.message) ?? asText(answer?.error);
  if (inner === undefined) return { message: text };
  return { message: `${text.slice(0, at)}${inner}`, answer };
}
