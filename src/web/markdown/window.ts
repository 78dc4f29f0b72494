/** How a text grew: identifies its earlier states. */
export interface TextGrowth {
  /** The same for all states of a text that was only appended to. */
  readonly text_id: object;
  readonly length: number;
  /** Its last characters. */
  readonly end: string;
}

/** The part of a growing text that is still to be parsed. */
interface MarkdownWindow {
  /** The text that was added and not yet dropped. Its lines end in `\n`. */
  readonly text: string;
  /** Takes the text so far. `false`: it does not continue the former text, and the window starts again with it. */
  take(given: string, growth?: TextGrowth): boolean;
  /** Drops everything before an offset in `text`. */
  leave(before: number): void;
  /** Restores the whole text that was taken last. */
  restart(): void;
}

/**
 * A window on a growing text. A substring keeps its whole parent string in memory. Substrings of the window keep only the
 * window, while substrings of the text would keep every state of the text.
 */
export function createMarkdownWindow(): MarkdownWindow {
  let whole = "";
  let text_id: object | undefined;
  /** It ends with `\r`, which was treated as a line end. */
  let returned = false;
  let text = "";
  const restart = (): void => {
    text = withoutReturns(whole);
    returned = whole.endsWith("\r");
  };
  /** The text that `given` adds. `undefined`: it does not continue the text so far. */
  const addedBy = (given: string, growth: TextGrowth | undefined): string | undefined => {
    const count = given.length - whole.length;
    if (count >= 0 && growth?.length === given.length && count <= growth.end.length) {
      if (growth.text_id === text_id) return growth.end.slice(growth.end.length - count);
    }
    // `slice` and `===` compare whole machine words, `startsWith` single characters.
    return given.slice(0, whole.length) === whole ? given.slice(whole.length) : undefined;
  };
  return {
    get text() {
      return text;
    },
    take(given, growth) {
      // Engines flatten a concatenated string when a part of it is read, which copies all of it. With a `growth` this never happens.
      const added = addedBy(given, growth);
      whole = given;
      text_id = growth?.text_id;
      if (added === undefined) {
        restart();
        return false;
      }
      if (added === "") return true;
      text += withoutReturns(returned && added.startsWith("\n") ? added.slice(1) : added);
      returned = added.endsWith("\r");
      return true;
    },
    leave(before) {
      text = text.slice(before);
    },
    restart,
  };
}

const withoutReturns = (text: string): string => (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);
