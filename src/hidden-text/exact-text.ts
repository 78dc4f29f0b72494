import {
  codePointName,
  FOREIGN,
  halfPair,
  LATIN,
  nameOf,
  SUSPECT,
  spelled,
  type TextPiece,
  WORD,
} from "./hidden-text.ts";

const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Scripts that cannot be written without marks above, below and between their letters. */
const MARKED_SCRIPT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

/** Whether a character is nothing to see, or only changes how others look: what is shown by its code point. */
function isUnseen(characters: readonly string[], index: number): boolean {
  const character = characters[index] ?? "";
  if (character === " " || character === "\n" || character === "\t") return false;
  if (UNSEEN.test(character)) return true;
  if (!/\p{M}/u.test(character)) return false;
  // One mark on a letter of its own script is spelling; piled up, marks hide what stands around them.
  let base = index - 1;
  while (/\p{M}/u.test(characters[base] ?? "")) base -= 1;
  return index - base > 3 || !MARKED_SCRIPT.test(characters[base] ?? "") || !MARKED_SCRIPT.test(character);
}

/** Letters and signs that look like one of ASCII, beside those that compatibility decomposition shows to be one. */
const LOOK_ALIKES = new Set(
  "аАВеЕСсԁɡһНіІϳјЈКӏМоОрРԛѕЅТԜԝуУхХҮүԌԍԚвкмнтгпьЬ" +
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγεικνορτυχωη" +
    "ՍսօոցհյՏԼզ" +
    "ᎠᎡᎢᎪᎫᎬᎳᎵᎷᎻᎽᏀᏂᏃᏆᏏᏒᏔᏙᏚᏞᏟᏢᏦ" +
    "ıȷɑɩʟɪɴʀʏᴄᴏᴠᴡᴢƖǀǃʻʼʽʹ˂˃˄ˆˈˋː˸˗˜" +
    "‐‑‒–—―−‘’‚‛“”„‟′″‵‶‹›⁃⁄∕∖∗∙·•∣∶∼≀⁎⁏⁑⧵⧸⧹❨❩❲❳❴❵｡。、〃〈〉《》「」『』【】〔〕〖〗ꓸ꞉ꞌꓺߺ٭۔܁܂׃׀،؛٪।੦০୦௦๐໐၀٠۰",
);
const NOT_ASCII = /\P{ASCII}/u;

/** Whether a character could be read as one of ASCII. Words of another script that cannot be misread as Latin are left alone. */
function looksLikeAscii(character: string): boolean {
  if (LOOK_ALIKES.has(character)) return true;
  const plain = character.normalize("NFKC");
  return plain !== character && /[\x21-\x7e]/.test(plain);
}

/** Offsets of what only looks like ASCII, but for words that other letters show to be of another script. */
function lookAlikes(text: string): Set<number> {
  const offsets = new Set<number>();
  let offset = 0;
  for (const character of text) {
    if (NOT_ASCII.test(character) && !FOREIGN.test(character) && looksLikeAscii(character))
      offsets.add(offset);
    offset += character.length;
  }
  for (const word of text.matchAll(WORD)) {
    if (!FOREIGN.test(word[0])) continue;
    const letters = Array.from(word[0]);
    const own = letters.some((letter) => FOREIGN.test(letter) && !looksLikeAscii(letter));
    if (own && !LATIN.test(word[0])) continue;
    let at = word.index;
    for (const letter of letters) {
      if (FOREIGN.test(letter)) offsets.add(at);
      at += letter.length;
    }
  }
  return offsets;
}

/**
 * For what a person is about to allow: the text cut at everything invisible in it, even where a script needs it, and at every
 * character that looks like one of ASCII. `[{ text }]` where there is nothing of the kind.
 */
export function findInexact(text: string): TextPiece[] {
  if (!NOT_ASCII.test(text) && !SUSPECT.test(text)) return [{ text }];
  const pieces: TextPiece[] = [];
  const alike = lookAlikes(text);
  const characters = Array.from(text);
  let clean = "";
  let offset = 0;
  for (const [index, character] of characters.entries()) {
    const hidden = hiddenAt(characters, index, alike.has(offset));
    offset += character.length;
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

function hiddenAt(characters: readonly string[], index: number, isAlike: boolean): TextPiece | undefined {
  const character = characters[index] ?? "";
  const code = character.codePointAt(0) ?? 0;
  const label = codePointName(code);
  if (code >= 0xd800 && code <= 0xdfff) return { hidden: "\ufffd", label, title: halfPair(code) };
  if (isAlike) {
    return {
      hidden: character,
      label: `${character}⟨${label}⟩`,
      title: `looks like another character: ${label}`,
    };
  }
  return isUnseen(characters, index) ? { hidden: character, label, title: nameOf(character) } : undefined;
}

/** The text with everything that `findInexact` finds written as its code point. */
export const exactText = (text: string): string => spelled(findInexact(text));
