/** What is known of how a text grew: that it continues an earlier state of it, and how. */
export interface TextGrowth {
  /** The same for all states of a text to which was only ever appended. */
  readonly text_id: object;
  readonly length: number;
  /** Its last characters. */
  readonly end: string;
}

/** What of a growing text is still to be read. */
interface MarkdownWindow {
  /** What has come and was not left behind. Its lines end in `\n`. */
  readonly text: string;
  /** Takes the text so far. `false`: it does not continue the one before, and the window begins with it anew. */
  take(given: string, growth?: TextGrowth): boolean;
  /** Leaves behind what stands before a place in `text`. */
  leave(before: number): void;
  /** Brings back all of the text that was taken last. */
  restart(): void;
}

/**
 * The window on a text that grows. Whatever is cut out of a string holds all of that string: what is cut out of the window
 * holds no more than the window, where pieces of the text itself would hold each of its states.
 */
export function createMarkdownWindow(): MarkdownWindow {
  let whole = "";
  let text_id: object | undefined;
  /** It ends with a `\r`, which was taken for a line end. */
  let returned = false;
  let text = "";
  const restart = (): void => {
    text = withoutReturns(whole);
    returned = whole.endsWith("\r");
  };
  /** What `given` adds to the text so far; `undefined`: it does not continue it. */
  const addedBy = (given: string, growth: TextGrowth | undefined): string | undefined => {
    const count = given.length - whole.length;
    if (count >= 0 && growth?.length === given.length && count <= growth.end.length) {
      if (growth.text_id === text_id) return growth.end.slice(growth.end.length - count);
    }
    // `slice` and `===` compare whole words of memory, `startsWith` each character.
    return given.slice(0, whole.length) === whole ? given.slice(whole.length) : undefined;
  };
  return {
    get text() {
      return text;
    },
    take(given, growth) {
      // A string that was put together is copied as a whole as soon as a part of it is looked at: with a growth it never is.
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
