import type { NamedOutputFile } from "../conversation/output-file.ts";

/**
 * The notes that precede the beginning and the end of a long output. Source: `formatTruncatedToolOutput` in
 * `packages/core/src/utils/fileUtils.ts` of gemini-cli; earlier versions and Qwen Code: `truncateAndSaveToFile`.
 */
const NOTES = [
  /^Output too large\. Showing first [^\n]* characters\. For full output see: ([^\n]+)\n/,
  /^Tool output was too large and has been truncated\.\nThe full output has been saved to: ([^\n]+)\n[\s\S]{0,1500}?\nTruncated part of the output:\n/,
];

/** The file with the complete output that the text of a result names; `undefined`: it names none. */
export function outputFileInText(text: string): NamedOutputFile | undefined {
  for (const note of NOTES) {
    const [found, path] = note.exec(text) ?? [];
    if (found !== undefined && path !== undefined) return { path, output_start: found.length };
  }
  return undefined;
}
