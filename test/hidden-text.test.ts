import { describe, expect, it } from "vitest";
import { findInexact } from "../src/hidden-text/exact-text.ts";
import { findHidden, type TextKind, visibleText } from "../src/hidden-text/hidden-text.ts";

// Tests characters one by one; `web/ui/hidden-text.test.tsx` tests them on a page.

type Kind = TextKind | "exact";
const find = (text: string, kind: Kind) => (kind === "exact" ? findInexact(text) : findHidden(text, kind));
const labels = (text: string, kind: Kind = "code") =>
  find(text, kind).flatMap((piece) => ("label" in piece ? [piece.label] : []));

describe("a hidden character", () => {
  const titles = (text: string, kind: Kind = "code") =>
    find(text, kind).flatMap((piece) => ("title" in piece ? [piece.title] : []));
  const named: [string, string][] = [
    ["\u0007", "control character"],
    ["\u009f", "control character"],
    ["\u00a0", "no-break space"],
    ["\u00ad", "soft hyphen"],
    ["\u061c", "Arabic letter mark"],
    ["\u115f", "invisible character"],
    ["\u1160", "invisible character"],
    ["\u1680", "unusual space"],
    ["\u180e", "Mongolian vowel separator"],
    ["\u2003", "unusual space"],
    ["\u200b", "zero-width space"],
    ["\u200c", "zero-width non-joiner"],
    ["\u200d", "zero-width joiner"],
    ["\u200e", "left-to-right mark"],
    ["\u200f", "right-to-left mark"],
    ["\u2028", "line separator"],
    ["\u2029", "paragraph separator"],
    ["\u202a", "left-to-right embedding"],
    ["\u202b", "right-to-left embedding"],
    ["\u202c", "pop directional formatting"],
    ["\u202d", "left-to-right override"],
    ["\u202e", "right-to-left override"],
    ["\u202f", "narrow no-break space"],
    ["\u2060", "word joiner"],
    ["\u2066", "left-to-right isolate"],
    ["\u2067", "right-to-left isolate"],
    ["\u2068", "first strong isolate"],
    ["\u2069", "pop directional isolate"],
    ["\u206a", "invisible character"],
    ["\u2800", "blank braille pattern"],
    ["\u3164", "invisible character"],
    ["\ufeff", "byte order mark"],
    ["\uffa0", "invisible character"],
    ["\ufff0", "invisible character"],
    ["\ufff8", "invisible character"],
    ["\ufff9", "invisible character"],
    ["\ufffc", "invisible character"],
    ["\u2065", "invisible character"],
    ["\u{13430}", "invisible character"],
    ["\u{13441}", "invisible character"],
    ["\u{16fe4}", "invisible character"],
    ["\u{1bca0}", "invisible character"],
    ["\u{1d159}", "invisible character"],
    ["\u{1d173}", "invisible character"],
    ["\u{e0080}", "invisible character"],
    ["\u{e00ff}", "invisible character"],
    ["\u{e0100}", "invisible character"],
    ["\u{e01f0}", "invisible character"],
    ["\u{e0fff}", "invisible character"],
  ];
  it.each(named)("%j has a name and a number", (character, name) => {
    const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    for (const kind of ["code", "name", "exact"] as const) {
      expect(find(`a${character}b`, kind)).toEqual([
        { text: "a" },
        { hidden: character, label: code, title: `${name}, ${code}` },
        { text: "b" },
      ]);
    }
    expect(titles(character)).toEqual([`${name}, ${code}`]);
  });

  it("does not hide the text around it, at any position", () => {
    expect(findHidden("", "code")).toEqual([{ text: "" }]);
    for (const text of ["plain\tand\nlines", "é\tand\n ü"]) {
      for (const kind of ["prose", "code", "name", "exact"] as const) {
        expect(find(text, kind)).toEqual([{ text }]);
      }
    }
    expect(findHidden("\u200ba\u200b\u200bb\u200b", "code")).toEqual([
      { hidden: "\u200b", label: "U+200B", title: "zero-width space, U+200B" },
      { text: "a" },
      { hidden: "\u200b\u200b", label: "U+200B × 2", title: "2 × zero-width space, U+200B" },
      { text: "b" },
      { hidden: "\u200b", label: "U+200B", title: "zero-width space, U+200B" },
    ]);
  });

  it("that is repeated is one piece with a count, unless it looks like another character", () => {
    for (const kind of ["prose", "code", "name", "exact"] as const) {
      expect(find(`${"\u200b".repeat(5_000)}\u200c\u200c`, kind)).toEqual([
        {
          hidden: "\u200b".repeat(5_000),
          label: "U+200B × 5,000",
          title: "5,000 × zero-width space, U+200B",
        },
        { hidden: "\u200c\u200c", label: "U+200C × 2", title: "2 × zero-width non-joiner, U+200C" },
      ]);
    }
    expect(labels("sудоо", "name")).toEqual(["у⟨U+0443⟩", "д⟨U+0434⟩", "о⟨U+043E⟩", "о⟨U+043E⟩"]);
  });

  it("of a lone surrogate is a replacement character, or its number in an exact text", () => {
    for (const kind of ["prose", "code", "name"] as const) {
      expect(find("a\udfff", kind)).toEqual([
        { text: "a" },
        { hidden: "\ufffd", label: "\ufffd", title: "half of a surrogate pair, U+DFFF" },
      ]);
    }
    expect(findInexact("\ud800")).toEqual([
      { hidden: "\ufffd", label: "U+D800", title: "half of a surrogate pair, U+D800" },
    ]);
    expect(labels("😀", "exact")).toEqual([]);
  });

  const tags = (text: string) =>
    Array.from(text, (letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join("");

  it("of tag characters is spelled out in one piece, with dots for unprintable ones", () => {
    const hidden = `${tags("hi ~")}\u{e0001}\u{e007f}`;
    for (const kind of ["prose", "code", "name"] as const) {
      expect(find(`a${hidden}b`, kind)).toEqual([
        { text: "a" },
        {
          hidden,
          label: "6 hidden: hi ~··",
          title: "6 hidden tag characters (U+E0000–U+E007F) that spell: hi ~··",
        },
        { text: "b" },
      ]);
    }
    expect(labels(`${tags("a")}x\u{e0000}`)).toEqual(["1 hidden: a", "1 hidden: ·"]);
    // One by one in an exact text, which a person is about to approve.
    expect(labels(tags("ab"), "exact")).toEqual(["U+E0061", "U+E0062"]);
    // The next code point is not a tag.
    expect(labels("\u{e0100}")).toEqual(["U+E0100"]);
  });

  it("is allowed in the flag of a region, but not in incomplete flags", () => {
    const scotland = `\u{1f3f4}${tags("gbsct")}\u{e007f}`;
    for (const kind of ["prose", "code", "name"] as const) {
      expect(find(`a${scotland}b`, kind)).toEqual([{ text: `a${scotland}b` }]);
      expect(labels(`${scotland}${scotland}\u200b`, kind)).toEqual(["U+200B"]);
    }
    expect(labels(`\u{1f3f4}${tags("gbsct")}`)).toEqual(["5 hidden: gbsct"]);
    expect(labels(`\u{1f3f4}${tags("gb sct")}\u{e007f}`)).toEqual(["7 hidden: gb sct·"]);
    expect(labels(`\u{1f3f4}${tags("gbscotland")}\u{e007f}`)).toEqual(["11 hidden: gbscotland·"]);
    expect(labels(`x${tags("gbsct")}\u{e007f}`)).toEqual(["6 hidden: gbsct·"]);
    for (const country of ["gbeng", "gbwls"])
      expect(labels(`\u{1f3f4}${tags(country)}\u{e007f}`), country).toEqual([]);
    // Flags that no font has: they can only be used to hide what they spell.
    expect(labels(`\u{1f3f4}${tags("ustx")}\u{e007f}`)).toEqual(["5 hidden: ustx·"]);
    expect(labels(`\u{1f3f4}${tags("rmrf1234")}\u{e007f}`)).toEqual(["9 hidden: rmrf1234·"]);
    expect(labels("\u{1f3f4}")).toEqual([]);
    expect(labels(scotland, "exact")).toHaveLength(6);
  });

  it("is found after flags, tags and surrogate pairs: offsets count in the text itself", () => {
    const before = `😀\u{1f3f4}${tags("gbsct")}\u{e007f}${tags("no")}\ud800`;
    expect(labels(`${before} bаsh`, "name").at(-1)).toBe("а⟨U+0430⟩");
    expect(labels(`😀\u{1d41a} bаsh`, "exact")).toEqual(["\u{1d41a}⟨U+1D41A⟩", "а⟨U+0430⟩"]);
  });
});

describe("a character that a script needs", () => {
  it("may be a joiner between letters of the script, but not between others", () => {
    for (const [legal, hidden] of [
      ["می\u200cخواهم", "a\u200cb"],
      ["क्\u200dष", "क\u200db"],
      ["ꦏ\u200cꦏ", "ꦏ\u200ck"],
      ["ᬓ\u200dᬓ", "\u200dᬓ"],
      ["ᮊ\u200cᮊ", "ᮊ\u200ca"],
      ["می\u200c", "\u200c"],
      ["می\u200c ", "a\u200c "],
      ["می\u200d\n", "x\u200dمی"],
    ] as const) {
      for (const kind of ["prose", "code", "name"] as const) {
        expect(labels(legal, kind), legal).toEqual([]);
        expect(labels(hidden, kind), hidden).toHaveLength(1);
      }
      expect(labels(legal, "exact")).toHaveLength(1);
    }
    // Before a suffix in other letters, and at a word end before a comma: both only in prose.
    for (const legal of [
      "\u200cها",
      "API\u200cها",
      "HTTP\u200cمحور",
      "(x)\u200cها",
      "ഞാന\u200d, ",
      "হঠাত\u200d,",
      "می\u200c)",
    ]) {
      expect(labels(legal, "prose"), legal).toEqual([]);
      for (const kind of ["code", "name"] as const) expect(labels(legal, kind), legal).toHaveLength(1);
    }
    for (const odd of [
      "x\u200dها",
      " \u200cها",
      "+\u200cها",
      "\u200c\u200cها",
      "API\u200cs",
      "ها\u200cs",
      "ها\u200c+",
    ])
      expect(labels(odd, "prose"), odd).toHaveLength(1);
    expect(labels("👨\u200d👩")).toEqual([]);
    expect(labels("👨\u200dx")).toEqual(["U+200D"]);
    expect(labels("x\u200d👨")).toEqual(["U+200D"]);
    expect(labels("👨\u200c👩")).toEqual(["U+200C"]);
    expect(labels("بً\u200cب")).toEqual([]);
    expect(labels("e\u0301\u200d x")).toEqual(["U+200D"]);
  });

  it("may be a variation selector after a character with variants", () => {
    for (const legal of [
      "❤\ufe0f ✔\ufe0e 🏳\ufe0f\u200d🌈",
      "1\ufe0f\u20e3 #\ufe0f\u20e3 *\ufe0e\u20e3",
      "\u2229\ufe00",
      "葛\u{e0100}葛\ufe00葛\ufe02",
      "中、\ufe00中。\ufe01",
      "က\ufe00",
      "ᠠ\u180bᠨ\u180eᠠ\u180f",
    ]) {
      expect(labels(legal), legal).toEqual([]);
    }
    for (const hidden of [
      "a\ufe00",
      "a\ufe0f",
      "\ufe0f",
      "a\u{e0100}",
      "é\u{e01ef}",
      "read1\ufe0f",
      "#\ufe0f",
      "1\ufe01\u20e3",
      "❤\ufe01",
      "❤\ufe0f\ufe0f",
      "葛\ufe03",
      "葛\u{e01f0}",
      "<\ufe00",
      "a\u180b",
      "ᠠ\u180ex",
    ]) {
      expect(labels(hidden), hidden).toHaveLength(1);
    }
    expect(labels("葛\u{e01f0}", "exact")).toEqual(["U+E01F0"]);
    expect(labels("葛\u{e0100}", "exact")).toEqual(["U+E0100"]);
  });

  it("may be a Hangul filler for a missing letter beside a visible one", () => {
    for (const kind of ["prose", "code", "name"] as const) {
      for (const legal of ["\u115f\u1161", "ᄒ\u1160", "가\u115fᅵ"])
        expect(labels(legal, kind), legal).toEqual([]);
      for (const odd of ["\u115f", "\u1160", "\u115f\u1160", "a\u115fb", "가\u1160", "ᄒ\u1160\u1160"])
        expect(labels(odd, kind).length, odd).toBeGreaterThan(0);
    }
    expect(labels("ᄒ\u1160", "exact")).toEqual(["U+1160"]);
  });

  it("may be a joiner between two Hebrew points below a letter", () => {
    for (const kind of ["prose", "code", "name"] as const) {
      expect(
        labels("\u05d9\u05b0\u05e8\u05d5\u05bc\u05e9\u05b8\u05c1\u05dc\u05b7\u034f\u05b4\u05dd", kind),
      ).toEqual([]);
      for (const odd of ["a\u034fb", "\u034f", "\u05dc\u034f\u034f\u05dd"])
        expect(labels(odd, kind)).toHaveLength(1);
    }
    expect(labels("\u05dc\u05b7\u034f\u05b4", "exact")).toContain("U+034F");
  });

  it("may be a blank Braille cell between others", () => {
    const blank = "\u2800";
    for (const kind of ["prose", "code", "name"] as const) {
      expect(labels(`⠓⠊${blank}⠽⠕⠥`, kind)).toEqual([]);
      // A picture, which names do not contain.
      const picture = labels(`${blank}${blank}⣿⠿${blank.repeat(40)}⡇${blank}\n⣿${blank}`, kind);
      expect(picture).toEqual(kind === "name" ? ["U+2800 × 2", "U+2800 × 40"] : []);
      expect(labels(`a${blank}b`, kind)).toEqual(["U+2800"]);
      expect(labels(`x;${blank.repeat(30)}\n`, kind)).toEqual(["U+2800 × 30"]);
      // Words are pushed out of sight by more.
      expect(labels(`⣿${blank.repeat(81)}y`, kind)).toEqual(["U+2800 × 81"]);
    }
    expect(labels(`⠓${blank}⠽`, "exact")).toEqual(["U+2800"]);
  });

  it("may be an ideographic space in CJK prose", () => {
    for (const legal of [
      "日本\u3000語",
      "。\u3000日",
      "\u3000日",
      "ひ\u3000x",
      "カ\u3000x",
      "\u3000\u3000第一段\n\u3000\u3000第二段",
      "エラー\u3000なし",
      "第1\u3000\u3000名",
    ]) {
      expect(labels(legal, "prose"), legal).toEqual([]);
      for (const kind of ["code", "name"] as const) expect(labels(legal, kind)[0], legal).toMatch(/^U\+3000/);
    }
    expect(labels("a\u3000日", "prose")).toEqual(["U+3000"]);
    // Words are pushed out of sight by more.
    expect(labels(`日${"\u3000".repeat(9)}日`, "prose")).toEqual(["U+3000 × 9"]);
  });

  it("may be a zero-width space between words of a script without spaces", () => {
    for (const legal of [
      "ภาษา\u200bไทย",
      "ພາສາ\u200bລາວ",
      "ភាសា\u200bខ្មែរ",
      "မြန်မာ\u200bဘာသာ",
      "བོད་\u200bཡིག",
      "ប្រើ\u200bLinux\u200bនិង",
      "ไ\u200b/",
      "ไ\u200b2",
      "ไ\u200bລ",
      // Beside marks of Markdown.
      "\u200bไ",
      "ไ\u200b",
    ]) {
      expect(labels(legal, "prose"), legal).toEqual([]);
      for (const kind of ["code", "name", "exact"] as const)
        expect(labels(legal, kind), legal).toContain("U+200B");
    }
    for (const odd of ["\u200b", "a\u200bb", "ไ\u200b ", "ไ\u200b+", "ไ\u200cไ", "日\u200b本"])
      expect(labels(odd, "prose"), odd).toHaveLength(1);
    expect(labels("ไ\u200b\u200bไ", "prose")).toEqual(["U+200B × 2"]);
  });

  it("may be a no-break space in code after box-drawing lines and between digits", () => {
    for (const legal of ["│\u00a0\u00a0 ├── a\n│\u00a0\u00a0 │\u00a0\u00a0 └── b", "1\u202f234\u00a0567"]) {
      expect(labels(legal, "code"), legal).toEqual([]);
      for (const kind of ["name", "exact"] as const) expect(labels(legal, kind), legal).not.toEqual([]);
    }
    for (const [odd, label] of [
      ["│ \u00a0", "U+00A0"],
      ["│\u2003", "U+2003"],
      [`│${"\u00a0".repeat(9)}x`, "U+00A0 × 9"],
      ["1\u00a0\u00a02", "U+00A0 × 2"],
      ["1\u00a0a", "U+00A0"],
    ] as const)
      expect(labels(odd, "code"), odd).toEqual([label]);
  });

  it("may be a no-break space in prose with figures, units, quotes and signs", () => {
    for (const legal of [
      "10\u00a0km",
      "§\u00a05",
      "p.\u00a012",
      "Louis\u00a014",
      "«\u00a0mot\u00a0»",
      "Bonjour\u202f!",
      "50\u00a0%",
      "a –\u2009b",
      "a\u2009— b",
      "z.\u00a0B.",
      "z.\u202fB.",
      "5.\u00a0März",
      "Dr.\u00a0Smith",
      "3\u00a0×\u00a04",
      "s\u00a0tebou k\u00a0moři v\u00a0Praze",
      "в\u00a0Москве",
      "ᠮᠣᠩᠭᠣᠯ\u202fᠤᠨ",
    ]) {
      expect(labels(legal, "prose"), legal).toEqual([]);
      for (const kind of ["code", "name"] as const) expect(labels(legal, kind), legal).not.toEqual([]);
    }
    for (const odd of [
      "a\u202fb",
      "a\u2007b",
      "a\u00a0\u00a0b",
      "a \u00a0b",
      "a\u00a0-b",
      "1\u00a0&",
      "&\u00a01",
      "(\u00a0a",
      "a\u00a0",
      "\u00a0a",
      "\u200b1",
    ]) {
      expect(labels(odd, "prose"), odd).toHaveLength(1);
    }
    expect(labels("1\u202f000", "prose")).toEqual([]);
    // Typography only allows spaces; nothing else becomes legitimate between figures.
    for (const other of ["1\u200b0", "1\u20600", "«\u202ea", "a\u200e!", "x\u00a01x"]) {
      expect(labels(other, "prose"), other).toHaveLength(other.startsWith("x") ? 0 : 1);
    }
  });
});

describe("confusable letters", () => {
  it("are marked with their number in a name of mixed scripts", () => {
    expect(findHidden("sudо bаsh", "name")).toEqual([
      { text: "sud" },
      { hidden: "о", label: "о⟨U+043E⟩", title: "looks Latin but is not: U+043E" },
      { text: " b" },
      { hidden: "а", label: "а⟨U+0430⟩", title: "looks Latin but is not: U+0430" },
      { text: "sh" },
    ]);
    for (const legal of ["Привет bash", "Ελλάδα_1", "bash", "日本bash", "ударbash".slice(0, 4)]) {
      expect(labels(legal, "name"), legal).toEqual([]);
    }
    for (const kind of ["prose", "code"] as const) expect(labels("sudо", kind)).toEqual([]);
  });

  it("are marked in an exact text, even if a whole word consists of them", () => {
    expect(findInexact("rm сор")).toEqual([
      { text: "rm " },
      { hidden: "с", label: "с⟨U+0441⟩", title: "looks like another character: U+0441" },
      { hidden: "о", label: "о⟨U+043E⟩", title: "looks like another character: U+043E" },
      { hidden: "р", label: "р⟨U+0440⟩", title: "looks like another character: U+0440" },
    ]);
    // One of each script and kind of sign: Cyrillic, Greek, Armenian, Cherokee, Latin of other shapes, signs, brackets.
    for (const character of ["а", "α", "օ", "Ꭰ", "ı", "‐", "″", "⁎", "。", "〖", "٪"]) {
      expect(labels(character, "exact"), character).toEqual([
        `${character}⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
      ]);
    }
    // Characters that decompose into an ASCII character look like it; others do not.
    expect(labels("ａ／\u212a", "exact")).toHaveLength(3);
    for (const own of ["é", "ﾊ", "Привет", "Ελλάδα", "→", "日本", "ß"]) {
      expect(labels(own, "exact"), own).toEqual([]);
    }
    // Rare scripts: Coptic, Lisu, Tifinagh, N'Ko, Osage, Deseret, Canadian syllabics, small capitals.
    for (const character of [
      "ⲟ",
      "ꓮ",
      "ⵏ",
      "ߋ",
      "𐓂",
      "𐐬",
      "ᑌ",
      "ᗪ",
      "ꜱ",
      "ᴛ",
      "ɢ",
      "ℓ",
      "ǁ",
      "⸳",
      "꞊",
      "❘",
      "⟋",
      "⠠",
    ]) {
      expect(labels(`a${character}b`, "exact"), character).toHaveLength(1);
    }
    for (const word of ["ⲥⲟⲣ", "ꓮꓟ", "ᑭᗪ"])
      expect(labels(word, "exact"), word).toHaveLength([...word].length);
    // With a Latin letter in the word, all of its letters are suspicious.
    expect(labels("Приvет", "exact")).toHaveLength(5);
  });

  it("are marked in every script if they have none: full-width, superscript and mathematical letters and digits", () => {
    for (const [text, character] of [
      ["rm отчёт１.txt", "１"],
      ["файл²", "²"],
      ["файл𝐚", "𝐚"],
      ["δέλτα𝟏", "𝟏"],
      ["日本１", "１"],
      ["한국𝐚", "𝐚"],
      ["ไทย²", "²"],
      ["ノート１", "１"],
    ] as const) {
      expect(labels(text, "exact"), text).toEqual([
        `${character}⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
      ]);
    }
  });

  it("are marked in unrelated scripts only without neighbours of their own script", () => {
    for (const [alone, character] of [
      ["rm ノ", "ノ"],
      ["aノb", "ノ"],
      ["a०b", "०"],
      ["a០b", "០"],
      ["aסb", "ס"],
      ["aㅣb", "ㅣ"],
      ["a一b", "一"],
    ] as const) {
      expect(labels(alone, "exact"), alone).toEqual([
        `${character}⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
      ]);
    }
    for (const prose of [
      "修复会话列表中的错误 使用API第一 v2版本 iPhone手机",
      "セッション一覧のバグを修正 ノート APIキー",
      "세션 목록 오류 수정 git을",
      "שלום עולם",
      "مرحبا بالعالم ٢٠",
      "हिन्दी १० में",
      "ภาษาไทย ๑๐ ใช้gitเพื่อ",
      "Исправляет ошибку списка",
      "Διορθώνει σφάλμα λίστα",
      "გამარჯობა አማርኛ",
      "é ü ñ ł ø å ß æ œ þ ð ə ş ğ ő ţ Việt ɛ ɔ",
    ]) {
      expect(labels(prose, "exact"), prose).toEqual([]);
    }
  });

  it("include stacked combining marks, and marks on letters of another script", () => {
    expect(labels("שָׁלוֹם हिन्दी", "exact")).toEqual([]);
    // Vowels, doublings and voicings, some of them marks of several scripts; those of Japanese as some systems name files.
    for (const legal of ["شكرًا", "مُدَرِّس", "ދިވެހި", "か\u3099き\u3099", "ハ\u309aン"])
      expect(labels(legal, "exact"), legal).toEqual([]);
    for (const odd of ["a\u064b", "a\u3099", "日\u3099"]) expect(labels(odd, "exact"), odd).toHaveLength(1);
    expect(labels("e\u0301", "exact")).toEqual(["U+0301"]);
    expect(labels("\u0301", "exact")).toEqual(["U+0301"]);
    expect(labels("a\u0902", "exact")).toEqual(["U+0902"]);
    expect(labels("ह\u0301", "exact")).toEqual(["U+0301"]);
    expect(labels("ह\u0902\u0902\u0902", "exact")).toEqual([]);
    expect(labels("ह\u0902\u0902\u0902\u0902", "exact")).toEqual(["U+0902"]);
  });
});

describe("text with hidden characters", () => {
  it("spells them out in brackets where no mark is possible", () => {
    expect(visibleText("\u200ba\u202e", "code")).toBe("⟨U+200B⟩a⟨U+202E⟩");
    expect(visibleText("", "code")).toBe("");
  });
});
