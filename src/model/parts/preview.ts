/** The beginning of a text in one line, at most `limit` UTF-16 code units long. */
export const preview = (text: string, limit: number): string =>
  text
    .slice(0, 2 * limit)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, limit)
    .toWellFormed();
