import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../src");

/** Words that the code does not use in names: docs/glossary.md has the term for each. */
const OLD_WORDS = new Set(
  (
    "keeper backlog doorbell entrance knock shelf ghost heir glance liveness foretell namesakes " +
    "patience announcer hosted lagging evidence sought settlement whoever nobody " +
    "hangs behold retire cool lively deepest tells untold forerunner forerunners idlest theirs slack " +
    "anew untaken uncut troubles metronome slept onward victim mistake sniffed companions owed calm unkept unheard unasked stood spoken hear heard"
  ).split(" "),
);
/** Folders whose names are still being changed. */
const PENDING: string[] = [];

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
    .split(/[\s_$]+/)
    .map((word) => word.toLowerCase());

it("uses the words of the glossary in every name", () => {
  const found: string[] = [];
  for (const entry of readdirSync(SRC, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const file = relative(SRC, path).replaceAll(sep, "/");
    if (PENDING.some((folder) => file.startsWith(folder))) continue;
    const names = new Set(codeOf(readFileSync(path, "utf8")).match(/[A-Za-z_$][\w$]*/g));
    for (const name of names)
      if (wordsOf(name).some((word) => OLD_WORDS.has(word))) found.push(`${file}: ${name}`);
  }
  expect(found).toEqual([]);
});
