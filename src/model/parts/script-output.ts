/**
 * The result of a shell tool as a script of Codex's code mode prints it: JSON in one line, with the command's output in it. The end is
 * missing if the agent truncated it.
 */
const SHELL_RESULT =
  /\{"chunk_id":"[^"\\]*","wall_time_seconds":[\d.e+-]+(?:,"(?:session_id|exit_code|original_token_count)":-?\d+)*,"output":"((?:[^"\\]|\\.)*)(?:"\})?/gs;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** Decodes the contents of a JSON string, which may be truncated. */
const decoded = (json: string): string =>
  json.replace(/\\(?:u([\da-fA-F]{4})|(.))/gs, (_, code: string | undefined, sign: string) =>
    code === undefined ? (ESCAPES[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16)),
  );

/**
 * The output of a script that printed commands' results as JSON, with each result replaced by what the command printed. The rest
 * is unchanged. `undefined`: the output contains no such results.
 */
export function printedOutput(output: string): string | undefined {
  if (!output.includes('{"chunk_id":"')) return undefined;
  let isFound = false;
  const text = output.replace(SHELL_RESULT, (_, printed: string) => {
    isFound = true;
    return decoded(printed);
  });
  return isFound ? text : undefined;
}

/** The last lines that a command printed, from the end of a truncated output with such a result. */
export const printedEnd = (end: string): string => decoded(end.replace(/"\}\s*$/, ""));
