import { exactText } from "../../hidden-text/exact-text.ts";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { indent, type PlainForm, plainText } from "../../model/parts/plain-text.ts";
import type { Request } from "../../model/request.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";

/** Lines of one output, and characters of a line, that are printed. */
const OUTPUT_LINES = 40;
const LINE_LENGTH = 1_000;

/** One part as people read it in a terminal; `undefined`: it is part of another one, or says nothing. */
export function textOf(part: TranscriptPart, transcript: Transcript): string | undefined {
  const result =
    part.type === "tool_call" && part.result_index !== undefined
      ? transcript.parts.at(part.result_index)
      : undefined;
  return plainText(part, result, TERMINAL);
}

/** What fits a terminal, and a word on what is left out. */
export function cut(text: string): string {
  const lines = text.split("\n");
  while (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const more = lines.length - OUTPUT_LINES;
  if (more > 0) lines.splice(OUTPUT_LINES, more, `… ${more} more lines (--json prints all)`);
  return lines
    .map((line) => {
      const rest = line.length - LINE_LENGTH;
      if (rest <= 0) return line;
      return `${line.slice(0, LINE_LENGTH).toWellFormed()}… ${rest} more characters (--json prints all)`;
    })
    .join("\n");
}

/** Blank lines, and spaces in a row, beyond which what stands behind them would be pushed out of sight. */
const BLANK_LINES = 3;
const SPACES = 40;

/**
 * What a request is about, a bar before each of its lines. What a person is about to allow shows all that is in it: what
 * cannot be seen or looks like something else as code points, spaces at line ends and long rows of empty lines in words.
 */
export function subjectText({ kind, subject }: Pick<Request, "kind" | "subject">): string {
  if (subject === undefined) return "";
  if (kind === "question") return indent(visibleText(subject, "prose"), "   │ ");
  const shown: string[] = [];
  let blank: string[] = [];
  const closeBlank = () => {
    // Without the bar: no line of the subject looks like this one.
    if (blank.length > BLANK_LINES) shown.push(`   … ${count(blank.length, "blank line")}`);
    else shown.push(...blank.map(exactLine));
    blank = [];
  };
  for (const line of subject.split("\n")) {
    if (/^[ \t]*$/.test(line)) blank.push(line);
    else {
      closeBlank();
      shown.push(exactLine(line));
    }
  }
  closeBlank();
  return shown.join("\n");
}

/** A title or a label: one line, with what hides in it. */
export function visibleLine(text: string): string {
  return visibleText(text, "prose").replace(/\s+/g, " ");
}

/** How much there is of what a person is about to allow. */
export function subjectSize(subject: string): string {
  return `${count(subject.split("\n").length, "line")}, ${count(subject.length, "character")}`;
}

function exactLine(line: string): string {
  const inWords = (spaces: string) =>
    `⟨${count(spaces.length, spaces.includes("\t") ? "white-space character" : "space")}⟩`;
  const text = exactText(line).replace(new RegExp(`[ \\t]{${SPACES},}|[ \\t]+$`, "g"), inWords);
  return `   │ ${text}`;
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** What is printed in a terminal. */
export const TERMINAL: PlainForm = { fit: cut, output: cut, title: visibleLine, subject: subjectText };

/**
 * An agent's text must not drive the terminal that shows it: control and direction characters are spelled out. JSON stays
 * the same JSON.
 */
export function safe(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
