import { memo, type ReactNode } from "react";
import { CodeBlock } from "../code/CodeBlock.tsx";

/** JSON, indented: once for each text, for it may be megabytes and whatever stands around it may change often. */
export const JsonBlock = memo(function JsonBlock({
  text,
  title,
}: {
  text: string;
  title?: string;
}): ReactNode {
  return <CodeBlock code={indentJson(text)} language="json" {...(title === undefined ? {} : { title })} />;
});

/**
 * JSON with line ends and indentation, every token byte for byte as it was written (parsing and printing it again would
 * change numbers). Text that is no JSON comes out as it is, for there is nothing to indent.
 */
export function indentJson(text: string): string {
  const next = /["{}[\],:]|[^\s"{}[\],:]+/g;
  let depth = 0;
  let shown = "";
  /** A bracket was opened, and nothing says yet whether something is in it. */
  let opened = false;
  const line = (): string => `\n${"  ".repeat(Math.min(depth, 40))}`;
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    let [token] = match;
    if (token === '"') {
      // Not by the expression: a long string with many escapes would need more of the stack than there is.
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
 * Whether parsing a JSON text loses some of it: digits of a number, one of two members of the same name, their order. How its
 * strings are escaped is no matter. Text that is no JSON loses nothing.
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

/** Where the string whose text begins here ends: behind its quote, or with the text where it has none. */
function endOfString(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code === 0x5c) at++;
  }
  return text.length;
}
