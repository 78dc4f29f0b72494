import "../text/content-text.ts";
import { cutBefore } from "../../hidden-text/cut-short.ts";
import { t } from "../text/text.ts";

/** An open block beyond this many characters is parsed again only when it has grown by an eighth. */
export const REPARSE_THRESHOLD = 8_192;
/** Maximum depth of nested containers and elements that are rendered. */
export const MAX_DEPTH = 100;
/** Maximum number of delimiters in one passage of inline text: the parser's cost grows with their square. */
const MAX_DELIMITERS = 1_000;
/** Maximum sum of these squares in text without blank lines: four times the maximum of one passage. */
const MAX_EFFORT = 4 * MAX_DELIMITERS ** 2;
/** Square of the number of emphasis marks that cost the parser about as much as an element. */
const ELEMENT_EFFORT = 4_000;
/** Maximum number of characters in a word or address. */
const MAX_RUN = 2_000;
/**
 * Maximum number of lazy continuation lines (lines without the marker of their quote or list) in one passage, because for each
 * one the parser scans all of them again. Nested markers are limited for a similar reason: opening one costs as much as the line
 * before it.
 */
const MAX_LINES = 2_000;
const MAX_NESTED = 1_000;
/** Maximum characters and lines of plain text in one block, which is laid out at once. */
const MAX_PLAIN_LENGTH = 16_384;
const MAX_PLAIN_LINES = 256;

