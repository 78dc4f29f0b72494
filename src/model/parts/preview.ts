import { cutShort } from "../../hidden-text/cut-short.ts";

/** The beginning of a text in one line, at most `limit` UTF-16 code units long. */
export const preview = (text: string, limit: number): string =>
  cutShort(
    text
      .slice(0, 2 * limit)
      .replace(/\s+/g, " ")
      .trim(),
    limit,
  ).toWellFormed();
