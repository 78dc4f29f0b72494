import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const FOLDERS = ["src", "test", "bench"];

/** Words that the code does not use in names: docs/glossary.md has the term for each. */
const OLD_WORDS = new Set(
  (
    "keeper backlog doorbell entrance knock shelf ghost heir glance liveness foretell namesakes " +
    "patience announcer hosted lagging evidence sought settlement whoever nobody " +
    "hangs behold retire cool lively deepest tells untold forerunner forerunners idlest theirs slack " +
    "anew untaken uncut troubles metronome slept onward victim mistake sniffed companions owed calm unkept unheard unasked stood spoken hear heard"
  ).split(" "),
);
/** The source without comments and quoted text; interpolated expressions of template literals stay. */
function codeOf(source: string): string {
  return (
    source
      .replaceAll(/\/\*[\s\S]*?\*\//g, " ")
      .replaceAll(/(?<![:"'`\\])\/\/.*$/gm, " ")
      .replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, " ")
      .replaceAll(/`(?:[^`\\]|\\.)*`/g, (text) =>
        [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, code]) => code).join(" "),
      )
      // Text between the tags of a component.
      .replaceAll(/>[^<>{}=;]*<\//g, "></")
  );
}

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[\s_$-]+/)
    .map((word) => word.toLowerCase());

it("uses the words of the glossary in every name", () => {
  const found: string[] = [];
  for (const folder of FOLDERS) {
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(tsx?|mjs|css)$/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      const file = relative(ROOT, path).replaceAll(sep, "/");
      if (/\/(node_modules|dist)\//.test(file)) continue;
      if (file.split(/[/.-]/).some((word) => OLD_WORDS.has(word))) found.push(file);
      const names = new Set(codeOf(readFileSync(path, "utf8")).match(/[A-Za-z_$][\w$-]*/g));
      for (const name of names)
        if (wordsOf(name).some((word) => OLD_WORDS.has(word))) found.push(`${file}: ${name}`);
    }
  }
  expect(found).toEqual([]);
});