/** The marker on a line that opens a fence. */
export const FENCE = /^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})/;
const CONTAINERS = /^(?:[ \t]*(?:>|[-*+](?=[ \t\n]|$)|\d{1,9}[.)](?=[ \t\n]|$)))+/;
const DELIMITERS = /[*_~`[\]<&!\\]/g;
const EMPHASIS = /[*_~]/g;
const NEW_UNIT = /^\s*(?:[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|\|)/;
export const NONE: ReadonlySet<string> = new Set();

/** A fenced code block that is not closed yet. */
export interface OpenFence {
  language: string;
  closer: RegExp;
  indent: number;
  /** Start of the first line that was not scanned yet. */
  scanned: number;
  code: string;
}

/** The unclosed fence of a code block's source; `undefined` if it is closed or indented code. */
export function fenceOf(language: string, raw: string): OpenFence | undefined {
  const lineEnd = raw.indexOf("\n");
  if (lineEnd < 0) return undefined;
  const opener = FENCE.exec(raw.slice(0, lineEnd));
  if (!opener?.[1]) return undefined;
  const mark = opener[1][0] === "`" ? "`" : "~";
  const closer = new RegExp(`^ {0,3}${mark}{${opener[1].length},}[ \\t]*$`);
  const lines = raw.slice(lineEnd + 1).trimEnd();
  const lastLine = lines.slice(lines.lastIndexOf("\n") + 1);
  if (closer.test(lastLine)) return undefined;
  const indent = opener[0].length - opener[1].length;
  return { language, closer, indent, scanned: lineEnd + 1, code: "" };
}

/** A line of a fence, as the parser returns it: NUL is replaced. */
export const codeLine = (line: string, indent: number): string =>
  outdent(line, indent).replaceAll("\0", "\ufffd");

/** Removes up to `columns` (at most 3) columns of leading white space. A partly removed tab becomes spaces. */
export function outdent(line: string, columns: number): string {
  let taken = 0;
  let at = 0;
  while (taken < columns && line[at] === " ") {
    at++;
    taken++;
  }
  if (taken < columns && line[at] === "\t") return " ".repeat(4 - columns) + line.slice(at + 1);
  return line.slice(at);
}

/** All labels in square brackets, normalized as by the parser. Labels of footnotes begin with `^`. */
export function labelsIn(raw: string): ReadonlySet<string> {
  if (!raw.includes("[")) return NONE;
  const labels = new Set<string>();
  for (const match of raw.matchAll(/\[((?:[^[\]\\]|\\[\s\S]){1,999})\]/g)) {
    const label = (match[1] ?? "").replace(/[\t\n\r ]+/g, " ").trim();
    if (label) labels.add(label.toLowerCase().toUpperCase().toLowerCase());
  }
  return labels;
}

/** End of a block of plain text that begins at `start`: at the end of a line if possible. */
export function plainEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_PLAIN_LENGTH);
  let end = start;
  for (let lines = 0; lines < MAX_PLAIN_LINES; lines++) {
    const newline = text.indexOf("\n", end);
    if (newline < 0 || newline >= limit)
      return end > start && limit < text.length ? end : cutBefore(text, limit);
    end = newline + 1;
  }
  return end;
}

/** A passage of the tail that must not reach the parser. Offsets are relative to the tail. */
export interface Risk {
  start: number;
  end: number;
  /** End of the line that may open a fence at `start`; equal to `start` if there is none. */
  fence: number;
  reason: string;
}

/** Finds the first passage that would take the parser quadratic time or overflow its stack. */
export function findRisk(tail: string): Risk | undefined {
  let chunk = 0;
  let fence = 0;
  let delimiters = 0;
  let effort = 0;
  let length = 0;
  let lines = 0;
  let nested = 0;
  let position = 0;
  let previous = 0;
  let previousBlank = true;
  while (position < tail.length) {
    const newline = tail.indexOf("\n", position);
    const end = newline < 0 ? tail.length : newline;
    const line = tail.slice(position, end);
    const blank = !/\S/.test(line);
    if (blank || NEW_UNIT.test(line)) {
      effort += delimiters ** 2;
      delimiters = 0;
      length = 0;
      lines = 0;
    }
    if (!blank) {
      const opens = FENCE.test(line);
      if (previousBlank || opens) {
        chunk = position;
        fence = opens ? Math.min(end + 1, tail.length) : position;
        delimiters = 0;
        effort = 0;
        length = 0;
        lines = 0;
        nested = 0;
      }
      delimiters += line.match(DELIMITERS)?.length ?? 0;
      length += line.length;
      const markers = CONTAINERS.exec(line)?.[0].match(/[>*+)\-.]/g)?.length ?? 0;
      if (markers === 0) lines++;
      else nested += markers - 1;
      const reason =
        riskOf(line, delimiters, length, tail.slice(previous, end)) ??
        riskOfLines(markers, lines, nested) ??
        (effort + delimiters ** 2 > MAX_EFFORT ? t.markdown.marks : undefined);
      if (reason) return { start: chunk, end, fence, reason };
    }
    previousBlank = blank;
    previous = position;
    position = end + 1;
  }
  return undefined;
}

/** A long address of a link or definition. It may be on the line after the label, even inside a quote. */
const LONG_ADDRESS = /\][(:][\s>]*<[^<>\n]{2000,}>/;

function riskOf(line: string, delimiters: number, length: number, lines: string): string | undefined {
  if (delimiters > MAX_DELIMITERS) return t.markdown.manyMarks;
  if (length > 2 * REPARSE_THRESHOLD) return t.markdown.longParagraph;
  if (line.length > MAX_RUN && line.split(/[ \t]/).some((word) => word.length >= MAX_RUN))
    return t.markdown.longWord;
  // A long address may contain blanks, so the check for long words does not find it. Each link to it scans all of it.
  if (line.length > MAX_RUN && LONG_ADDRESS.test(lines)) return t.markdown.longAddress;
  return /^\s{200}/.test(line) ? t.markdown.deep : undefined;
}

function riskOfLines(markers: number, lines: number, nested: number): string | undefined {
  if (markers > MAX_DEPTH) return t.markdown.deep;
  if (lines > MAX_LINES) return t.markdown.manyLines;
  return nested > MAX_NESTED ? t.markdown.nested : undefined;
}

/** The cost of parsing the emphasis marks in a text, as a number of elements with the same cost. */
export function effortOf(source: string): number {
  // Fast path for nearly all texts.
  if ((source.match(EMPHASIS)?.length ?? 0) ** 2 < ELEMENT_EFFORT) return 0;
  let effort = 0;
  let marks = 0;
  for (const line of source.split("\n")) {
    if (NEW_UNIT.test(line) || !/\S/.test(line)) {
      effort += marks ** 2;
      marks = 0;
    }
    marks += line.match(EMPHASIS)?.length ?? 0;
  }
  return Math.floor((effort + marks ** 2) / ELEMENT_EFFORT);
}

/** Start of the line at an offset. */
export const lineStart = (text: string, offset: number): number => text.lastIndexOf("\n", offset - 1) + 1;
