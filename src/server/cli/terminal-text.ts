import { exactText } from "../../hidden-text/exact-text.ts";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { indent, type PlainForm, plainText } from "../../model/parts/plain-text.ts";
import type { Request } from "../../model/request.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";

/** Maximum number of printed lines of an output, and of characters per line. */
const OUTPUT_LINES = 40;
const LINE_LENGTH = 1_000;

/** The text of a part for a terminal; `undefined`: it belongs to another part, or has no text. */
export function textOf(part: TranscriptPart, transcript: Transcript): string | undefined {
  const result =
    part.type === "tool_call" && part.result_index !== undefined
      ? transcript.parts.at(part.result_index)
      : undefined;
  return plainText(part, result, TERMINAL);
}

/** Truncates an output to fit a terminal, with a note about what was omitted. */
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

/** Number of blank lines, and of consecutive spaces, above which they are shown as a note. More would push text out of sight. */
const BLANK_LINES = 3;
const SPACES = 40;

/**
 * The subject of a request, with a bar before each line. The subject of an approval is shown completely: invisible and confusable
 * characters as code points, and spaces at line ends and long runs of blank lines as notes.
 */
export function subjectText({ kind, subject }: Pick<Request, "kind" | "subject">): string {
  if (subject === undefined) return "";
  if (kind === "question") return indent(visibleText(subject, "prose"), "   │ ");
  const shown: string[] = [];
  let blank: string[] = [];
  const closeBlank = () => {
    // Without the bar, so that no line of the subject can look like it.
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

/** A title or label on one line, with hidden characters made visible. */
export function visibleLine(text: string): string {
  return visibleText(text, "prose").replace(/\s+/g, " ");
}

/** The size of an approval's subject. */
export function subjectSize(subject: string): string {
  return `${count(subject.split("\n").length, "line")}, ${count(subject.length, "character")}`;
}

function exactLine(line: string): string {
  const describeSpaces = (spaces: string) =>
    `⟨${count(spaces.length, spaces.includes("\t") ? "white-space character" : "space")}⟩`;
  const text = exactText(line).replace(new RegExp(`[ \\t]{${SPACES},}|[ \\t]+$`, "g"), describeSpaces);
  return `   │ ${text}`;
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** The form of text in a terminal. */
export const TERMINAL: PlainForm = { shorten: cut, output: cut, title: visibleLine, subject: subjectText };

/** An agent's text must not control the terminal: control and direction characters are escaped. JSON stays equivalent. */
export function safe(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it escapes
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
