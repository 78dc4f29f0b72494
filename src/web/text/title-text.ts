import { textOf } from "../../model/text/catalog.ts";
import type { TextCode } from "../../model/text/coded-text.ts";
import { t } from "./text.ts";

/** A text of the daemon in the page's language, by its code; otherwise the text as it was sent. */
export function titleText(title: string, code: TextCode | undefined): string {
  if (code === undefined) return title;
  try {
    return textOf(t.titles, code.code, code.params) ?? title;
  } catch {
    // Programs may push frames that have a code with other parameters.
    return title;
  }
}
