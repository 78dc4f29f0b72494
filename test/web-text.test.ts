import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type ESTree, parseSync, Visitor } from "vite";
import { expect, it } from "vitest";
import { content } from "../src/web/text/en/content.ts";
import { inspect } from "../src/web/text/en/inspect.ts";
import { list } from "../src/web/text/en/list.ts";
import { page } from "../src/web/text/en/page.ts";
import { screens } from "../src/web/text/en/screens.ts";
import { session } from "../src/web/text/en/session.ts";
import { transcript } from "../src/web/text/en/transcript.ts";
import { en } from "../src/web/text/en.ts";
import { zh } from "../src/web/text/zh.ts";

const WEB = join(import.meta.dirname, "../src/web");

/** Text that is the same in every language: the product's name, commands, keys. */
const ALLOWED = new Set([
  "Verbatim",
  "npm start -- --link",
  "npm start -- PATH",
  "Ctrl+Enter",
  "file:/path.json",
]);
/** Attributes and object members whose values are UI text. */
const SHOWN = /^(?:aria-label|aria-description|title|placeholder|alt|label|summary)$/;
const hasWords = (text: string): boolean => /\p{L}{2}/u.test(text) && !ALLOWED.has(text.trim());

/** The texts that an expression may evaluate to, without those in called functions. */
function textsIn(node: ESTree.Expression | ESTree.JSXEmptyExpression | null): string[] {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" ? [node.value] : [];
    case "TemplateLiteral":
      return [
        ...node.quasis.map(({ value }) => value.raw.replaceAll(/\\[a-z]/g, " ")),
        ...node.expressions.flatMap((one) => textsIn(one)),
      ];
    case "ConditionalExpression":
      return [...textsIn(node.consequent), ...textsIn(node.alternate)];
    case "LogicalExpression":
      return [...textsIn(node.left), ...textsIn(node.right)];
    default:
      return [];
  }
}

interface Found {
  /** UI texts. */
  readonly texts: string[];
  /** Places where the module reads its text during evaluation, before it is loaded. */
  readonly early: string[];
}

function look(name: string, source: string): Found {
  const { program, errors } = parseSync(name, source);
  if (errors.length > 0) throw new Error(`${name}: ${errors[0]?.message}`);
  const texts: string[] = [];
  const early: string[] = [];
  let functions = 0;
  const enter = (): void => void functions++;
  const leave = (): void => void functions--;
  const check = (found: readonly string[]): void =>
    void texts.push(...found.filter(hasWords).map((text) => text.trim()));
  new Visitor({
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    JSXText: ({ value }) => check([value]),
    JSXElement: ({ children }) => {
      for (const child of children)
        if (child.type === "JSXExpressionContainer") check(textsIn(child.expression));
    },
    JSXAttribute: ({ name: { name: attribute }, value }) => {
      if (typeof attribute !== "string" || !SHOWN.test(attribute)) return;
      if (value?.type === "Literal") check([String(value.value)]);
      if (value?.type === "JSXExpressionContainer") check(textsIn(value.expression));
    },
    Property: ({ key, value }) => {
      const member = key.type === "Identifier" ? key.name : "";
      if (SHOWN.test(member) && (value.type === "Literal" || value.type === "TemplateLiteral"))
        check(textsIn(value));
    },
    MemberExpression: ({ object, start }) => {
      if (functions === 0 && object.type === "Identifier" && object.name === "t")
        early.push(source.slice(start, source.indexOf("\n", start)));
    },
  }).visit(program);
  return { texts, early };
}

const sources = readdirSync(WEB, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return { file: relative(WEB, path).replaceAll(sep, "/"), source: readFileSync(path, "utf8") };
  })
  .filter(({ file }) => !file.startsWith("text/"));
const inSources = (of: keyof Found): string[] =>
  sources.flatMap(({ file, source }) => look(file, source)[of].map((found) => `${file}: ${found}`));

