/** How a text grew. Code that processed an earlier state uses it to avoid processing the whole text again. */
export interface Growth {
  /** The same object for all states of one text. Each state begins with the previous one. */
  readonly text_id: object;
  readonly length: number;
  /** The end of the text: what was appended last, and some text before it. */
  readonly end: string;
}

/** Number of characters of the end that are kept; more than arrive between two renderings. */
const MAX_GROWTHS = 16_384;

const growths = new WeakMap<object, Growth>();

/** How the text of a part grew; `undefined`: it did not grow, or has grown further since. */
export const growthOf = (part: object): Growth | undefined => growths.get(part);

/** Records that the text of `after`, of `length` characters, is that of `before` with `added` appended. */
export function recordGrowth(before: object, after: object, added: string, length: number): void {
  const known = growths.get(before);
  // If a text grows in two ways, it becomes two texts.
  growths.delete(before);
  const end = known === undefined || known.end.length > MAX_GROWTHS ? added : known.end + added;
  growths.set(after, { text_id: known?.text_id ?? after, length, end });
}
