import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { build } from "vite";
import config from "../vite.config.ts";
import { report, round } from "./measure.ts";

/**
 * The size of the script for the page's first paint, and for a session's screen, compared to a page of only React and zustand.
 * `node bench/first-load.bench.ts`, after `npm run build`.
 */
const root = join(import.meta.dirname, "..");
const assets = join(root, "dist/web/assets");
const kilobytes = (code: string | Uint8Array): number => brotliCompressSync(code).length / 1024;

/** A script and the files that it imports. `lazy`: only dynamic imports. */
function imports(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const code = readFileSync(join(assets, file), "utf8");
  for (const [, name] of code.matchAll(/(?:from|import)\s*["']\.\/([\w-]+\.js)["']/g))
    if (name !== undefined) imports(name, seen);
  return seen;
}
const weigh = (files: Iterable<string>): number => {
  let total = 0;
  for (const file of files) total += kilobytes(readFileSync(join(assets, file)));
  return total;
};

const html = readFileSync(join(root, "dist/web/index.html"), "utf8");
const named = [...html.matchAll(/\/assets\/([\w-]+\.js)"/g)].flatMap(([, name]) => name ?? []);
const entry = named.flatMap((name) => [...imports(name)]);
/** The page's imports for a screen, in addition to its entry. A screen without a separate script would be in the entry. */
function withScreen(name: string): Set<string> {
  const script = readdirSync(assets).find((file) => new RegExp(`^${name}-.*\\.js$`).test(file));
  if (script === undefined) throw new Error(`No script of ${name} in ${assets}.`);
  return new Set([...entry, ...imports(script)]);
}
// The page opens with the list, whose script the entry requests before it renders anything.
const first = withScreen("SessionsScreen");
const withMarkdown = withScreen("SessionScreen");

const ENTRY = "virtual:page";
/**
 * The script size in KB of a page with only React, zustand and the imports of one line. Shiki's languages are loaded later and
 * not included.
 */
async function weighPage(line = 'const Text = "p";'): Promise<number> {
  const built = await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: "error",
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === ENTRY ? join(import.meta.dirname, "page.js") : undefined),
        load: (id) =>
          id.endsWith("/page.js")
            ? `import { createElement } from "react"; import { createRoot } from "react-dom/client"; import { create } from "zustand";
               ${line}
               const use = create(() => ({ text: "hello" }));
               const App = () => { const { text } = use(); return createElement(Text, { text }, text); };
               createRoot(document.body).render(createElement(App));`
            : undefined,
      },
    ],
    resolve: { ...product.resolve, dedupe: ["react", "react-dom"] },
    worker: { format: "es" },
    build: {
      write: false,
      target: "es2023",
      modulePreload: { polyfill: false },
      rolldownOptions: { input: ENTRY },
    },
  });
  let total = 0;
  for (const output of Array.isArray(built) ? built : [built]) {
    if (!("output" in output)) continue;
    const chunks = new Map(
      output.output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])),
    );
    const needed = new Set([...chunks.values()].flatMap((chunk) => (chunk.isEntry ? chunk.fileName : [])));
    for (const name of needed) {
      const chunk = chunks.get(name);
      total += kilobytes(chunk?.code ?? "");
      for (const imported of chunk?.imports ?? []) needed.add(imported);
    }
  }
  return total;
}
const product = await config({ command: "build", mode: "production" });
const markdown = join(root, "src/web/markdown/Markdown.tsx");
const base = await weighPage();
const ours = await weighPage(`import { Markdown as Text } from ${JSON.stringify(markdown)};`);
const peer = await weighPage('import { Streamdown as Text } from "streamdown";');

report(
  "first-load",
  [
    {
      row: "script of the first paint, brotli, / react + zustand",
      goal: "≤ 1.25",
      figures: {
        verbatim: round(weigh(first) / base),
        "verbatim KB": round(weigh(first)),
        "react + zustand KB": round(base),
      },
    },
    {
      row: "script of a page of nothing but Markdown, brotli, / react + zustand",
      goal: "≤ 2.0",
      figures: {
        verbatim: round(ours / base),
        "verbatim KB": round(ours),
        streamdown: round(peer / base),
        "streamdown KB": round(peer),
      },
    },
    {
      row: "script of a session's screen, brotli, / react + zustand",
      goal: "≤ 2.0",
      figures: { verbatim: round(weigh(withMarkdown) / base), "verbatim KB": round(weigh(withMarkdown)) },
    },
  ],
  { first: [...first], with_markdown: [...withMarkdown] },
);
