import "../text/content-text.ts";
import { createElement, memo, type ReactNode, useState } from "react";
import { findHidden } from "../../hidden-text/hidden-text.ts";
import { t } from "../text/text.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { fewMarks, marked, visible } from "../ui/hidden-text.tsx";
import { useIsSearchMatch } from "../ui/search-match.ts";
import { type LineTokens, PAGE_LINES, useHighlight } from "./highlight.ts";
import { TOKEN_KINDS } from "./highlight-protocol.ts";
import "./code.css";

/** Maximum lines and characters of code that are shown before the user asks for all of it. */
const FIRST_LINES = 2_000;
const FIRST_LENGTH = 256 * 1024;
/** Number of marks of hidden characters after which each page gets at most one mark. */
const MAX_MARKS = 4_000;

/** Consecutive lines of code. `pieces`: number of pieces into which hidden characters split them and all lines before them. */
interface Page {
  text: string;
  pieces: number;
}

interface CodeBlockProps {
  code: string;
  /** The language according to the fence or the file name; empty for plain text. */
  language: string;
  /** Whether more lines will follow. */
  open?: boolean;
  /** Shown in the header, before the language. */
  title?: ReactNode;
  /** What the button copies, if not `code`. */
  textToCopy?: (() => string | Promise<string>) | undefined;
  copyLabel?: string | undefined;
  /** Long lines wrap instead of scrolling sideways. */
  wraps?: boolean;
}

/**
 * Code with its language and a button that copies exactly the code, or what it was made from. Each line is highlighted once, in a
 * worker.
 */
export const CodeBlock = memo(function CodeBlock({
  code,
  language,
  open = false,
  title,
  textToCopy = () => code,
  copyLabel,
  wraps = false,
}: CodeBlockProps): ReactNode {
  const [all, setAll] = useState(false);
  const [pager] = useState(createPager);
  const highlighted = useHighlight(code, language, open);
  const pages = pager(code);
  const limit = all ? pages.length : firstPages(pages);
  const isMatch = useIsSearchMatch(() =>
    pages
      .slice(limit)
      .map(({ text }) => text)
      .join(""),
  );
  if (isMatch) setAll(true);
  return (
    <figure className={wraps ? "code-block code-wraps" : "code-block"}>
      <figcaption>
        {title}
        <span className="code-language">{visible(language || "text", "name")}</span>
        {highlighted.note && <span className="note">{highlighted.note}</span>}
        <CopyButton text={textToCopy} label={copyLabel} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code {...(language ? { className: `language-${language}` } : {})}>
          {pages.slice(0, limit).map(({ text, pieces }, index) => (
            <CodePage
              key={index}
              text={text}
              tokens={highlighted.pages[index]}
              hasTooManyMarks={pieces > MAX_MARKS}
            />
          ))}
        </code>
      </pre>
      {limit < pages.length && (
        <button type="button" className="show-all" onClick={() => setAll(true)}>
          {t.output.allLines(pages.length * PAGE_LINES)}
        </button>
      )}
    </figure>
  );
});

function firstPages(pages: readonly Page[]): number {
  let length = 0;
  const maxPages = FIRST_LINES / PAGE_LINES;
  for (let index = 0; index < pages.length; index++) {
    if (index >= maxPages || length > FIRST_LENGTH) return index;
    length += pages[index]?.text.length ?? 0;
  }
  return pages.length;
}

/** Creates a function that splits growing code into pages of lines. Full pages never change. */
function createPager(): (code: string) => readonly Page[] {
  let before = "";
  let pages: Page[] = [];
  let start = 0;
  return (code) => {
    if (code === before) return pages;
    if (!code.startsWith(before)) {
      pages = [];
      start = 0;
    }
    before = code;
    const full = pages.slice(0, Math.max(0, pages.length - 1));
    const add = (text: string): void => {
      const pieces = (full.at(-1)?.pieces ?? 0) + findHidden(text, "code").length - 1;
      full.push({ text, pieces });
    };
    for (;;) {
      let end = start;
      let lines = 0;
      while (lines < PAGE_LINES) {
        const newline = code.indexOf("\n", end);
        if (newline < 0) break;
        end = newline + 1;
        lines++;
      }
      if (lines < PAGE_LINES) {
        add(code.slice(start));
        break;
      }
      add(copyOf(code.slice(start, end)));
      start = end;
    }
    pages = full;
    return pages;
  };
}

/**
 * Copies a substring. Otherwise it would keep its parent string in memory, so that each page would retain another state of the
 * code.
 */
const copyOf = (lines: string): string => lines.split("\n").join("\n");

const CodePage = memo(function CodePage({
  text,
  tokens,
  hasTooManyMarks,
}: {
  text: string;
  tokens: readonly LineTokens[] | undefined;
  /** Whether this page and those before it have more marks than the limit. */
  hasTooManyMarks: boolean;
}): ReactNode {
  if (hasTooManyMarks)
    return <span className="code-page">{marked(fewMarks(findHidden(text, "code"), 0))}</span>;
  if (!tokens) return <span className="code-page">{visible(text, "code")}</span>;
  const shown: ReactNode[] = [];
  let position = 0;
  let plain = "";
  const flush = (): void => {
    if (plain) shown.push(visible(plain, "code"));
    plain = "";
  };
  for (const packed of tokens) {
    const newline = text.indexOf("\n", position);
    const lineEnd = newline < 0 ? text.length : newline;
    for (let index = 0; index < packed.length; index += 2) {
      const end = Math.min(lineEnd, position + (packed[index] ?? 0));
      const kind = TOKEN_KINDS[(packed[index + 1] ?? 0) - 1];
      const part = text.slice(position, end);
      position = end;
      if (kind === undefined) plain += part;
      else {
        flush();
        shown.push(createElement("span", { className: `code-${kind}` }, visible(part, "code")));
      }
    }
    // A line without tokens is plain text.
    plain += text.slice(position, lineEnd + 1);
    position = lineEnd + 1;
  }
  plain += text.slice(position);
  flush();
  return createElement("span", { className: "code-page" }, ...shown);
});
