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
