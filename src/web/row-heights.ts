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
  let heights: number[] = [];
  // 1-based: tree[i] is the sum of the heights in (i − lowbit(i), i].
  let tree: number[] = [0];

  const prefix = (count: number): number => {
    let sum = 0;
    for (let at = count; at > 0; at -= at & -at) sum += tree[at] ?? 0;
    return sum;
  };
  const append = (height: number): void => {
    const position = heights.push(height);
    let sum = height;
    const low = position & -position;
    for (let step = 1; step < low; step <<= 1) sum += tree[position - step] ?? 0;
    tree[position] = sum;
  };
  for (const height of initial) append(height);

  return {
    get length() {
      return heights.length;
    },
    get total() {
      return prefix(heights.length);
    },
    height: (index) => heights[index] ?? 0,
    top: (index) => prefix(Math.min(index, heights.length)),
    at(offset) {
      let position = 0;
      let rest = offset;
      for (let step = 1 << (31 - Math.clz32(heights.length || 1)); step > 0; step >>= 1) {
        const next = position + step;
        const sum = tree[next];
        if (next <= heights.length && sum !== undefined && sum <= rest) {
          position = next;
          rest -= sum;
        }
      }
      // Past the end, or before it: the nearest row that has a height.
      let index = Math.min(position, heights.length - 1);
      while (index > 0 && heights[index] === 0) index -= 1;
      return index;
    },
    set(index, height) {
      const before = heights[index];
      if (before === undefined) throw new RangeError(`No row ${index}: the list has ${heights.length}.`);
      if (before === height) return;
      heights[index] = height;
      for (let at = index + 1; at <= heights.length; at += at & -at)
        tree[at] = (tree[at] ?? 0) + height - before;
    },
    append,
    truncate(length) {
      if (length >= heights.length) return;
      heights = heights.slice(0, Math.max(0, length));
      tree = tree.slice(0, heights.length + 1);
    },
  };
}
