import { createHighlighterCore, type HighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import type { GrammarState, LanguageRegistration, ThemeRegistration } from "shiki/types";
import {
  type HighlightReply,
  type HighlightRequest,
  MAX_LINE,
  MAX_TOKENS,
  TOKEN_KINDS,
} from "./highlight-protocol.ts";

/** Runs in a worker that the page ends when a text takes too long: no regular expression can hold up the reader. */
type Loader = () => Promise<{ default: LanguageRegistration[] }>;

const LANGUAGES = new Map<string, Loader>(
  Object.entries({
    astro: () => import("shiki/langs/astro.mjs"),
    bash: () => import("shiki/langs/bash.mjs"),
    c: () => import("shiki/langs/c.mjs"),
    clojure: () => import("shiki/langs/clojure.mjs"),
    cmake: () => import("shiki/langs/cmake.mjs"),
    cpp: () => import("shiki/langs/cpp.mjs"),
    csharp: () => import("shiki/langs/csharp.mjs"),
    css: () => import("shiki/langs/css.mjs"),
    dart: () => import("shiki/langs/dart.mjs"),
    diff: () => import("shiki/langs/diff.mjs"),
    docker: () => import("shiki/langs/docker.mjs"),
    elixir: () => import("shiki/langs/elixir.mjs"),
    go: () => import("shiki/langs/go.mjs"),
    graphql: () => import("shiki/langs/graphql.mjs"),
    haskell: () => import("shiki/langs/haskell.mjs"),
    hcl: () => import("shiki/langs/hcl.mjs"),
    html: () => import("shiki/langs/html.mjs"),
    ini: () => import("shiki/langs/ini.mjs"),
    java: () => import("shiki/langs/java.mjs"),
    javascript: () => import("shiki/langs/javascript.mjs"),
    json: () => import("shiki/langs/json.mjs"),
    jsonc: () => import("shiki/langs/jsonc.mjs"),
    jsx: () => import("shiki/langs/jsx.mjs"),
    kotlin: () => import("shiki/langs/kotlin.mjs"),
    latex: () => import("shiki/langs/latex.mjs"),
    lua: () => import("shiki/langs/lua.mjs"),
    make: () => import("shiki/langs/make.mjs"),
    markdown: () => import("shiki/langs/markdown.mjs"),
    nix: () => import("shiki/langs/nix.mjs"),
    ocaml: () => import("shiki/langs/ocaml.mjs"),
    perl: () => import("shiki/langs/perl.mjs"),
    php: () => import("shiki/langs/php.mjs"),
    powershell: () => import("shiki/langs/powershell.mjs"),
    protobuf: () => import("shiki/langs/protobuf.mjs"),
    python: () => import("shiki/langs/python.mjs"),
    r: () => import("shiki/langs/r.mjs"),
    ruby: () => import("shiki/langs/ruby.mjs"),
    rust: () => import("shiki/langs/rust.mjs"),
    scala: () => import("shiki/langs/scala.mjs"),
    scss: () => import("shiki/langs/scss.mjs"),
    sql: () => import("shiki/langs/sql.mjs"),
    svelte: () => import("shiki/langs/svelte.mjs"),
    swift: () => import("shiki/langs/swift.mjs"),
    toml: () => import("shiki/langs/toml.mjs"),
    tsx: () => import("shiki/langs/tsx.mjs"),
    typescript: () => import("shiki/langs/typescript.mjs"),
    vue: () => import("shiki/langs/vue.mjs"),
    xml: () => import("shiki/langs/xml.mjs"),
    yaml: () => import("shiki/langs/yaml.mjs"),
    zig: () => import("shiki/langs/zig.mjs"),
  }),
);

const SCOPES: Record<(typeof TOKEN_KINDS)[number], string[]> = {
  keyword: [
    "keyword",
    "storage",
    "entity.name.tag",
    "punctuation.definition.heading",
    "markup.heading",
    "variable.language",
  ],
  string: ["string", "markup.inline.raw", "markup.inserted", "constant.other.symbol"],
  number: ["constant.numeric", "constant.language"],
  comment: ["comment", "string.quoted.docstring"],
  function: [
    "entity.name.function",
    "support.function",
    "meta.function-call entity.name",
    "entity.name.command",
    "support.type.property-name",
    "meta.object-literal.key",
  ],
  type: [
    "entity.name.type",
    "support.type",
    "support.class",
    "entity.other.inherited-class",
    "entity.other.attribute-name",
    "storage.type.primitive",
  ],
  punctuation: ["punctuation", "keyword.operator", "meta.brace"],
  constant: [
    "constant",
    "variable.other.constant",
    "support.constant",
    "markup.deleted",
    "variable.parameter.option",
    "constant.other.option",
  ],
};

/** Colours here are only numbers of token kinds; the page's own variables give the real ones. */
const color = (kind: number): string => `#${kind.toString(16).padStart(6, "0")}`;
const PLAIN = "#ffffff";
const theme: ThemeRegistration = {
  name: "kinds",
  type: "dark",
  fg: PLAIN,
  bg: "#000000",
  colors: { "editor.foreground": PLAIN, "editor.background": "#000000" },
  settings: [
    { settings: { foreground: PLAIN, background: "#000000" } },
    ...TOKEN_KINDS.map((kind, index) => ({
      scope: SCOPES[kind],
      settings: { foreground: color(index + 1) },
    })),
    // Names and string marks keep the colour of what they belong to.
    {
      scope: ["support.type.property-name.json", "support.type.property-name.yaml", "entity.name.tag.yaml"],
      settings: { foreground: color(TOKEN_KINDS.indexOf("function") + 1) },
    },
    {
      scope: ["punctuation.definition.string"],
      settings: { foreground: color(TOKEN_KINDS.indexOf("string") + 1) },
    },
    {
      scope: ["punctuation.definition.comment"],
      settings: { foreground: color(TOKEN_KINDS.indexOf("comment") + 1) },
    },
    {
      scope: ["punctuation.support.type.property-name"],
      settings: { foreground: color(TOKEN_KINDS.indexOf("function") + 1) },
    },
    {
      scope: ["keyword.operator.new", "keyword.operator.expression", "keyword.operator.logical.python"],
      settings: { foreground: color(TOKEN_KINDS.indexOf("keyword") + 1) },
    },
  ],
};
const KIND_OF = new Map<string, number>(TOKEN_KINDS.map((_kind, index) => [color(index + 1), index + 1]));

const sessions = new Map<number, GrammarState | undefined>();
let highlighter: Promise<HighlighterCore> | undefined;
const loaded = new Set<string>();

// `self` is typed as a window; only its messages are used here.
const page = self as unknown as {
  postMessage(reply: HighlightReply): void;
  onmessage: ((event: MessageEvent<HighlightRequest>) => void) | null;
};

async function highlight(request: HighlightRequest & { type: "lines" }): Promise<void> {
  const load = LANGUAGES.get(request.language);
  if (!load) {
    page.postMessage({ type: "failed", session: request.session });
    return;
  }
  highlighter ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const ready = await highlighter;
  if (!loaded.has(request.language)) {
    await ready.loadLanguage(load);
    loaded.add(request.language);
    // Compiling a grammar takes longer than using it; it is not the text's fault.
    ready.codeToTokensBase("x = 1 // {}", { lang: request.language, theme: "kinds" });
  }
  page.postMessage({ type: "loaded", session: request.session });
  const state = request.first ? undefined : sessions.get(request.session);
  const lines = ready.codeToTokensBase(request.lines.join("\n"), {
    lang: request.language,
    theme: "kinds",
    tokenizeMaxLineLength: MAX_LINE,
    ...(state === undefined ? {} : { grammarState: state }),
  });
  sessions.set(request.session, ready.getLastGrammarState(lines));
  const tokens = lines.map((line) => {
    const packed: number[] = [];
    for (const token of line) {
      const kind = KIND_OF.get(token.color?.toLowerCase() ?? "") ?? 0;
      if (packed.length > 0 && packed.at(-1) === kind)
        packed[packed.length - 2] = (packed.at(-2) ?? 0) + token.content.length;
      else packed.push(token.content.length, kind);
    }
    // A line of that many colours is data, and each is an element on the page.
    return packed.length > 2 * MAX_TOKENS ? [] : packed;
  });
  page.postMessage({ type: "tokens", session: request.session, tokens });
}

page.onmessage = (event) => {
  const request = event.data;
  if (request.type === "end") {
    sessions.delete(request.session);
    return;
  }
  highlight(request).catch(() => {
    const type = loaded.has(request.language) ? "failed" : "unloaded";
    page.postMessage({ type, session: request.session });
  });
};
