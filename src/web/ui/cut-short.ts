/** A character as people see it has hardly ever more UTF-16 code units. */
const WIDEST = 64;
let characters: Intl.Segmenter | undefined;

/**
 * The last place at which a text may be cut, up to `limit`: between characters as people see them, since of one that is cut in
 * two is left what looks as if something hid there.
 */
export function cutBefore(text: string, limit: number): number {
  if (text.length <= limit) return text.length;
  const start = Math.max(0, limit - WIDEST);
  const around = text.slice(start, limit + WIDEST);
  // Where nothing is joined and nothing has two units, any place is one.
  if (!/[^\0-\u02ff]/.test(around)) return limit;
  characters ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const found = characters.segment(around).containing(limit - start);
  if (found !== undefined && found.index > 0) return start + found.index;
  return /[\ud800-\udbff]/.test(text[limit - 1] ?? "") ? limit - 1 : limit;
}

/** The beginning of a text, of at most `limit` code units, without a joiner at its end: what it would join is not there. */
export function cutShort(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = cutBefore(text, limit);
  while (/[\u200c\u200d]/.test(text[end - 1] ?? "")) end--;
  return text.slice(0, end);
}
