import { maskSecrets, secretsIn } from "../ui/url-secrets.ts";

/** Maximum length of converted text. Titles have a few hundred characters. */
const MAX_LENGTH = 4_000;
/** Fenced code and code spans, whose content is not markup. */
const CODE =
  /^ {0,3}(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)(?:\n {0,3}\1[`~]*[ \t]*(?=\n|$)|$)|(`+)(?!`)([^\n]*?[^`\n])\3(?!`)/gm;
const BEFORE = String.raw`(^|[\s([{"'“‘「（,:—–-])`;
const AFTER = String.raw`(?=$|[\s)\]}"'”’」）.,:;!?—–…-])`;
const CJK = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]`;
const EMPHASIS: readonly [RegExp, string][] = [
  [/(\*\*\*|\*\*|~~)(?=\S)((?:(?!\1)[^\n])*?\S)\1/gu, "$2"],
  [new RegExp(`${BEFORE}\\*(?=[^\\s*])([^*\\n]*[^\\s*])\\*(?:${AFTER}|(?=${CJK}))`, "gmu"), "$1$2"],
  // A name like __init__ is not meant as emphasis.
  [new RegExp(`${BEFORE}__(?=[^\\s_])((?=[^_\\n]*[^\\w])[^_\\n]*[^\\s_])__${AFTER}`, "gmu"), "$1$2"],
  [new RegExp(`${BEFORE}_(?=[^\\s_])([^_\\n]*[^\\s_])_${AFTER}`, "gmu"), "$1$2"],
];
const LINK =
  /(!?)\[((?:[^[\]\n]|\[[^[\]\n]*\]){0,400})\]\((?:<[^>\n]*>|(?:[^\s()]|\([^\s()]*\))*)(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\)/g;
const ADDRESS = /<?\bhttps?:\/\/[^\s<>"`]+>?/g;

/**
 * Converts Markdown to text for a title: without markup, links replaced by their text, GitHub addresses in short form
 * (`jdx/hk#1077`). Code, and what may be a name, is unchanged.
 */
export function plainMarkdown(text: string): string {
  if (text.length > MAX_LENGTH || !/[*_~`#>[\]\\]|:\/\//.test(text)) return text;
  let plain = "";
  let from = 0;
  for (const found of text.matchAll(CODE)) {
    plain +=
      withoutMarks(text.slice(from, found.index)) +
      (found[2] ?? found[4]?.replace(/^ (.*\S.*) $/, "$1") ?? "");
    from = found.index + found[0].length;
  }
  return plain + withoutMarks(text.slice(from));
}

function withoutMarks(text: string): string {
  let plain = text
    .replace(/^ {0,3}(?:#{1,6}[ \t]+|>[ \t]?)+/gm, "")
    .replace(LINK, (_, image: string, words: string) => words || (image === "" ? "" : "image"))
    .replace(ADDRESS, (address) => shortAddress(address));
  for (const [marks, words] of EMPHASIS) plain = plain.replace(marks, words);
  return plain.replace(/\\([!-/:-@[-`{-~])/g, (whole, char: string) =>
    /[*_~`#>[\]\\]/.test(char) ? char : whole,
  );
}

/** An address in short form if it is one of GitHub, and with masked secrets. */
function shortAddress(written: string): string {
  const [, address = "", after = ""] = /^<?(.*?)([.,:;!?)\]]*)>?$/s.exec(written) ?? [];
  const [, owner, name, rest = ""] =
    /^https?:\/\/(?:www\.)?github\.com\/([\w.-]+)\/([\w.-]+?)(?:\.git)?(\/[^?]*|#.*)?(?:\?.*)?$/.exec(
      address,
    ) ?? [];
  if (owner !== undefined) {
    const [, number] = /^\/(?:issues|pull|discussions)\/(\d+)(?:[/#].*)?$/.exec(rest) ?? [];
    if (number !== undefined) return `${owner}/${name}#${number}${after}`;
    const [, commit] = /^\/commit\/([0-9a-f]{7})[0-9a-f]*(?:[/#].*)?$/.exec(rest) ?? [];
    if (commit !== undefined) return `${owner}/${name}@${commit}${after}`;
    if (rest === "" || rest === "/") return `${owner}/${name}${after}`;
  }
  const secrets = secretsIn(address);
  return (secrets === undefined ? address : maskSecrets(address, secrets)) + after;
}
