import type { TranscriptPartOf } from "../transcript/transcript.ts";
import { preview } from "./preview.ts";
import { printedEnd, printedOutput } from "./script-output.ts";

/** Maximum length of the line, in UTF-16 code units. */
const LINE_LIMIT = 160;
/** Longer outputs are searched only at their beginning and end. In UTF-16 code units. */
const SEARCH_LIMIT = 12_000;
const SEARCH_HEAD = 4_000;
const SEARCH_TAIL = 8_000;

/** Lines that agents, shells and build tools add to a command's own messages. */
const AROUND =
  /^(?:Exit code:? -?\d+|Process (?:exited|running) with |Wall time|Output:|Script (?:completed|failed|terminated|running)\b|Chunk ID|Original token count|Total output lines|Command failed with exit code -?\d+\.?$|…?\d+ (?:tokens|chars) truncated|(?:FAIL(?:ED)?|ERROR)$)|\bcomplete log of this run\b|\bwaiting for other jobs to finish\b/i;
const FAILURE =
  /\b(?:errors?|\w+(?:Error|Exception)|exception|fail(?:s|ed|ing|ures?)?|fatal|panic(?:ked)?|denied|refused|cannot|can't|could not|unable|unknown|invalid|not found|no such|not exist|timed out|aborted|conflict)\b|[✗✖✘]/i;

/** A line without colours, agents' tags and the rules around a summary (`==== 2 failed ====`). Empty: no useful text is left. */
function textOf(line: string): string {
  const text = line
    .replace(/<\/?(?:tool_use_error|error|system)>/g, "")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences of colours begin with a control character
    .replace(/\u001b\[[0-9;:]*m/g, "")
    .replace(/^[\s=\-_*#~─━]{3,}|(?<![\s=\-_*#~─━])[\s=\-_*#~─━]{3,}$/g, "")
    .trim();
  return /[\p{L}\p{N}]/u.test(text) && !AROUND.test(text) ? text : "";
}

const namesFailure = (text: string): boolean =>
  FAILURE.test(text.replace(/\b(?:0|no) (?:errors?|fail\w*)/gi, ""));

/**
 * Index of the last line that names a failure, or −1. The last one, because compilers and test runners print their summary last.
 */
export const failureIndex = (lines: readonly string[]): number =>
  lines.findLastIndex((line) => namesFailure(textOf(line)));

/**
 * The line of an output that states why a call failed: the last line that names a failure, otherwise the first line with words.
 * `is_end`: the text is only the end of the output, so its first line is not used. `undefined`: there is no such line.
 */
export function failureLine(output: string, is_end = false): string | undefined {
  const text =
    output.length > SEARCH_LIMIT ? `${output.slice(0, SEARCH_HEAD)}\n${output.slice(-SEARCH_TAIL)}` : output;
  const lines = text
    .split("\n")
    .map(textOf)
    .filter((line) => line !== "");
  const line = lines.findLast(namesFailure) ?? (is_end ? undefined : lines[0]);
  return line === undefined ? undefined : preview(line, LINE_LIMIT);
}

/**
 * The line that states why a call failed. In a truncated output, only the end is searched, because errors at its beginning may be
 * expected.
 */
export function failureLineOf(
  { state, progress }: TranscriptPartOf<"tool_call">,
  result: TranscriptPartOf<"tool_result"> | undefined,
): string | undefined {
  if (state.status === "aborted") return undefined;
  if (result?.truncated?.output_text !== undefined) {
    const end = result.output_end ?? "";
    return failureLine(printedOutput(result.output_text) === undefined ? end : printedEnd(end), true);
  }
  const output = result?.output_text ?? progress ?? "";
  if (output === "" && state.status === "error") return failureLine(state.error);
  const own = output.slice(result?.ui_extra?.output_start);
  return failureLine(printedOutput(own) ?? own);
}
