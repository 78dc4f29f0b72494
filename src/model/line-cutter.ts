/** Splits streamed text into lines. */
export interface LineCutter {
  /** The lines that end in this text, without line feeds. */
  push(text: string): string[];
  /** Length of the incomplete line, in UTF-16 code units. */
  readonly length: number;
  /** Ends the input and returns the incomplete line, which may be empty. */
  end(): string;
}

/** Creates a line cutter that scans each chunk once, also for long lines. */
export function createLineCutter(): LineCutter {
  let rest = "";
  return {
    push(text) {
      const lines = text.split("\n");
      // Do not split `rest + text`, which would scan a long line again with every chunk.
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
