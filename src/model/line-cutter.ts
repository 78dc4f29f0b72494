/** Cuts text, in any pieces, into lines. */
export interface LineCutter {
  /** The lines that end in this text, each without its line feed. */
  push(text: string): string[];
  /** Length of the line that has not ended, in UTF-16 code units. */
  readonly length: number;
  /** The line that has not ended, which ends here; empty where the last one did. */
  end(): string;
}

/** Looks at each piece once, however many there are of one line. */
export function createLineCutter(): LineCutter {
  let rest = "";
  return {
    push(text) {
      const lines = text.split("\n");
      // Appended without being looked at: to split `rest + text` would scan a line again with every piece of it.
      lines[0] = rest + (lines[0] ?? "");
      rest = lines.pop() ?? "";
      return lines;
    },
    get length() {
      return rest.length;
    },
    end() {
      const line = rest;
      rest = "";
      return line;
    },
  };
}
