import { titleOf } from "../../model/parts/content.ts";
import type { TextCode } from "../../model/text/coded-text.ts";
import { t } from "./text.ts";
import { translated } from "./translated.ts";

/** A title of a transcript in the page's language, by its code; otherwise as it was sent. */
export function titleText(title: string, code: TextCode | undefined): string {
  const text = translated(t.titles, title, code);
  // The title of an error is the beginning of a text that may be long, with recorded values of several lines.
  return titleOf(title) === title ? (titleOf(text) ?? title) : text;
}
