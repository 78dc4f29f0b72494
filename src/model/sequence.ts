/**
 * An immutable list whose `append` and `set` cost O(log n) and share all that did not change, so that a fold over
 * 100,000 parts costs the same per step as over ten. Positions may be holes (`undefined`): a client that holds a window
 * of a long session knows how many parts there are, not all of them.
 */
export interface Sequence<Item> {
  readonly length: number;
  /** `undefined`: out of range, or a hole. */
  at(index: number): Item | undefined;
  append(item: Item): Sequence<Item>;
  /** Replaces (or fills) one position; `RangeError` outside `0 … length - 1`. */
  set(index: number, item: Item): Sequence<Item>;
  /** A plain array of `[from, to)`, holes as `undefined`. */
  slice(from?: number, to?: number): (Item | undefined)[];
  [Symbol.iterator](): IterableIterator<Item | undefined>;
}