it("finds text only in elements, in attributes and in the help of keys", () => {
  const source = `
    const EARLY = t.app.name;
    const Page = ({ isOpen }) => (
      <main className="page wide" aria-label={isOpen ? "Open page" : t.app.name}>
        Hello {isOpen && "there"} {t.app.name} {call("argument")} · 12
        <Code language="json" title={\`Result \${isOpen}\`} />
        <code>npm start -- PATH</code>
      </main>
    );
    const binding = { keys: ["Escape"], label: "Close it" };`;
  const { texts, early } = look("page.tsx", source);
  expect(texts.toSorted()).toEqual(["Close it", "Hello", "Open page", "Result", "there"]);
  expect(early).toEqual(["t.app.name;"]);
});

/** The static and dynamic imports of a file of the page. */
function importsOf(file: string): { statically: string[]; onDemand: string[] } {
  const source = readFileSync(join(WEB, file), "utf8");
  const resolve = (specifier: string): string =>
    relative(WEB, join(WEB, dirname(file), specifier)).replaceAll(sep, "/");
  const inPage = (specifiers: RegExpStringIterator<RegExpExecArray>): string[] =>
    [...specifiers].map(([, specifier = ""]) => resolve(specifier)).filter((path) => !path.startsWith(".."));
  return {
    statically: inPage(source.matchAll(/^(?:import|export)(?! type)(?:[^;"]*? from)? ?"(\.[^"]+\.tsx?)";/gm)),
    onDemand: inPage(source.matchAll(/\bimport\("(\.[^"]+\.tsx?)"\)/g)),
  };
}

/** A script and all modules that the browser evaluates with it. */
function scriptOf(file: string, script = new Set<string>()): Set<string> {
  if (script.has(file)) return script;
  script.add(file);
  for (const imported of importsOf(file).statically) scriptOf(imported, script);
  return script;
}

const PARTS = { content, inspect, list, page, screens, session, transcript };

it("loads the text that a script shows with it, or with the first script", () => {
  const first = scriptOf("app/main.tsx");
  const roots = new Set(sources.flatMap(({ file }) => importsOf(file).onDemand));
  expect(roots).toContain("screens/session/SessionScreen.tsx");
  const missing = ["app/main.tsx", ...roots].flatMap((root) => {
    const script = new Set([...first, ...scriptOf(root)]);
    const words = new Set<string>(
      Object.entries(PARTS).flatMap(([part, sections]) =>
        script.has(`text/en/${part}.ts`) ? Object.keys(sections) : [],
      ),
    );
    const shown = sources
      .filter(({ file }) => script.has(file))
      .flatMap(({ file, source }) =>
        [...source.matchAll(/\bt\.(\w+)/g)].flatMap(([, section = ""]) =>
          Object.hasOwn(en, section) && !words.has(section) ? [`${root}: t.${section} in ${file}`] : [],
        ),
      );
    return [...new Set(shown)];
  });
  expect(missing).toEqual([]);
});

it("has all text of the page in src/web/text", () => {
  expect(inSources("texts")).toEqual([]);
});

it("reads no text of the page before the language is loaded", () => {
  expect(inSources("early")).toEqual([]);
});

/** The same in both languages. */
const SAME = new Set(["Shell"]);
/** Every text that is not a function, by its path. */
function leaves(text: object, place = ""): [place: string, text: string][] {
  return Object.entries(text).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "string") return [[`${place}${name}`, value]];
    return typeof value === "object" && value !== null ? leaves(value, `${place}${name}.`) : [];
  });
}

it("has all text in Chinese", () => {
  const inChinese = new Map(leaves(zh));
  const missing = leaves(en).filter(
    ([place, text]) =>
      hasWords(text) && !SAME.has(text) && !/\p{Script=Han}|^token$/iu.test(inChinese.get(place) ?? ""),
  );
  expect(missing).toEqual([]);
});
