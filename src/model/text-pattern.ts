/** What stands around words and a page does not show: Markdown's, beside the `](address)` of a link, and space without width. */
const MARKS = "*_`~[\u200b";
/** Neither more of them, nor at more places of a text: none may make a search slow. */
const MAX_MARKS = 8;
const MAX_GAPS = 40;
/** A space on the page may be a line's end in the source, but no paragraph's. */
const SPACE = "(?:[^\\S\\n]+(?:\\n[^\\S\\n]*)?|\\n[^\\S\\n]*)";

/** The half or full width that a character is also written in. */
const otherWidth = new Map(
  Array.from({ length: 0x9f }, (_, at) => {
    const other = String.fromCharCode(0xff01 + at);
    return [other.normalize("NFKC"), other];
  }),
);

/**
 * Finds a text wherever it stands, in capitals or not, composed or not, in either width, and where its source has Markdown's
 * marks between its words or a line's end for a space. Positions are those of the text that is searched: making it all small
 * would move them ("İ" becomes two units).
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
    // What a pattern begins with is tried at every place of the text: there a repetition would cost its square.
    else source += before === "" ? "\\s" : token.includes("\n") ? "\\s+" : SPACE;
    before = token;
  }
  return source;
}

/** Whether marks between two characters belong to neither: no word of ASCII, line or other mark is cut by them. */
function maySplit(before: string, after: string): boolean {
  if (before === after || (/\w/.test(before) && /\w/.test(after))) return false;
  return !MARKS.includes(before) || !MARKS.includes(after);
}

/** One that follows is never among them: what each character of the text is to the pattern must be beyond doubt. */
function marksBefore(token: string): string {
  const link = token === "]" ? "" : "|\\]\\([^()\\s]{0,500}\\)";
  return `(?:[${MARKS.replace(token, "")}]${link}){0,${MAX_MARKS}}`;
}

/** All that a character may be written as. */
function formsOf(character: string): string {
  const parts = Array.from(character.normalize("NFD"), widthsOf).join("");
  return character === character.normalize("NFD") ? parts : `(?:${widthsOf(character)}|${parts})`;
}

function widthsOf(character: string): string {
  // Only what means something in a pattern is escaped, for with `u` an escape that nothing needs is an error.
  const own = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  const other = otherWidth.get(character);
  return other === undefined ? own : `(?:${own}|${other})`;
}
