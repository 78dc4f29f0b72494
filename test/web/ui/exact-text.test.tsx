import { cleanup, render, screen } from "@testing-library/react";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ExactText } from "../../../src/web/ui/ExactText.tsx";
import { anyCharacter } from "../../any-character.ts";

/** Characters that a person could not see or would mistake for others without marks. */
const DECEPTIVE = [
  "\u0000\u0007\u0008\u000b\u000c\r\u001b\u007f\u0085\u009b",
  "\u00a0\u00ad\u034f\u061c\u115f\u1680\u180e\u2000\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202f",
  "\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\u2800\u3000\u3164\ufeff\ufe0f\uffa0\ufff9",
  "\ud800\udfff\u{e0001}\u{e0041}\u{e007f}\u{e0100}\u{1d173}\u{1bca0}\u0301\u0338\u20e3",
  "ａ／；＂\u037e\u2024\u2044\u2215\u2010\u2013\u2212\u2018\u2019\u201c\u2236\u212a\u{1d41a}\u{1d7ce}",
].flatMap((characters) => Array.from(characters));
const UNSEEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u00a0\u2000-\u200f\u2800\u3000\u3164]|[\ufe00-\ufe0f]/u;
const HOMOGRAPHS = ["cаt", "ѕudо", "аре", "сор", "ρwd", "Αν", "ехес"];
const ORDINARY = [
  "rm -rf ",
  "echo 'done'\n",
  "\tfind . -name '*.o'  ",
  "\n",
  " ",
  "日本",
  "Привет, мир",
  "שלום",
  "naïve ",
  "é",
];

/** The text that can be read back from the screen: each mark names its character. */
function readBack(element: Element): string {
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const mark = node.parentElement?.closest("mark");
    const [, code, count] = /U\+([0-9A-F]+)(?: × ([\d,]+))?/.exec(mark?.textContent ?? "") ?? [];
    text +=
      code === undefined
        ? (node.nodeValue ?? "")
        : String.fromCodePoint(Number.parseInt(code, 16)).repeat(Number(count?.replaceAll(",", "") ?? 1));
  }
  return text;
}
const unmarked = (element: Element): string => {
  const copy = element.cloneNode(true) as Element;
  for (const mark of copy.querySelectorAll("mark")) mark.remove();
  return copy.textContent ?? "";
};

it("shows 1,000 generated commands so that each can be read back, with any hidden characters", () => {
  const piece = fc.oneof(
    fc.constantFrom(...DECEPTIVE),
    fc.constantFrom(...HOMOGRAPHS),
    fc.constantFrom(...ORDINARY),
    fc.string({ unit: anyCharacter, maxLength: 4 }),
  );
  const command = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(fc.array(command, { minLength: 50, maxLength: 50 }), (commands) => {
      render(commands.map((text, index) => <ExactText key={index} text={text} label="command" />));
      const boxes = screen.getAllByRole("group", { name: "command" });
      expect(boxes.map(readBack)).toEqual(commands);
      for (const box of boxes) expect(unmarked(box)).not.toMatch(UNSEEN);
      cleanup();
    }),
    { numRuns: 20 },
  );
});

it("marks each deceptive character", () => {
  for (const character of DECEPTIVE) {
    render(<ExactText text={`rm${character}x`} label="command" />);
    const marks = screen.getByRole("group", { name: "command" }).querySelectorAll("mark");
    expect([character.codePointAt(0)?.toString(16), marks.length]).toEqual([
      character.codePointAt(0)?.toString(16),
      1,
    ]);
    cleanup();
  }
});

it("marks words that only look Latin, but not words of other languages", () => {
  const marksIn = (text: string): number => {
    render(<ExactText text={text} label="command" />);
    const count = screen.getByRole("group", { name: "command" }).querySelectorAll("mark").length;
    cleanup();
    return count;
  };
  for (const word of HOMOGRAPHS) expect([word, marksIn(word) > 0]).toEqual([word, true]);
  for (const word of [
    "git commit -m 'Привет, мир'",
    "日本語",
    "Ελλάδα",
    "שלום עולם",
    "हिन्दी",
    "naïve café",
    "größer",
    "a → b",
    "✓",
  ])
    expect([word, marksIn(word)]).toEqual([word, 0]);
});
