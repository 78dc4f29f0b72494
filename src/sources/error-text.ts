import { asObject, asText } from "../model/narrow.ts";
import type { DisplayText } from "../model/text/display-text.ts";
import { sourceTitle } from "../model/text/source-titles.ts";
import { parseObject } from "./lines/parse-object.ts";

/**
 * Splits an error text into its readable message and the provider's JSON response at its end. `answer`: that JSON; absent:
 * there is none.
 */
export function splitErrorText(text: string): { message: string; answer?: unknown } {
  const at = text.indexOf("{");
  if (at === -1) return { message: text };
  const answer = parseObject(text.slice(at));
  const inner = asText(asObject(answer?.error)?.message) ?? asText(answer?.message) ?? asText(answer?.error);
  if (inner === undefined) return { message: text };
  return { message: `${text.slice(0, at)}${inner}`, answer };
}

/** The same of a failed request, whose error text may not be recorded. */
export function requestError(text: string | undefined): { message: DisplayText; answer?: unknown } {
  return text === undefined ? { message: sourceTitle("request_failed") } : splitErrorText(text);
}
