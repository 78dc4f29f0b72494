import { memo, type ReactNode } from "react";
import { CodeBlock } from "../code/CodeBlock.tsx";

/** Indented JSON, which is copied as it was sent. Memoized, because it can be megabytes long and its parent can render often. */
export const JsonBlock = memo(function JsonBlock({
  text,
  title,
}: {
  text: string;
  title?: string;
}): ReactNode {
  return <CodeBlock wraps code={indentJson(text)} language="json" title={title} textToCopy={() => text} />;
});

/**
 * Indents JSON without changing any token: parsing and serializing it would change numbers. Text that is not JSON is returned
 * unchanged.
 */
export function indentJson(text: string): string {
  const next = /["{}[\],:]|[^\s"{}[\],:]+/g;
  let depth = 0;
  let shown = "";
  /** The last token was an opening bracket, and it is not known yet whether anything follows in it. */
  let opened = false;
  const line = (): string => `\n${"  ".repeat(Math.min(depth, 40))}`;
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    let [token] = match;
    if (token === '"') {
      // A regular expression for strings would overflow the stack on a long one with many escapes.
      next.lastIndex = endOfString(text, next.lastIndex);
      token = text.slice(match.index, next.lastIndex);
    }
    const closes = token === "}" || token === "]";
    if (closes) depth = Math.max(0, depth - 1);
    if (opened !== closes) shown += line();
    opened = token === "{" || token === "[";
    if (opened) depth++;
    shown += token;
    if (token === ",") shown += line();
    else if (token === ":") shown += " ";
  }
  return shown;
}

/**
 * Whether parsing a JSON text loses information: digits of a number, duplicate keys, or the order of keys. Escapes in strings do
 * not count. `false` for text that is not JSON.
 */
export function losesSome(text: string): boolean {
  const next = /"|[^\s"]+/g;
  let written = "";
  try {
    const parsed: unknown = JSON.parse(text);
    for (let match = next.exec(text); match !== null; match = next.exec(text)) {
      if (match[0] === '"') next.lastIndex = endOfString(text, next.lastIndex);
      const token = text.slice(match.index, next.lastIndex);
      written += match[0] === '"' ? JSON.stringify(JSON.parse(token)) : token;
    }
    return written !== JSON.stringify(parsed);
  } catch {
    return false;
  }
}

/** End of the string whose content starts at `start`: after its closing quote, or the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code === 0x5c) at++;
  }
  return text.length;
}
