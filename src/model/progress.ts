/** The shown part of an output that a source repeats in full while it grows. */
export interface EmittedOutput {
  /** The output as the source sent it last. */
  readonly latest: string;
  /** Length of all that was shown of it, in UTF-16 code units. */
  readonly shown: number;
}

/**
 * What to append to progress, which only grows: what is new of an output that goes on from the last one; any other stands below
 * what was shown. Empty where there is nothing new.
 */
export function newProgress({ latest, shown }: EmittedOutput, output: string): string {
  if (output === "" || output === latest) return "";
  const goesOn = latest === "" ? shown === 0 : output.startsWith(latest);
  return goesOn ? copyOf(output.slice(latest.length)) : `\n${output}`;
}

/**
 * The same text, held on its own: what is cut out of a string holds all of it, so that each piece of an output would hold another
 * state of the whole.
 */
export function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
