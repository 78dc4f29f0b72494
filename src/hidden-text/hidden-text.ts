/**
 * Determines which characters are suspicious. `code`: marks unusual spaces (a no-break space in a command is no accident);
 * `prose`: allows typography; `name` (tool names, hosts, commands): also marks letters that only look Latin.
 */
export type TextKind = "prose" | "code" | "name";

/** A section of a text. `hidden`: invisible characters, or ones that change direction or control a terminal. */
export type TextPiece = { text: string } | HiddenPiece;
/** `hidden`: the original characters. `label`: a short replacement (`U+200B`). `title`: a description. */
export type HiddenPiece = { hidden: string; label: string; title: string };

const NAMES: Record<number, string> = {
  160: "no-break space",
  173: "soft hyphen",
  1564: "Arabic letter mark",
  6158: "Mongolian vowel separator",
  8203: "zero-width space",
  8204: "zero-width non-joiner",
  8205: "zero-width joiner",
  8206: "left-to-right mark",
  8207: "right-to-left mark",
  8232: "line separator",
  8233: "paragraph separator",
  8234: "left-to-right embedding",
  8235: "right-to-left embedding",
  8236: "pop directional formatting",
  8237: "left-to-right override",
  8238: "right-to-left override",
  8239: "narrow no-break space",
  8288: "word joiner",
  8294: "left-to-right isolate",
  8295: "right-to-left isolate",
  8296: "first strong isolate",
  8297: "pop directional isolate",
  10240: "blank braille pattern",
  65279: "byte order mark",
};

/** Characters that no text needs, or only some scripts. Includes some blank ones that Unicode does not classify as such. */
export const SUSPECT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control bytes are what it looks for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000\ufff9-\ufffc\u{13430}-\u{1343f}\u{13441}\u{13442}\u{16fe4}\u{1d159}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
const ODD_SPACE = /\p{Zs}/u;
/**
 * Legitimate unusual spaces: `10 km`, `1 000`, `« mot »`, `Bonjour !`, `p. 12`, `z. B.`, `3 × 4`, `v Praze`, and suffixes of
 * Mongolian.
 */
const TYPOGRAPHY =
  /^[«„“—–]|[»!?:;%€$£°—–]$|^[\p{N}.§№×÷±−].[\p{L}\p{N}×÷±−]$|^[\p{L}\p{M}](?:.\p{N}|\xa0\p{L})$|\u202f\p{sc=Mong}/u;
/** Maximum number of consecutive blanks that count as layout, and of blank Braille cells, which are used in graphics. */
const MAX_BLANKS = 8;
const MAX_CELLS = 80;
const BOX_DRAWING = /[─-╿]/;
const BRAILLE = /\p{sc=Brai}/u;
/** What may precede wide blanks: nothing, if they indent a paragraph. */
const WIDE = /^$|[\n\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{N}\p{P}]/u;
/** Scripts whose spelling needs joiners inside words, as code ranges, to keep the page's first script small. */
const JOINING =
  /[\p{scx=Arab}\p{scx=Syrc}\p{scx=Nkoo}\p{scx=Mong}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}\p{scx=Java}\p{scx=Bali}\p{scx=Sund}]/u;
