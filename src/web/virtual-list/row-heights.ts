/**
 * Heights of a growing list of rows. A Fenwick tree: finding a row's top or the row at an offset, setting a height and appending
 * a row all cost O(log n). Storing the tops instead would rewrite all later tops on each change: with 20,000 rows, for each frame
 * of a live session.
 */
interface RowHeights {
  readonly length: number;
  /** Sum of all heights, in pixels. */
  readonly total: number;
  height(index: number): number;
  /** Sum of the heights before `index`; `index` may equal `length`. */
  top(index: number): number;
  /** The row at `offset`: the last row with a height whose top is at or above it. −1 if the list is empty. */
  at(offset: number): number;
  set(index: number, height: number): void;
  append(height: number): void;
}

export function createRowHeights(initial: Iterable<number> = []): RowHeights {
  const heights = evenRowHeights(0, 0);
  for (const height of initial) heights.append(height);
  return heights;
}

/** Creates `count` rows of the same height, to be corrected with `set`, without iterating over them. */
export function evenRowHeights(count: number, even: number): RowHeights {
  let length = count;
  // `own`: the difference of each row from the even height. `tree`: their sums, 1-based; tree[i] sums rows (i − lowbit(i), i].
  let own = new Float64Array(length + 16);
  let tree = new Float64Array(own.length + 1);

  const prefix = (rows: number): number => {
    let sum = rows * even;
    for (let at = rows; at > 0; at -= at & -at) sum += tree[at] ?? 0;
    return sum;
  };
  const larger = (before: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
    const grown = new Float64Array(2 * before.length);
    grown.set(before);
    return grown;
  };

  return {
    get length() {
      return length;
    },
    get total() {
      return prefix(length);
    },
    height: (index) => (index < length ? even + (own[index] ?? -even) : 0),
    top: (index) => prefix(Math.min(index, length)),
    at(offset) {
      let position = 0;
      let rest = offset;
      for (let step = 1 << (31 - Math.clz32(length || 1)); step > 0; step >>= 1) {
        const next = position + step;
        const sum = step * even + (tree[next] ?? 0);
        if (next <= length && sum <= rest) {
          position = next;
          rest -= sum;
        }
      }
      // Clamp to the last row, then skip rows without a height.
      let index = Math.min(position, length - 1);
      while (index > 0 && own[index] === -even) index -= 1;
      return index;
    },
    set(index, height) {
      if (index < 0 || index >= length) throw new RangeError(`No row ${index}: the list has ${length}.`);
      const change = height - even - (own[index] ?? 0);
      if (change === 0) return;
      own[index] = height - even;
      for (let at = index + 1; at <= length; at += at & -at) tree[at] = (tree[at] ?? 0) + change;
    },
    append(height) {
      if (length === own.length) own = larger(own);
      own[length] = height - even;
      length += 1;
      if (length >= tree.length) tree = larger(tree);
      let sum = height - even;
      const low = length & -length;
      for (let step = 1; step < low; step <<= 1) sum += tree[length - step] ?? 0;
      tree[length] = sum;
    },
  };
}
