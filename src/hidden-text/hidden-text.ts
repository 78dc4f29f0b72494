/**
 * Where a text stands decides what in it is suspicious: `code` marks every odd space (a no-break space in a command is
 * no accident), `prose` lets typography be, `name` (tool names, hosts, commands) also marks letters that only look Latin.
 */
export type TextKind = "prose" | "code" | "name";

/** A stretch of a text: `hidden` ones cannot be seen, change direction, or control a terminal. */
export type TextPiece = { text: string } | { hidden: string; label: string; title: string };

const NAMES: Record<number, string> = {
  160: "no-break space",
  173: "soft hyphen",
  1564: "Arabic letter mark",
  4447: "Hangul filler",
  4448: "Hangul filler",
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
  12644: "Hangul filler",
  65279: "byte order mark",
  65440: "Hangul filler",
};

/** What no text needs, or only some scripts do. */
export const SUSPECT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control bytes are what it looks for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u1680\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff]|\u034f|[\u180b-\u180d]|\u180f|[\ufe00-\ufe0f]/;
const ODD_SPACE = /^[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]$/;
/** Scripts whose spelling needs joiners inside words. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]|\p{M}/u;
/** What stands around a break between words, of one script that writes no spaces there. */
const UNSPACED =
  /^(?:\p{Script=Thai}{2}|\p{Script=Lao}{2}|\p{Script=Khmer}{2}|\p{Script=Myanmar}{2}|\p{Script=Tibetan}{2})$/u;
const PICTOGRAPH = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u20e3|\ufe0f/u;
const VARIATION_BASE = /[\p{Emoji}\p{Script=Han}\p{Script=Mongolian}\p{Script=Myanmar}\p{Sm}\p{So}]/u;
/** Emoji flags of regions: black flag, tag letters, cancel tag. */
const TAG_SEQUENCE = /^\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,8}\u{e007f}/u;
/** Runs of letters and digits. */
export const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
/** Letters of scripts some of which look like Latin ones. */
export const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
export const LATIN = /\p{Script=Latin}/u;

/** `U+200B` */
export const codePointName = (code: number): string =>
  `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

/** What a character is that cannot be seen, in words. */
export function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const name =
    NAMES[code] ??
    (code < 0xa0 ? "control character" : ODD_SPACE.test(character) ? "unusual space" : "invisible character");
  return `${name}, ${codePointName(code)}`;
}

/** What half a pair of code units is that says no character alone, in words. */
export const halfPair = (code: number): string => `half of a surrogate pair, ${codePointName(code)}`;

const isTag = (code: number): boolean => code >= 0xe0000 && code <= 0xe007f;

function isLegal(characters: readonly string[], index: number, kind: TextKind): boolean {
  const character = characters[index] ?? "";
  const before = characters[index - 1] ?? "";
  const after = characters[index + 1] ?? "";
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x200d && PICTOGRAPH.test(before) && PICTOGRAPH.test(after)) return true;
  if (code === 0x200c || code === 0x200d) {
    return JOINING.test(before) && (JOINING.test(after) || !/\S/u.test(after));
  }
  if (code === 0x200b) return kind === "prose" && UNSPACED.test(before + after);
  if (code >= 0xfe00 && code <= 0xfe0f) return VARIATION_BASE.test(before);
  if (code >= 0xe0100 && code <= 0xe01ef) return /\p{Script=Han}/u.test(before);
  if (code === 0x3000)
    return kind === "prose" && /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{P}]|^$/u.test(before);
  if (kind === "prose" && ODD_SPACE.test(character)) {
    // Typography: `10 km`, `1 000`, `« mot »`, `Bonjour !`, `p. 12`.
    return (
      /[«„“—–]/.test(before) ||
      /[»!?:;%€$£°—–]/.test(after) ||
      (/[\p{N}§№]/u.test(before) && /[\p{L}\p{N}]/u.test(after)) ||
      (/[\p{L}.]/u.test(before) && /\p{N}/u.test(after))
    );
  }
  return false;
}

/** The text cut at everything in it that a reader could not see. `[{ text }]` where there is nothing of the kind. */
export function findHidden(text: string, kind: TextKind): TextPiece[] {
  const plain = !(kind === "name" && FOREIGN.test(text));
  if (plain && !SUSPECT.test(text)) return [{ text }];
  const pieces: TextPiece[] = [];
  const foreign = kind === "name" ? mixedLetters(text) : undefined;
  const characters = Array.from(text);
  let clean = "";
  const hide = (hidden: string, label: string, title: string): void => {
    if (clean) pieces.push({ text: clean });
    clean = "";
    pieces.push({ hidden, label, title });
  };
  let offset = 0;
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    const code = character.codePointAt(0) ?? 0;
    const start = offset;
    offset += character.length;
    if (code === 0x1f3f4) {
      const flag = TAG_SEQUENCE.exec(characters.slice(index, index + 12).join(""))?.[0];
      if (flag) {
        const length = Array.from(flag).length;
        clean += flag;
        offset += flag.length - character.length;
        index += length - 1;
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
      const count = Array.from(run).length;
      hide(
        run,
        `${count} hidden: ${decoded}`,
        `${count} hidden tag characters (U+E0000–U+E007F) that spell: ${decoded}`,
      );
      continue;
    }
    if (code >= 0xd800 && code <= 0xdfff) {
      hide("\ufffd", "\ufffd", halfPair(code));
      continue;
    }
    if (foreign?.has(start)) {
      hide(
        character,
        `${character}⟨${codePointName(code)}⟩`,
        `looks Latin and is not: ${codePointName(code)}`,
      );
      continue;
    }
    const suspect = (SUSPECT.test(character) && !(code >= 0x10000)) || (code >= 0xe0100 && code <= 0xe01ef);
    if (!suspect || isLegal(characters, index, kind)) {
      clean += character;
      continue;
    }
    hide(character, codePointName(code), nameOf(character));
  }
  if (clean) pieces.push({ text: clean });
  return pieces;
}

/** Offsets of letters of another script inside words that also have Latin ones. */
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

/** The text with each hidden character written as its code point: for attributes, which cannot hold a mark. */
export const visibleText = (text: string, kind: TextKind): string => spelled(findHidden(text, kind));

/** A text whose hidden stretches are written out between brackets. */
export const spelled = (pieces: readonly TextPiece[]): string =>
  pieces.map((piece) => ("text" in piece ? piece.text : `⟨${piece.label}⟩`)).join("");
