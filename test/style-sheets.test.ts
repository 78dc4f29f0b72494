import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { expect, it } from "vitest";
import { BREAKPOINTS, LOW_WINDOWS } from "../src/web/ui/breakpoints.ts";

const WEB = join(import.meta.dirname, "../src/web");
const MAX_LINES = 400;

/** Sheets that are about the components of several others: these layers come after all others. */
const ACROSS = ["narrow", "print"];
/** The sheet with the order of the layers. It alone has rules for elements. */
const FIRST = "app/theme.css";

const pathsOf = (pattern: RegExp): string[] =>
  readdirSync(WEB, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(WEB, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    .toSorted();
const read = (path: string): string => readFileSync(join(WEB, path), "utf8");

/** Classes of elements that packages make: the heading of a Markdown's footnotes. */
const FROM_PACKAGES = ["sr-only"];

interface Rule {
  /** What it is inside of, from outside: `@layer ui`, `@media (--narrow)`. */
  within: readonly string[];
  selectors: string[];
}

/** Splits at a character that is not inside parentheses or brackets. */
function splitAt(text: string, separator: RegExp): string[] {
  const pieces = [""];
  let depth = 0;
  for (const character of text) {
    if ("([".includes(character)) depth += 1;
    if (")]".includes(character)) depth -= 1;
    if (depth === 0 && separator.test(character)) pieces.push("");
    else pieces.push(pieces.pop() + character);
  }
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== "");
}

/** All rules of a sheet. No quoted text of ours has braces or semicolons. */
function rulesOf(css: string): Rule[] {
  const rules: Rule[] = [];
  const open: string[] = [];
  for (const [, before = "", sign] of css.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/([^{};]*)([{};])/g)) {
    const prelude = before.replaceAll(/\s+/g, " ").trim();
    if (sign === "}") open.pop();
    else if (sign === ";" && prelude.startsWith("@"))
      rules.push({ within: [...open, prelude], selectors: [] });
    else if (sign === "{") {
      if (!prelude.startsWith("@")) rules.push({ within: [...open], selectors: splitAt(prelude, /,/) });
      open.push(prelude);
    }
  }
  return rules;
}

const classesIn = (selector: string): string[] =>
  [...selector.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = ""]) => name);

