/** Longest text of a part on the wire, in UTF-16 code units; the whole is at `/api/sessions/:id/parts/:part/whole`. */
export const TEXT_LIMIT = 64 * 1024;
/** The same of a text that still grows: whoever watches it sees its end. */
export const GROWING_LIMIT = 1024 * 1024;
/** Longest output, arguments or raw record of a part on the wire, in UTF-16 code units, unless more is asked for. */
export const OUTPUT_LIMIT = 8 * 1024;
/** Of an output that is cut its last lines come too, at most so long together: what went wrong is told there. */
export const OUTPUT_END = 2 * 1024;
