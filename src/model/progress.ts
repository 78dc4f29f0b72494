/** The shown part of a growing output that its source sends in full each time. */
export interface EmittedOutput {
  /** The output as last sent by the source. */
  readonly latest: string;
  /** Length of everything shown so far, in UTF-16 code units. */
  readonly shown: number;
}

/**
 * The text to append to the progress, which only grows: the new part of an output that continues the last one, or a different
 * output on a new line. Empty if nothing is new.
 */
export function newProgress({ latest, shown }: EmittedOutput, output: string): string {
  if (output === "" || output === latest) return "";
  const extendsLatest = latest === "" ? shown === 0 : output.startsWith(latest);
  return extendsLatest ? copyOf(output.slice(latest.length)) : `\n${output}`;
}

/**
 * A copy of a text. A slice keeps the whole original string in memory, so without a copy each delta would keep another version of
 * the output.
 */
export function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
