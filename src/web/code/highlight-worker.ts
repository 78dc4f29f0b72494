import { createShikiPrimitiveAsync, type ShikiPrimitive } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import type { LanguageRegistration, ThemeRegistration } from "shiki/types";
import {
  type HighlightReply,
  type HighlightRequest,
  MAX_LINE,
  MAX_TOKENS,
  TOKEN_KINDS,
} from "./highlight-protocol.ts";

/**
 * This module runs in a worker, which the page terminates if a text takes too long. So no regular expression can block the page.
 */
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

/** The theme's colours only encode the kinds of tokens. The real colours are CSS variables of the page. */
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
    // Property names are coloured like functions, and punctuation like the construct that it belongs to.
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
/** Bits of the foreground colour in a token's metadata, as in vscode-textmate's `EncodedTokenMetadata.getForeground`. */
const FOREGROUND_MASK = 0b00000000111111111000000000000000;
const FOREGROUND_SHIFT = 15;
/** Time limit for one line, in milliseconds. The rest of the line stays plain; the page terminates a worker that takes longer. */
const LINE_LIMIT_MS = 500;
/** Code with constructs of most languages. Highlighting it compiles most of a grammar. */
const TYPICAL = [
  "x = 1 // {}",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code that is highlighted.
  "export const name = async (value: string) => `${value} 1`; // note",
  'if (value == "text") { return [1.5, call(name)]; } # note',
];

interface Highlighter {
  core: ShikiPrimitive;
  /** The token kind of each colour, by its index in the theme's colour map. */
  kinds: readonly number[];
}
type Grammar = ReturnType<ShikiPrimitive["getLanguage"]>;
type Stack = Parameters<Grammar["tokenizeLine2"]>[1];

const sessions = new Map<number, Stack>();
let highlighter: Promise<Highlighter> | undefined;
const loaded = new Set<string>();

async function createHighlighter(): Promise<Highlighter> {
  const core = await createShikiPrimitiveAsync({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const { colorMap } = core.setTheme("kinds");
  const names = TOKEN_KINDS.map((_kind, index) => color(index + 1));
  return { core, kinds: colorMap.map((name) => names.indexOf(name.toLowerCase()) + 1) };
}

// `self` is typed as a window. Only its messages are used here.
const page = self as unknown as {
  postMessage(reply: HighlightReply): void;
  onmessage: ((event: MessageEvent<HighlightRequest>) => void) | null;
};

async function highlight(request: HighlightRequest & { type: "lines" }): Promise<void> {
  const { session, language } = request;
  const load = LANGUAGES.get(language);
  if (!load) {
    page.postMessage({ type: "failed", session });
    return;
  }
  highlighter ??= createHighlighter();
  const { core, kinds } = await highlighter;
  if (!loaded.has(language)) {
    await core.loadLanguage(load);
    loaded.add(language);
    // Compiling a grammar takes longer than using it. Without this warm-up, the first line of a text would exceed the time limit.
    for (const line of TYPICAL) core.getLanguage(language).tokenizeLine2(line, null);
    page.postMessage({ type: "loaded", session, language });
  }
  const grammar = core.getLanguage(language);
  let stack: Stack = request.first ? null : (sessions.get(session) ?? null);
  const tokens = request.lines.map((line) => {
    if (line === "" || line.length >= MAX_LINE) return [];
    const result = grammar.tokenizeLine2(line, stack, LINE_LIMIT_MS);
    stack = result.ruleStack;
    return pack(result.tokens, line.length, kinds);
  });
  sessions.set(session, stack);
  page.postMessage({ type: "tokens", session, tokens });
}

/** Converts the grammar's pairs of start offset and metadata into pairs of length and kind. */
function pack(tokens: Uint32Array, end: number, kinds: readonly number[]): number[] {
  const packed: number[] = [];
  for (let at = 0; at < tokens.length; at += 2) {
    const length = (tokens[at + 2] ?? end) - (tokens[at] ?? 0);
    const kind = kinds[((tokens[at + 1] ?? 0) & FOREGROUND_MASK) >>> FOREGROUND_SHIFT] ?? 0;
    if (length <= 0) continue;
    if (packed.length > 0 && packed.at(-1) === kind)
      packed[packed.length - 2] = (packed.at(-2) ?? 0) + length;
    else packed.push(length, kind);
  }
  // A line with this many tokens is data, and each token would be an element.
  return packed.length > 2 * MAX_TOKENS ? [] : packed;
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
