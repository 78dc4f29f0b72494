/**
 * Finds a text wherever it stands, in capitals or not. Positions are those of the text that is searched: making it all small
 * would move them ("İ" becomes two units). Only what means something in a pattern is escaped, for with `u` an escape that
 * nothing needs (`\-`) is an error.
 */
export function textPattern(text: string, flags: "iu" | "giu"): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), flags);
}
