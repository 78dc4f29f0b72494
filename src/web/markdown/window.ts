/** How a text grew. Tells whether a text continues an earlier one without comparing them. */
export interface TextGrowth {
  /** Stays the same object as long as text is only appended. */
  readonly text_id: object;
  readonly length: number;
  /** The last characters of the text. */
  readonly end: string;
}

/** The part of a growing text that is still to be parsed. */
interface MarkdownWindow {
  /** The text that was added and not dropped yet. Line ends are normalized to `\n`. */
  readonly text: string;
  /** Takes the text so far. `false`: it does not continue the former text, so the window was reset to it. */
  take(given: string, growth?: TextGrowth): boolean;
  /** Drops everything before an offset in `text`. */
  dropBefore(before: number): void;
  /** Restores the whole text that was taken last. */
  restart(): void;
}

/**
 * A window on a growing text. Engines keep the whole parent string of a substring in memory: substrings of the window retain only
 * the window, whereas substrings of the text would retain every former state of the text.
 */
export function createMarkdownWindow(): MarkdownWindow {
  let whole = "";
  let text_id: object | undefined;
  /** Whether the text so far ends with `\r`, which was treated as a line end: a following `\n` is skipped. */
  let endsWithReturn = false;
  let text = "";
  const restart = (): void => {
    text = withoutReturns(whole);
    endsWithReturn = whole.endsWith("\r");
  };
  /** The text that `given` adds; `undefined`: it does not continue the text so far. */
  const addedBy = (given: string, growth: TextGrowth | undefined): string | undefined => {
    const count = given.length - whole.length;
    if (count >= 0 && growth?.length === given.length && count <= growth.end.length) {
      if (growth.text_id === text_id) return growth.end.slice(growth.end.length - count);
    }
    // Faster than `startsWith`, which compares single characters: `===` compares whole machine words.
    return given.slice(0, whole.length) === whole ? given.slice(whole.length) : undefined;
  };
  return {
    get text() {
      return text;
    },
    take(given, growth) {
      // Reading from a concatenated string makes engines flatten it, which copies all of it. A matching `growth` avoids reading
      // it.
      const added = addedBy(given, growth);
      whole = given;
      text_id = growth?.text_id;
      if (added === undefined) {
        restart();
        return false;
      }
      if (added === "") return true;
      text += withoutReturns(endsWithReturn && added.startsWith("\n") ? added.slice(1) : added);
      endsWithReturn = added.endsWith("\r");
      return true;
    },
    dropBefore(before) {
      text = text.slice(before);
    },
    restart,
  };
}

const withoutReturns = (text: string): string => (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);