/** Scripts without spaces between words, which may mark word boundaries. */
const UNSPACED = /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;
const NO_WORD = /[^\p{L}\p{M}\p{N}\p{P}]/u;
const PICTOGRAPH = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u20e3|\ufe0f/u;
/** Characters with variants and their valid selectors; and the joiner that separates Hebrew points. */
const VARIANT =
  /^(?:(?!\p{ASCII})\p{Emoji}[\ufe0e\ufe0f]|[\d#*][\ufe0e\ufe0f]\u20e3|\p{sc=Hani}[\ufe00-\ufe02\u{e0100}-\u{e01ef}]|[、。，．！：；？‘’“”][\ufe00\ufe01]|(?!\p{ASCII})[\p{Sm}\p{sc=Mymr}\p{sc=Phag}]\ufe00|\p{sc=Hebr}\u034f|\p{sc=Mong}(?:[\u180b-\u180d\u180f]|\u180e\p{sc=Mong}))/u;
/** A Hangul letter next to the filler for a missing one of an old syllable. */
const FILLED = /^[\u1100-\u115e\ua960-\ua97c]\u1160|\u115f[\u1161-\u11a7\ud7b0-\ud7c6]$/u;
/** The flags of England, Scotland and Wales: black flag, tag letters, cancel tag. There are no others. */
const TAG_SEQUENCE =
  /^\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/u;
/** Sequences of letters and digits. */
export const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
/** Letters of scripts with letters that look Latin. */
const FOREIGN = /[\p{sc=Cyrl}\p{sc=Grek}\p{sc=Armn}\p{sc=Cher}]/u;
/** A Latin letter. */
export const LATIN = /\p{sc=Latn}/u;

/** `U+200B` */
export const codePointName = (code: number): string =>
  `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

/** A description of an invisible character. */
function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const name =
    NAMES[code] ??
    (code < 0xa0 ? "control character" : ODD_SPACE.test(character) ? "unusual space" : "invisible character");
  return `${name}, ${codePointName(code)}`;
}

/** An invisible character, or several equal ones in a row. */
export function unseen(character: string, count: number): HiddenPiece {
  const label = codePointName(character.codePointAt(0) ?? 0);
  const title = nameOf(character);
  if (count === 1) return { hidden: character, label, title };
  const times = count.toLocaleString("en");
  return { hidden: character.repeat(count), label: `${label} × ${times}`, title: `${times} × ${title}` };
}

/** The number of equal characters in a row. */
export function runAt(characters: readonly string[], start: number): number {
  let end = start + 1;
  while (characters[end] === characters[start]) end++;
  return end - start;
}

/** A description of a lone surrogate. */
export const halfPair = (code: number): string => `half of a surrogate pair, ${codePointName(code)}`;

const isTag = (code: number): boolean => code >= 0xe0000 && code <= 0xe007f;

/** Whether `count` of a character are legitimate at this place. Most are suspicious if repeated. */
function isLegal(characters: readonly string[], index: number, count: number, kind: TextKind): boolean {
  const character = characters[index] ?? "";
  const before = characters[index - 1] ?? "";
  const after = characters[index + count] ?? "";
  const code = character.codePointAt(0) ?? 0;
  // As output by `tree`, and as used between wide letters.
  const led = kind === "code" ? code === 0xa0 && BOX_DRAWING : kind === "prose" && code === 0x3000 && WIDE;
  if (led && count <= MAX_BLANKS && led.test(before)) return true;
  if (code === 0x2800 && count <= (kind === "name" ? 1 : MAX_CELLS)) return BRAILLE.test(before + after);
  if (count > 1) return false;
  if (kind === "code" && (code === 0xa0 || code === 0x202f)) return /^\p{N}{2}$/u.test(before + after);
  if (code === 0x200d && PICTOGRAPH.test(before) && PICTOGRAPH.test(after)) return true;
  if (code === 0x200c || code === 0x200d) {
    if (JOINING.test(before))
      return JOINING.test(after) || !/\S/u.test(kind === "prose" ? after.replace(/\p{P}/u, "") : after);
    // A suffix of a word in Latin letters, or of one with Markdown marks around it.
    return kind === "prose" && code === 0x200c && JOINING.test(after) && !NO_WORD.test(before);
  }
  if (code === 0x200b)
    return kind === "prose" && UNSPACED.test(before + after) && !NO_WORD.test(before + after);
  if (VARIANT.test(before + character + after) || FILLED.test(before + character + after)) return true;
  return kind === "prose" && ODD_SPACE.test(character) && TYPOGRAPHY.test(before + character + after);
}

/** Splits a text at everything invisible in it. `[{ text }]` if there is nothing. */
export function findHidden(text: string, kind: TextKind): TextPiece[] {
  if (!SUSPECT.test(text) && (kind !== "name" || !FOREIGN.test(text))) return [{ text }];
  const pieces: TextPiece[] = [];
  const foreign = kind === "name" ? mixedLetters(text) : undefined;
  const characters = Array.from(text);
  let clean = "";
  const add = (piece: HiddenPiece): void => {
    if (clean) pieces.push({ text: clean });
    clean = "";
    pieces.push(piece);
  };
  let offset = 0;
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    const code = character.codePointAt(0) ?? 0;
    const start = offset;
    offset += character.length;
    if (code >= 0x20 && code < 0x7f) {
      clean += character;
      continue;
    }
    if (code === 0x1f3f4) {
      const flag = TAG_SEQUENCE.exec(characters.slice(index, index + 12).join(""))?.[0];
      if (flag) {
        clean += flag;
        offset += flag.length - character.length;
        // Each of its characters has two code units.
        index += flag.length / 2 - 1;
        continue;
      }
    }
    if (isTag(code)) {
      let run = character;
      while (isTag(characters[index + 1]?.codePointAt(0) ?? 0)) {
        index++;
        run += characters[index] ?? "";
        offset += characters[index]?.length ?? 0;
      }
      const decoded = Array.from(run, (tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) & 0x7f))
        .join("")
        .replace(/[^\x20-\x7e]/g, "·");
      const count = run.length / 2;
      add({
        hidden: run,
        label: `${count} hidden: ${decoded}`,
        title: `${count} hidden tag characters (U+E0000–U+E007F) that spell: ${decoded}`,
      });
      continue;
    }
    if (code >= 0xd800 && code <= 0xdfff) {
      add({ hidden: "\ufffd", label: "\ufffd", title: halfPair(code) });
      continue;
    }
    if (foreign?.has(start)) {
      const label = codePointName(code);
      add({
        hidden: character,
        label: `${character}⟨${label}⟩`,
        title: `looks Latin but is not: ${label}`,
      });
      continue;
    }
    if (!SUSPECT.test(character)) {
      clean += character;
      continue;
    }
    const count = runAt(characters, index);
    if (isLegal(characters, index, count, kind)) clean += character.repeat(count);
    else add(unseen(character, count));
    index += count - 1;
    offset += (count - 1) * character.length;
  }
  if (clean) pieces.push({ text: clean });
  return pieces;
}

/** Offsets of letters of another script in words that also have Latin ones. */
function mixedLetters(text: string): Set<number> {
  const offsets = new Set<number>();
  for (const word of text.matchAll(WORD)) {
    if (!LATIN.test(word[0]) || !FOREIGN.test(word[0])) continue;
    let offset = word.index;
    for (const character of word[0]) {
      if (FOREIGN.test(character)) offsets.add(offset);
      offset += character.length;
    }
  }
  return offsets;
}

/** The text with hidden characters as code points, for attributes, which cannot contain markup. */
export const visibleText = (text: string, kind: TextKind): string => spelled(findHidden(text, kind));

/** Joins pieces, with the labels of hidden ones in brackets. */
export const spelled = (pieces: readonly TextPiece[]): string =>
  pieces.map((piece) => ("text" in piece ? piece.text : `⟨${piece.label}⟩`)).join("");
