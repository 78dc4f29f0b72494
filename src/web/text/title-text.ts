import { titleOf } from "../../model/parts/content.ts";
import { textOf } from "../../model/text/catalog.ts";
import type { TextCode } from "../../model/text/coded-text.ts";
import { t } from "./text.ts";

/** A text of the daemon in the page's language, by its code; otherwise the text as it was sent. */
export function titleText(title: string, code: TextCode | undefined): string {
  const text = code && translated(code);
  if (text === undefined) return title;
  // The title of an error is the beginning of a text that may be long, with recorded values of several lines.
  return titleOf(title) === title ? (titleOf(text) ?? title) : text;
}

function translated({ code, params }: TextCode): string | undefined {
  try {
    return textOf(t.titles, code, params);
  } catch {
    // Programs may push frames that have a code with other parameters.
    return undefined;
  }
}
