/**
 * Heights of a growing list of rows: a Fenwick tree, so that a row's top, the row at an offset, a new height and a new
 * row cost O(log n). (A virtual list that keeps the tops themselves rewrites all that follow at every change: with
 * 20,000 rows that is the cost of each frame of a live session.)
 */
export interface RowHeights {
  readonly length: number;
  /** Sum of all heights, in pixels. */
  readonly total: number;
  height(index: number): number;
  /** Sum of the heights before `index`; `index` may equal `length`. */
  top(index: number): number;
  /** The row that covers `offset`: the last one whose top is not below it, rows of no height never; −1 in an empty list. */
  at(offset: number): number;
  set(index: number, height: number): void;
  append(height: number): void;
  /** Forgets all rows from `length` on. */
  truncate(length: number): void;
}

export function createRowHeights(initial: Iterable<number> = []): RowHeights {
  const heights = evenRowHeights(0, 0);
  for (const height of initial) heights.append(height);
  return heights;
}

/** `length` rows of one height, to be corrected with `set`: what is alike costs no look at each row. */
export function evenRowHeights(length: number, even: number): RowHeights {
  // What each row has beyond the even height, and those sums: 1-based, tree[i] is that of the rows in (i − lowbit(i), i].
  let own = new Array<number>(length).fill(0);
  let tree = new Array<number>(length + 1).fill(0);

  const prefix = (count: number): number => {
    let sum = count * even;
    for (let at = count; at > 0; at -= at & -at) sum += tree[at] ?? 0;
    return sum;
  };
  const append = (height: number): void => {
    const position = own.push(height - even);
    let sum = height - even;
    const low = position & -position;
    for (let step = 1; step < low; step <<= 1) sum += tree[position - step] ?? 0;
    tree[position] = sum;
  };

  return {
    get length() {
      return own.length;
    },
    get total() {
      return prefix(own.length);
    },
    height: (index) => even + (own[index] ?? -even),
    top: (index) => prefix(Math.min(index, own.length)),
    at(offset) {
      let position = 0;
      let rest = offset;
      for (let step = 1 << (31 - Math.clz32(own.length || 1)); step > 0; step >>= 1) {
        const next = position + step;
        const sum = step * even + (tree[next] ?? 0);
        if (next <= own.length && sum <= rest) {
          position = next;
          rest -= sum;
        }
      }
      // Past the end, or before it: the nearest row that has a height.
      let index = Math.min(position, own.length - 1);
      while (index > 0 && own[index] === -even) index -= 1;
      return index;
    },
    set(index, height) {
      const before = own[index];
      if (before === undefined) throw new RangeError(`No row ${index}: the list has ${own.length}.`);
      const change = height - even - before;
      if (change === 0) return;
      own[index] = height - even;
      for (let at = index + 1; at <= own.length; at += at & -at) tree[at] = (tree[at] ?? 0) + change;
    },
    append,
    truncate(length) {
      if (length >= own.length) return;
      own = own.slice(0, Math.max(0, length));
      tree = tree.slice(0, own.length + 1);
    },
  };
}
