const SHORT = 160;

/** The first line of a text, for titles: at most 160 characters. */
export function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > SHORT ? `${line.slice(0, SHORT - 1).toWellFormed()}…` : line;
}
