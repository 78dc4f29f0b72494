/** Texts from seeds. The same seed gives the same bytes in Node and in a browser. */
import { seeded } from "../../test/seeded.ts";

const WORDS =
  "agent session stream part turn frame reader daemon channel socket page fold record call result output error line file path parser block table list fence worker token state commit layout paint row anchor queue".split(
    " ",
  );

interface Writer {
  word(): string;
  words(count: number): string;
  from(least: number, most: number): number;
  sentence(length: number): string;
}

function writer(next: () => number): Writer {
  const word = (): string => WORDS[Math.floor(next() * WORDS.length)] ?? "word";
  const words = (count: number): string => Array.from({ length: count }, word).join(" ");
  const from = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  const piece = (): string => {
    const kind = next();
    if (kind < 0.05) return `**${words(2)}**`;
    if (kind < 0.08) return `*${words(2)}*`;
    if (kind < 0.14) return `\`${word()}.${word()}()\``;
    if (kind < 0.165) return `[${words(2)}](https://example.com/${word()}/${from(1, 999)})`;
    return word();
  };
  return {
    word,
    words,
    from,
    sentence: (length) => `${Array.from({ length }, piece).join(" ")}.`,
  };
}

const CODE: Record<string, (w: Writer) => string[]> = {
  ts: (w) => [
    `export async function ${w.word()}${w.from(1, 99)}(${w.word()}: string): Promise<number> {`,
    `  // ${w.words(5)}`,
    `  const ${w.word()} = await fetch(\`/api/\${${w.word()}}/${w.from(1, 99)}\`);`,
    `  return ${w.word()}.map((each) => each.${w.word()} ?? ${w.from(0, 9)}).length;`,
    "}",
  ],
  python: (w) => [
    `def ${w.word()}_${w.word()}(self, x: str = "${w.words(2)}") -> dict:`,
    `    # ${w.words(5)}`,
    `    return {"${w.word()}": [i ** 2 for i in range(${w.from(2, 50)})], "ok": True}`,
  ],
  json: (w) => [`{ "id": ${w.from(1, 9999)}, "name": "${w.words(2)}", "ok": true },`],
  bash: (w) => [`grep -c '${w.word()}' "$file" | awk '{s += $1} END {print s}' # ${w.words(3)}`],
};

/** Lines of code in a language of `CODE`. */
export function code(language: string, lines: number, seed: number): string {
  const w = writer(seeded(seed));
  const out: string[] = [];
  while (out.length < lines) out.push(...(CODE[language]?.(w) ?? [w.words(6)]));
  return out.slice(0, lines).join("\n");
}

/** An answer of `length` characters: headings, paragraphs, lists, tables, quotes, and eight code blocks per 10 KB. */
export function answer(length: number, seed = 1): string {
  const next = seeded(seed);
  const w = writer(next);
  const out: string[] = [];
  let total = 0;
  const languages = Object.keys(CODE);
  const kinds =
    "heading paragraph code paragraph list code heading paragraph table code paragraph quote code".split(" ");
  for (let index = 0; total < length; index++) {
    const block = (() => {
      switch (kinds[index % kinds.length]) {
        case "heading":
          return `${"#".repeat(w.from(2, 4))} ${w.words(4)}`;
        case "list":
          return Array.from({ length: w.from(3, 7) }, () => `- ${w.sentence(w.from(6, 16))}`).join("\n");
        case "table":
          return [
            `| ${w.word()} | ${w.word()} | ${w.word()} |`,
            "| --- | --- | --- |",
            ...Array.from(
              { length: w.from(3, 6) },
              () => `| \`${w.word()}\` | ${w.words(2)} | ${w.words(2)} |`,
            ),
          ].join("\n");
        case "quote":
          return `> ${w.sentence(18)}`;
        case "code": {
          const language = languages[w.from(0, languages.length - 1)] ?? "ts";
          return `\`\`\`${language}\n${code(language, w.from(5, 13), w.from(1, 1e6))}\n\`\`\``;
        }
        default:
          return Array.from({ length: w.from(2, 4) }, () => w.sentence(w.from(10, 22))).join(" ");
      }
    })();
    out.push(block);
    total += block.length + 2;
  }
  return out.join("\n\n").slice(0, length);
}

/** A list or table of `length` characters. */
export function giant(kind: "list" | "table", length: number, seed = 5): string {
  const w = writer(seeded(seed));
  let text = kind === "table" ? "| a | b | c |\n| --- | --- | --- |\n" : "";
  while (text.length < length)
    text +=
      kind === "table" ? `| ${w.words(3)} | \`${w.word()}\` | ${w.words(4)} |\n` : `- ${w.sentence(12)}\n`;
  return text.slice(0, length);
}

/** Splits a text into pieces of 16 to 32 characters. */
export function deltas(text: string, seed = 7): string[] {
  const next = seeded(seed);
  const out: string[] = [];
  for (let at = 0; at < text.length; ) {
    const size = 16 + Math.floor(next() * 17);
    out.push(text.slice(at, at + size));
    at += size;
  }
  return out;
}
