import { Parser } from "htmlparser2";

/** What is not text to be read, with all that is in it. */
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
  "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul".split(
    " ",
  ),
);
const HEADING = /^h([1-6])$/;

/**
 * The text of a page, as a model reads it: headings with `#`, list items with `-`, cells of a row on one line, addresses of links in brackets
 * behind them, preformatted text as it is. Reads once from front to back, so that no nesting makes it slow; runs nothing.
 */
export function htmlToText(html: string, base: string): { title: string; text: string } {
  const lines: string[] = [];
  let line = "";
  let title = "";
  let silent = 0;
  let preformatted = 0;
  let isTitle = false;
  const links: (string | undefined)[] = [];

  const endLine = (): void => {
    const own = preformatted > 0 ? line : line.trim();
    // At most one empty line in a row.
    if (own !== "" || lines.at(-1) !== "") lines.push(own);
    line = "";
  };
  const endBlock = (): void => {
    if (line.trim() !== "") endLine();
    line = "";
  };
  const add = (text: string): void => {
    if (preformatted > 0) {
      const [first = "", ...rest] = text.split("\n");
      line += first;
      for (const next of rest) {
        lines.push(line);
        line = next;
      }
      return;
    }
    const joined = text.replace(/\s+/g, " ");
    line += line === "" || line.endsWith(" ") ? joined.trimStart() : joined;
  };

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (SILENT.has(name)) silent++;
        if (silent > 0) return;
        if (name === "title") isTitle = true;
        const level = HEADING.exec(name)?.[1];
        if (level !== undefined) {
          endBlock();
          lines.push("");
          line = `${"#".repeat(Number(level))} `;
        } else if (name === "br") endLine();
        else if (name === "td" || name === "th") add(line === "" ? "" : " | ");
        else if (BLOCKS.has(name)) {
          endBlock();
          if (name === "p" || name === "pre" || name === "table") endLine();
          if (name === "li") line = "- ";
        }
        if (name === "pre") preformatted++;
        if (name === "a") links.push(addressOf(attributes.href, base));
        if (name === "img" && attributes.alt) add(` [image: ${attributes.alt}] `);
      },
      ontext(text) {
        if (silent > 0) return;
        if (isTitle) title += text;
        else add(text);
      },
      onclosetag(name) {
        if (SILENT.has(name)) {
          silent = Math.max(0, silent - 1);
          return;
        }
        if (silent > 0) return;
        if (name === "title") isTitle = false;
        if (name === "a") {
          const href = links.pop();
          if (href !== undefined) line += ` (${href})`;
        }
        if (name === "td" || name === "th") return;
        if (HEADING.test(name) || BLOCKS.has(name)) endBlock();
        if (name === "pre") {
          preformatted = Math.max(0, preformatted - 1);
          lines.push("");
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.write(html);
  parser.end();
  endBlock();
  return {
    title: title.replace(/\s+/g, " ").trim(),
    text: lines
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim(),
  };
}

/** Where a link leads, absolute; nothing for one within the page, or one that is no address. */
function addressOf(href: string | undefined, base: string): string | undefined {
  if (href === undefined || href.startsWith("#") || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}
