import { asObject, asString } from "../../model/narrow.ts";
import { type Catalog, textOf } from "../../model/text/catalog.ts";
import type { TextCode } from "../../model/text/coded-text.ts";

/** A text of a catalog in the page's language, by its code; otherwise the text as it was sent. */
export function translated(texts: Catalog, text: string, code: TextCode | undefined): string {
  if (code === undefined) return text;
  try {
    return textOf(texts, code.code, code.params) ?? text;
  } catch {
    // Programs may push frames that have a code with other parameters.
    return text;
  }
}

/** The code in data that no schema has read. Parameters that are neither texts nor numbers are left out. */
export function textCodeIn(value: unknown): TextCode | undefined {
  const fields = asObject(value);
  const code = asString(fields?.code);
  if (code === undefined) return undefined;
  const params: Record<string, string | number> = {};
  for (const [name, param] of Object.entries(asObject(fields?.params) ?? {}))
    if (typeof param === "string" || typeof param === "number") params[name] = param;
  return { code, params };
}
