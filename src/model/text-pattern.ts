/**
 * Characters around words that a page does not show: Markdown marks (besides the `](address)` of a link) and the zero-width
 * space.
 */
const MARKS = "*_`~[\u200b";
/** Maximum number of marks at a place, and of places with marks, to bound the cost of a search. */
const MAX_MARKS = 8;
const MAX_GAPS = 40;
/** A space on the page may be a line end in the source, but not a paragraph end. */
const SPACE = "(?:[^\\S\\n]+(?:\\n[^\\S\\n]*)?|\\n[^\\S\\n]*)";

/** The half-width or full-width variant of a character. */
const otherWidth = new Map(
  Array.from({ length: 0x9f }, (_, at) => {
    const other = String.fromCharCode(0xff01 + at);
    return [other.normalize("NFKC"), other];
  }),
);

/**
 * A pattern that finds a text ignoring case, Unicode composition and width, and across Markdown marks and line ends between
 * words. Positions refer to the searched text: lowercasing it would shift them ("İ" becomes two units).
 */
export function textPattern(text: string, flags: "iu" | "giu"): RegExp {
  const plain = text.replace(/[\uff01-\uff9f]+/g, (wide) => wide.normalize("NFKC")).normalize("NFC");
  return new RegExp([...new Set([text, plain])].map(sourceOf).join("|"), flags);
}

function sourceOf(text: string): string {
  let source = "";
  let before = "";
  let gaps = 0;
  for (const [token] of text.matchAll(/\s+|[\s\S]/gu)) {
    if (before !== "" && gaps < MAX_GAPS && maySplit(before, token)) {
      source += marksBefore(token);
      gaps++;
    }
    if (!/\s/.test(token)) source += formsOf(token);
    // A repetition at the start of a pattern would be tried at every position, with quadratic cost.
    else source += before === "" ? "\\s" : token.includes("\n") ? "\\s+" : SPACE;
    before = token;
  }
  return source;
}

/** Whether marks between two characters belong to neither, so that they do not split an ASCII word, a line or another mark. */
function maySplit(before: string, after: string): boolean {
  if (before === after || (/\w/.test(before) && /\w/.test(after))) return false;
  return !MARKS.includes(before) || !MARKS.includes(after);
}

/** A following mark is never included, so that each character of the text matches unambiguously. */
function marksBefore(token: string): string {
  const link = token === "]" ? "" : "|\\]\\([^()\\s]{0,500}\\)";
  return `(?:[${MARKS.replace(token, "")}]${link}){0,${MAX_MARKS}}`;
}

/** All variants of a character. */
function formsOf(character: string): string {
  const parts = Array.from(character.normalize("NFD"), widthsOf).join("");
  return character === character.normalize("NFD") ? parts : `(?:${widthsOf(character)}|${parts})`;
}

function widthsOf(character: string): string {
  // Escape only special characters: with the flag `u`, other escapes are errors.
  const own = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  const other = otherWidth.get(character);
  return other === undefined ? own : `(?:${own}|${other})`;
}
