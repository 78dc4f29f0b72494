/** Longest text of a part on the wire, in UTF-16 code units; the whole is at `/api/sessions/:id/parts/:part/whole`. */
export const TEXT_LIMIT = 64 * 1024;
/** Limit of a text that still grows, whose end is shown. */
export const GROWING_LIMIT = 1024 * 1024;
/** Longest output, arguments or raw record of a part on the wire, in UTF-16 code units, unless more is asked for. */
export const OUTPUT_LIMIT = 8 * 1024;
/** Maximum length of the last lines of a truncated output, which often name an error. */
export const OUTPUT_END = 2 * 1024;
/** Limits of a text and of a value in an overview of a huge session. */
export const OVERVIEW_TEXT = 600;
export const OVERVIEW_VALUE = 2 * 1024;
