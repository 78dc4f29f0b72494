import {
  codePointName,
  type HiddenPiece,
  halfPair,
  LATIN,
  runAt,
  SUSPECT,
  spelled,
  type TextPiece,
  unseen,
  WORD,
} from "./hidden-text.ts";
import { LOOK_ALIKES } from "./look-alikes.ts";

const UNSEEN = /[\p{C}\p{Z}]/u;
/** Scripts that need combining marks. */
const MARKED_SCRIPT =
  /[\p{scx=Arab}\p{scx=Hebr}\p{scx=Syrc}\p{scx=Thaa}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}\p{scx=Hira}\p{scx=Kana}]/u;

/** Whether a character is invisible, or only changes others. It is shown as its code point. */
function isUnseen(characters: readonly string[], index: number): boolean {
  const character = characters[index] ?? "";
  if (character === " " || character === "\n" || character === "\t") return false;
  if (UNSEEN.test(character) || SUSPECT.test(character)) return true;
  if (!MARK.test(character)) return false;
  // A single mark on a letter of its own script is normal spelling. Stacked marks can hide other text.
  let base = index - 1;
  while (index - base <= 3 && MARK.test(characters[base] ?? "")) base -= 1;
  return index - base > 3 || !MARKED_SCRIPT.test(characters[base] ?? "") || !MARKED_SCRIPT.test(character);
}

const NOT_ASCII = /\P{ASCII}/u;
const LETTER = /[\p{L}\p{N}]/u;
/** Characters without a script, such as full-width, superscript or mathematical letters and digits. */
const COMMON = /\p{Script_Extensions=Common}/u;
const MARK = /\p{M}/u;
/** Latin letters of phonetic and historic writing, including many small capitals, but not those of living languages. */
const ODD_LATIN =
  /(?![ɓɔɖɗəɛɠɨɲʃʉʊʒ])\p{Script=Latin}(?<=[\u0250-\u02af\u1d00-\u1dbf\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\u{10780}-\u{107bf}\u{1df00}-\u{1dfff}])/u;
/** Letters and digits of scripts that do not resemble Latin as a whole and are often written next to it without a space. */
const OWN_SHAPES =
  /[\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script_Extensions=Hangul}\p{Script_Extensions=Bopomofo}\p{Script_Extensions=Thai}\p{Script_Extensions=Lao}\p{Script_Extensions=Khmer}\p{Script_Extensions=Myanmar}\p{Script_Extensions=Tibetan}\p{Script_Extensions=Arabic}\p{Script_Extensions=Hebrew}\p{Script_Extensions=Syriac}\p{Script_Extensions=Thaana}\p{Script_Extensions=Devanagari}\p{Script_Extensions=Bengali}\p{Script_Extensions=Gurmukhi}\p{Script_Extensions=Gujarati}\p{Script_Extensions=Oriya}\p{Script_Extensions=Tamil}\p{Script_Extensions=Telugu}\p{Script_Extensions=Kannada}\p{Script_Extensions=Malayalam}\p{Script_Extensions=Sinhala}\p{Script_Extensions=Ethiopic}\p{Script_Extensions=Georgian}\p{Script_Extensions=Mongolian}\p{Script_Extensions=Adlam}]/u;

/** Whether a character can be mistaken for an ASCII one. */
function looksLikeAscii(character: string): boolean {
  const plain = character.normalize("NFKC");
  return (
    LOOK_ALIKES.has(character) ||
    LOOK_ALIKES.has(plain) ||
    ODD_LATIN.test(character) ||
    // Letters outside the basic plane belong to rare scripts, or are Han.
    (character.length > 1 && LETTER.test(character) && !OWN_SHAPES.test(character)) ||
    (plain !== character && /[\x21-\x7e]/.test(plain))
  );
}

/**
 * Offsets of characters that only look like ASCII. A letter or digit of another script does not count if its neighbours show that
 * it belongs to that script: in the whole word, or in a sequence of a script with distinct shapes.
 */
function lookAlikes(text: string): Set<number> {
  const offsets = new Set<number>();
  const settle = (run: [at: number, character: string][], isMixed: boolean): void => {
    if (!isMixed && !run.every(([, character]) => looksLikeAscii(character))) return;
    for (const [at] of run) offsets.add(at);
  };
  let at = 0;
  for (const character of text) {
    const isForeign = LETTER.test(character) && !LATIN.test(character) && !COMMON.test(character);
    if (NOT_ASCII.test(character) && !isForeign && looksLikeAscii(character)) offsets.add(at);
    at += character.length;
  }
  for (const word of text.matchAll(WORD)) {
    if (!NOT_ASCII.test(word[0])) continue;
    const foreign: [number, string][] = [];
    let own: [number, string][] = [];
    at = word.index;
    for (const character of word[0]) {
      const isLetter = NOT_ASCII.test(character) && LETTER.test(character) && !LATIN.test(character);
      if (isLetter && OWN_SHAPES.test(character)) own.push([at, character]);
      else if (!MARK.test(character)) {
        settle(own, false);
        own = [];
        if (isLetter) foreign.push([at, character]);
      }
      at += character.length;
    }
    settle(own, false);
    settle(foreign, LATIN.test(word[0]));
  }
  return offsets;
}

/**
 * Splits the subject of an approval at everything invisible, even if a script needs it, and at every character that looks like an
 * ASCII one. `[{ text }]` if there is none.
 */
export function findInexact(text: string): TextPiece[] {
  if (!NOT_ASCII.test(text) && !SUSPECT.test(text)) return [{ text }];
  const pieces: TextPiece[] = [];
  const alike = lookAlikes(text);
  const characters = Array.from(text);
  let clean = "";
  let offset = 0;
  for (let index = 0; index < characters.length; ) {
    const character = characters[index] ?? "";
    const hidden = hiddenAt(characters, index, alike.has(offset));
    const length = hidden?.hidden.length ?? character.length;
    offset += length;
    // A piece contains one character, possibly repeated.
    index += length / character.length;
    if (hidden === undefined) {
      clean += character;
      continue;
    }
    if (clean) pieces.push({ text: clean });
    clean = "";
    pieces.push(hidden);
  }
  if (clean) pieces.push({ text: clean });
  return pieces;
}

function hiddenAt(characters: readonly string[], index: number, isAlike: boolean): HiddenPiece | undefined {
  const character = characters[index] ?? "";
  const code = character.codePointAt(0) ?? 0;
  const label = codePointName(code);
  if (code >= 0xd800 && code <= 0xdfff) return { hidden: "\ufffd", label, title: halfPair(code) };
  if (isUnseen(characters, index)) return unseen(character, runAt(characters, index));
  if (!isAlike) return undefined;
  return {
    hidden: character,
    label: `${character}⟨${label}⟩`,
    title: `looks like another character: ${label}`,
  };
}

/** The text with everything that `findInexact` finds replaced by code points. */
export const exactText = (text: string): string => spelled(findInexact(text));
