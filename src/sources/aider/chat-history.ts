/**
 * A part of Aider's chat history. `line`: the number of its first line, counted from its session's heading. `output`: messages of
 * Aider itself, one per line; `usage`: its message with the tokens and cost of an answer; `error`: a failed request; `interrupt`: Ctrl+C,
 * also if nothing was running.
 */
export interface HistoryBlock {
  kind: "prompt" | "answer" | "output" | "usage" | "error" | "interrupt";
  line: number;
  text: string;
}

/** One start of Aider. `started`: local time, as written; `line`: the number of its heading in the file, from 0. */
export interface HistorySession {
  started: string;
  line: number;
  blocks: HistoryBlock[];
}

const HEADING = /^# aider chat started at (.+?)\s*$/;
/** Aider ends each of its own lines with two spaces, Markdown's line break. */
const BREAK = "  ";
const PROMPT = /^####(?: |$)/;
const OUTPUT = /^>(?: |$)/;
const INTERRUPT = /^> \^C/;
/** LiteLLM is the library with which Aider calls models. */
const ERROR = /^> litellm\.\w*(?:Error|Exception)\b/;
const USAGE = /^> Tokens: .*\breceived\b/;

/** Whether a text is a chat history: its first line that is not blank is the heading of a session. */
export const isChatHistory = (text: string): boolean => HEADING.test(/\S.*/.exec(text)?.[0] ?? "");

/**
 * Splits a chat history into sessions and these into blocks. The file is Markdown: prompts are headings (`#### `), messages of Aider
 * quotes (`> `), and answers everything else. An answer may contain headings and quotes too. They are told apart by the two spaces at
 * the end of Aider's own lines, unless something has removed these from the whole session.
 *
 * Source: `Aider-AI/aider`, `aider/io.py` (`user_input`, `ai_output`, `tool_output`, `append_chat_history`).
 */
export function readChatHistory(text: string): HistorySession[] {
  const lines = text.split(/\r?\n/);
  const headings = [...lines.keys()].filter((at) => HEADING.test(lines[at] ?? ""));
  return headings.map((line, index) => ({
    started: HEADING.exec(lines[line] ?? "")?.[1] ?? "",
    line,
    blocks: blocksOf(lines.slice(line + 1, headings[index + 1])),
  }));
}

function blocksOf(lines: readonly string[]): HistoryBlock[] {
  const hasBreaks = lines.some((line) => (PROMPT.test(line) || OUTPUT.test(line)) && line.endsWith(BREAK));
  const isOwn = (line: string): boolean => !hasBreaks || line.endsWith(BREAK);
  const blocks: HistoryBlock[] = [];
  /** The block that the next line may continue. */
  let open: HistoryBlock | undefined;

  const add = (kind: HistoryBlock["kind"], at: number, text: string): void => {
    if (open?.kind === kind) open.text += `\n${text}`;
    else {
      open = { kind, line: at + 1, text };
      blocks.push(open);
    }
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (USAGE.test(line)) {
      // Aider writes the cost in the next line if there are many figures.
      const hasCost = lines[at + 1]?.startsWith("Cost: ") === true;
      const text = lines.slice(at, hasCost ? at + 2 : at + 1).join("\n");
      blocks.push({ kind: "usage", line: at + 1, text: contentOf(text) });
      if (hasCost) at += 1;
      open = undefined;
    } else if (PROMPT.test(line) && isOwn(line)) add("prompt", at, contentOf(line));
    else if (OUTPUT.test(line) && isOwn(line)) add(outputKind(line), at, contentOf(line));
    else if (open?.kind === "answer") add("answer", at, line);
    else if (line.trim() === "") open = undefined;
    else {
      const end = OUTPUT.test(line) ? endOfMessage(lines, at) : undefined;
      if (end === undefined) add("answer", at, line);
      else {
        add(outputKind(line), at, contentOf(lines.slice(at, end + 1).join("\n")));
        at = end;
      }
    }
  }
  for (const block of blocks) if (block.kind === "answer") block.text = block.text.trimEnd();
  return blocks;
}

function outputKind(line: string): HistoryBlock["kind"] {
  if (INTERRUPT.test(line)) return "interrupt";
  return ERROR.test(line) ? "error" : "output";
}

/** The last line of a message of several lines, of which only the last one ends with a line break. */
function endOfMessage(lines: readonly string[], first: number): number | undefined {
  for (let at = first + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (PROMPT.test(line) || OUTPUT.test(line)) return undefined;
    if (line.endsWith(BREAK)) return at;
  }
  return undefined;
}

/** The content of Aider's own lines, without their marks. */
const contentOf = (text: string): string => text.replace(/^(?:####|>) ?/, "").trimEnd();