/** The classes that a selector starts with, each of which must be its sheet's own. */
function blocksOf(selector: string): string[] {
  const [head = ""] = splitAt(selector, /[\s>+~]/);
  const [, alternatives] = /^:(?:is|where)\((.*?)\)(?::|$)/.exec(head) ?? [];
  if (alternatives !== undefined) return splitAt(alternatives, /,/).flatMap(blocksOf);
  const [, highlight] = /^::highlight\(([a-z]+)/.exec(head) ?? [];
  return [highlight ?? classesIn(head.replace(/:(?:not|has)\(.*\)/, ""))[0] ?? `(element) ${head}`];
}

const sheets = pathsOf(/\.css$/).map((path) => {
  const rules = rulesOf(read(path));
  const layers = [
    ...new Set(rules.filter(({ selectors }) => selectors.length > 0).map(({ within }) => within[0])),
  ];
  return { path, layers, layer: (layers[0] ?? "").replace("@layer ", ""), rules };
});
const scripts = pathsOf(/\.tsx?$/).map((path) => ({ path, code: read(path) }));

const [order = ""] = sheets.find(({ path }) => path === FIRST)?.rules[0]?.within ?? [];
const LAYERS = order.replace("@layer ", "").split(", ");

/** The sheet whose selectors start with a class. */
const owners = new Map<string, string>();
for (const { path, layer, rules } of sheets)
  if (!ACROSS.includes(layer))
    for (const { selectors } of rules)
      for (const block of selectors.flatMap(blocksOf)) if (!owners.has(block)) owners.set(block, path);

/** The sheet that a class belongs to: one that has it, or a class that it extends, at the start of a selector. */
function ownerOf(name: string): string | undefined {
  const parts = name.split("-");
  return parts
    .map((_, at) => owners.get(parts.slice(0, at + 1).join("-")))
    .find((owner) => owner !== undefined);
}
const layerOf = (path: string | undefined): number =>
  LAYERS.indexOf(sheets.find((sheet) => sheet.path === path)?.layer ?? "");

it("has every rule in the layer of its sheet's folder, and the order of the layers before all others", () => {
  expect(order).toMatch(/^@layer /);
  expect(scripts.find(({ path }) => path === "app/App.tsx")?.code).toMatch(/^import ".\/theme.css";\n/);
  const named: Record<string, string> = { [FIRST]: "theme" };
  for (const { path, layers, layer } of sheets) {
    const file = basename(path, ".css");
    const own = named[path] ?? (ACROSS.includes(file) ? file : path.split("/")[0]);
    expect([path, layers]).toEqual([path, [`@layer ${own}`]]);
    expect(LAYERS).toContain(layer);
  }
});

it("has a sheet of a readable length for each group of components, imported by one of them", () => {
  const imported = scripts.flatMap(({ path, code }) =>
    [...code.matchAll(/^import "(\..*\.css)";$/gm)].map(([, sheet = ""]) =>
      join(dirname(path), sheet).replaceAll(sep, "/"),
    ),
  );
  expect(new Set(imported)).toEqual(new Set(sheets.map(({ path }) => path)));
  for (const { path } of sheets) expect(read(path).split("\n").length, path).toBeLessThanOrEqual(MAX_LINES);
});

it("styles a class in the sheet of its component only", () => {
  const wrong: string[] = [];
  for (const { path, layer, rules } of sheets) {
    for (const selector of rules.flatMap(({ selectors }) => selectors)) {
      for (const block of path === FIRST || layer === "print" ? [] : blocksOf(selector)) {
        const owner = ownerOf(block);
        const isOwn = ACROSS.includes(layer)
          ? dirname(owner ?? "").startsWith(dirname(path))
          : owner === path;
        if (!isOwn) wrong.push(`${path}: ${selector} starts with a class of ${owner}`);
        if (/^(?:is|has)-/.test(block) && !selector.includes(":root."))
          wrong.push(`${path}: ${selector} starts with a state`);
      }
      for (const name of classesIn(selector))
        if (layerOf(ownerOf(name)) > LAYERS.indexOf(layer))
          wrong.push(`${path}: ${selector} names a class of a later layer`);
    }
  }
  expect(wrong).toEqual([]);
});

it("styles no class that no component has", () => {
  const code = scripts.map((script) => script.code).join("\n");
  const words = new Set([...(code.match(/[\w-]+/g) ?? []), ...FROM_PACKAGES]);
  const isUsed = (name: string): boolean => {
    const parts = name.split("-");
    return (
      words.has(name) || parts.some((_, at) => at > 0 && code.includes(`${parts.slice(0, at).join("-")}-\${`))
    );
  };
  const classes = sheets.flatMap(({ rules }) =>
    rules.flatMap(({ selectors }) => selectors.flatMap(classesIn)),
  );
  expect([...new Set(classes)].filter((name) => !isUsed(name))).toEqual([]);
});

it("names the sizes of windows, which sheets and scripts share", () => {
  const names = new Set(Object.keys({ ...BREAKPOINTS, ...LOW_WINDOWS }).map((name) => `--${name}`));
  const unnamed: string[] = [];
  const used = new Set<string>();
  for (const { path, rules } of sheets) {
    for (const query of rules.flatMap(({ within }) => within).filter((each) => each.startsWith("@media"))) {
      const found = query.match(/--[\w-]+/g) ?? [];
      for (const name of found) used.add(name);
      if (/\d/.test(query) || found.some((name) => !names.has(name))) unnamed.push(`${path}: ${query}`);
    }
  }
  for (const { path, code } of scripts)
    if (path !== "ui/breakpoints.ts" && /\((?:min|max)-(?:width|height):/.test(code)) unnamed.push(path);
  expect(unnamed).toEqual([]);
  expect(used).toEqual(names);
});
