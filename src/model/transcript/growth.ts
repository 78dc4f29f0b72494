/** How a text came to be what it is: whoever knows an earlier state of it need not look at all of it again. */
export interface Growth {
  /** The same object for all states of one text, each of which begins with the state before. */
  readonly text_id: object;
  readonly length: number;
  /** Its last characters: what was appended last, and some of what was before. */
  readonly end: string;
}

/** Characters of the end that are kept, at least until more are appended: between two looks at it fewer come. */
const MAX_GROWTHS = 16_384;

const growths = new WeakMap<object, Growth>();

/** How the text of a part grew; `undefined`: it did not, or it has grown on since. */
export const growthOf = (part: object): Growth | undefined => growths.get(part);

/** Notes that the text of `after`, which has `length` characters, is that of `before` with `added` appended. */
export function recordGrowth(before: object, after: object, added: string, length: number): void {
  const known = growths.get(before);
  // What grows twice becomes two texts.
  growths.delete(before);
  const end = known === undefined || known.end.length > MAX_GROWTHS ? added : known.end + added;
  growths.set(after, { text_id: known?.text_id ?? after, length, end });
}
