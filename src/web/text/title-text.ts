import { titleOf } from "../../model/parts/content.ts";
import { areComplete } from "../../model/text/catalog.ts";
import type { TextCode } from "../../model/text/coded-text.ts";
import { t } from "./text.ts";
import { translated } from "./translated.ts";

/**
 * A text of a transcript in the page's language, if Verbatim wrote it or its beginning. Lines after those of its code are shown as
 * they were sent.
 */
export function textWithLines(text: string, code: TextCode | undefined): string {
  const known = translated(t.titles, "", code) || translated(t.daemon, "", code);
  if (known === "" || !areComplete(code?.params)) return text;
  const further = text.split("\n").slice(known.split("\n").length);
  return [known, ...further].join("\n");
}

/** A title of a transcript in the page's language, by its code; otherwise as it was sent. */
export function titleText(title: string, code: TextCode | undefined): string {
  const text = translated(t.titles, title, code);
  // The title of an error is the beginning of a text that may be long, with recorded values of several lines.
  return titleOf(title) === title ? (titleOf(text) ?? title) : text;
}
