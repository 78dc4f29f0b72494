import { Tokenizer } from "htmlparser2";

/** Elements whose content is not readable text. */
const SILENT = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "canvas",
  "select",
]);
const BLOCKS = new Set(
  "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr li main nav ol p pre section summary table tbody tfoot thead tr ul h1 h2 h3 h4 h5 h6".split(
    " ",
  ),
);
const CELLS = new Set(["td", "th"]);

/**
 * Converts a page to text for a model: headings begin with `#`, list items with `-`, the cells of a row are on one line, link
 * URLs are in parentheses, and preformatted text is unchanged. Runs no scripts. Uses only the library's tokenizer, because its
 * tree builder takes quadratic time for deeply nested pages.
 */
export function htmlToText(html: string, base: string): { title: string; text: string } {
  const page = createPageText();
  let name = "";
  let attribute = "";
  let value: string[] = [];
  let attributes = new Map<string, string>();
  let silent = 0;
  let isTitle = false;
  const title: string[] = [];
  const links: (string | undefined)[] = [];
  // A page may open a million links without closing any.
  const MAX_LINKS_OPEN = 1_000;

  const say = (text: string): void => {
    if (silent > 0) return;
    if (isTitle) title.push(text);
    else page.add(text);
  };
  const open = (): void => {
    if (SILENT.has(name)) silent++;
    if (silent > 0) return;
    if (name === "title") isTitle = true;
    else if (name === "br") page.endLine();
    else if (CELLS.has(name)) page.beginCell();
    else if (BLOCKS.has(name)) page.beginBlock(name);
    else if (name === "a" && links.length < MAX_LINKS_OPEN)
      links.push(addressOf(attributes.get("href"), base));
    else if (name === "img" && (attributes.get("alt") ?? "") !== "")
      page.add(` [image: ${attributes.get("alt")}] `);
  };
  const close = (closed: string): void => {
    if (SILENT.has(closed)) silent = Math.max(0, silent - 1);
    else if (silent > 0) return;
    else if (closed === "title") isTitle = false;
    else if (BLOCKS.has(closed)) page.endBlock(closed);
    else if (closed === "a") {
      const href = links.pop();
      if (href !== undefined) page.add(` (${href})`);
    }
  };
  const nothing = (): void => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase();
        attributes = new Map();
      },
      onattribname(start, end) {
        attribute = html.slice(start, end).toLowerCase();
        value = [];
      },
      onattribdata: (start, end) => void value.push(html.slice(start, end)),
      onattribentity: (codepoint) => void value.push(String.fromCodePoint(codepoint)),
      onattribend() {
        if (!attributes.has(attribute)) attributes.set(attribute, value.join(""));
      },
      onopentagend: open,
      onselfclosingtag() {
        open();
        // HTML ignores the slash of most elements, but a skipped element such as `<svg/>` ends with it.
        if (SILENT.has(name)) close(name);
      },
      onclosetag: (start, end) => close(html.slice(start, end).toLowerCase()),
      ontext: (start, end) => say(html.slice(start, end)),
      ontextentity: (codepoint) => say(String.fromCodePoint(codepoint)),
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onprocessinginstruction: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return { title: title.join("").replace(/\s+/g, " ").trim(), text: page.end() };
}

/** Collects lines of text from many pieces in linear time. */
function createPageText() {
  const lines: string[] = [];
  let pieces: string[] = [];
  let endsInSpace = true;
  let preformatted = 0;

  const put = (text: string): void => {
    if (text === "") return;
    pieces.push(text);
    endsInSpace = text.endsWith(" ");
  };
  const endLine = (): void => {
    const line = pieces.join("");
    lines.push(preformatted > 0 ? line : line.trim());
    pieces = [];
    endsInSpace = true;
  };
  const endOpenLine = (): void => {
    if (pieces.length > 0) endLine();
  };
  return {
    endLine,
    add(text: string): void {
      if (preformatted > 0) {
        const [first = "", ...rest] = text.split("\n");
        put(first);
        for (const next of rest) {
          endLine();
          put(next);
        }
        return;
      }
      const joined = text.replace(/\s+/g, " ");
      put(endsInSpace ? joined.trimStart() : joined);
    },
    beginCell(): void {
      if (pieces.length > 0) put(" | ");
    },
    beginBlock(name: string): void {
      endOpenLine();
      const level = /^h([1-6])$/.exec(name)?.[1];
      if (level !== undefined || name === "p" || name === "pre" || name === "table") endLine();
      if (level !== undefined) put(`${"#".repeat(Number(level))} `);
      if (name === "li") put("- ");
      if (name === "pre") preformatted++;
    },
    endBlock(name: string): void {
      endOpenLine();
      if (name !== "pre") return;
      preformatted = Math.max(0, preformatted - 1);
      endLine();
    },
    end(): string {
      endOpenLine();
      // At most one blank line in a row.
      return lines
        .filter((line, index) => line !== "" || lines[index - 1] !== "")
        .join("\n")
        .trim();
    },
  };
}

/** The absolute URL of a link; `undefined` if it is within the page or invalid. */
function addressOf(href: string | undefined, base: string): string | undefined {
  if (href === undefined || href.startsWith("#") || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}
