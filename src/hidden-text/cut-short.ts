/** Maximum length of a grapheme in UTF-16 code units, with rare exceptions. */
const WIDEST = 64;
let characters: Intl.Segmenter | undefined;

/**
 * The last grapheme boundary of a text up to `limit`. Half a grapheme would look like a hidden character.
 */
export function cutBefore(text: string, limit: number): number {
  if (text.length <= limit) return text.length;
  const start = Math.max(0, limit - WIDEST);
  const around = text.slice(start, limit + WIDEST);
  // Without joiners and surrogates, every position is a boundary.
  if (!/[^\0-\u02ff]/.test(around)) return limit;
  characters ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const found = characters.segment(around).containing(limit - start);
  if (found !== undefined && found.index > 0) return start + found.index;
  return /[\ud800-\udbff]/.test(text[limit - 1] ?? "") ? limit - 1 : limit;
}

/** The beginning of a text, at most `limit` code units, without a joiner at its end. */
export function cutShort(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = cutBefore(text, limit);
  while (/[\u200c\u200d]/.test(text[end - 1] ?? "")) end--;
  return text.slice(0, end);
}
