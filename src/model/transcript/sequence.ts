/**
 * An immutable list. `append` and `set` cost O(log n) and share unchanged data, so that a step of folding 100,000 parts costs the
 * same as of ten. Positions may be empty (`undefined`), for a client that has loaded only part of a session.
 */
export interface Sequence<Item> {
  readonly length: number;
  /** `undefined`: out of range, or not loaded. */
  at(index: number): Item | undefined;
  append(item: Item): Sequence<Item>;
  /** Sets a position. Throws a `RangeError` outside `0 … length - 1`. */
  set(index: number, item: Item): Sequence<Item>;
  /** A plain array of `[from, to)`, with `undefined` for positions that are not loaded. */
  slice(from?: number, to?: number): (Item | undefined)[];
  [Symbol.iterator](): IterableIterator<Item | undefined>;
}

// A trie of nodes with up to 32 slots: the slots of the lowest level hold items, those above hold nodes. An absent node stands
// for 32ⁿ empty positions, so a sparse sequence needs little memory.
const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

type Leaf<Item> = readonly (Item | undefined)[];
interface Branch<Item> {
  readonly nodes: readonly (Node<Item> | undefined)[];
}
type Node<Item> = Leaf<Item> | Branch<Item>;

function isBranch<Item>(node: Node<Item>): node is Branch<Item> {
  return "nodes" in node;
}

/** The shift of the highest level that `length` items need: 0 up to 32 items, 5 up to 1,024, … */
function shiftFor(length: number): number {
  let shift = 0;
  while (length > 2 ** (shift + BITS)) shift += BITS;
  return shift;
}

function put<Item>(node: Node<Item> | undefined, shift: number, index: number, item: Item): Node<Item> {
  const slot = (index >>> shift) & MASK;
  if (shift === 0) {
    const leaf: (Item | undefined)[] = node === undefined || isBranch(node) ? [] : node.slice();
    while (leaf.length < slot) leaf.push(undefined);
    leaf[slot] = item;
    return leaf;
  }
  const nodes = node !== undefined && isBranch(node) ? node.nodes.slice() : [];
  while (nodes.length < slot) nodes.push(undefined);
  nodes[slot] = put(nodes[slot], shift - BITS, index, item);
  return { nodes };
}

class Trie<Item> implements Sequence<Item> {
  readonly length: number;
  readonly top: Node<Item> | undefined;
  readonly shift: number;

  constructor(length: number, top: Node<Item> | undefined, shift: number) {
    this.length = length;
    this.top = top;
    this.shift = shift;
  }

  #leafOf(index: number): Leaf<Item> | undefined {
    let node = this.top;
    for (let shift = this.shift; shift > 0; shift -= BITS) {
      if (node === undefined || !isBranch(node)) return undefined;
      node = node.nodes[(index >>> shift) & MASK];
    }
    return node === undefined || isBranch(node) ? undefined : node;
  }

  at(index: number): Item | undefined {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) return undefined;
    return this.#leafOf(index)?.[index & MASK];
  }

  append(item: Item): Sequence<Item> {
    const shift = shiftFor(this.length + 1);
    const root = shift > this.shift && this.top !== undefined ? { nodes: [this.top] } : this.top;
    return new Trie(this.length + 1, put(root, shift, this.length, item), shift);
  }

  set(index: number, item: Item): Sequence<Item> {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) {
      throw new RangeError(`Position ${index} is outside the sequence: it has ${this.length} items`);
    }
    return new Trie(this.length, put(this.top, this.shift, index, item), this.shift);
  }

  slice(from = 0, to = this.length): (Item | undefined)[] {
    const items: (Item | undefined)[] = [];
    const end = Math.min(to, this.length);
    for (let index = Math.max(0, from); index < end; ) {
      const leaf = this.#leafOf(index);
      const leafEnd = Math.min(end, (index | MASK) + 1);
      for (; index < leafEnd; index += 1) items.push(leaf?.[index & MASK]);
    }
    return items;
  }

  *[Symbol.iterator](): IterableIterator<Item | undefined> {
    for (let start = 0; start < this.length; start += WIDTH) yield* this.slice(start, start + WIDTH);
  }
}

/** The items with their positions, in order. Empty positions are skipped in groups, so millions of them cost nothing. */
export function* loadedItems<Item>(sequence: Sequence<Item>): Generator<readonly [number, Item]> {
  if (sequence instanceof Trie) {
    yield* itemsIn<Item>(sequence.top, sequence.shift, 0, sequence.length);
    return;
  }
  for (let index = 0; index < sequence.length; index += 1) {
    const item = sequence.at(index);
    if (item !== undefined) yield [index, item];
  }
}

function* itemsIn<Item>(
  node: Node<Item> | undefined,
  shift: number,
  first: number,
  length: number,
): Generator<readonly [number, Item]> {
  if (node === undefined || first >= length) return;
  if (isBranch(node)) {
    for (const [slot, below] of node.nodes.entries())
      if (below !== undefined) yield* itemsIn(below, shift - BITS, first + slot * 2 ** shift, length);
    return;
  }
  for (const [slot, item] of node.entries())
    if (item !== undefined && first + slot < length) yield [first + slot, item];
}

export function emptySequence<Item>(): Sequence<Item> {
  return new Trie<Item>(0, undefined, 0);
}

/** A sequence of `length` empty positions, to be filled with `set`. */
export function sparseSequence<Item>(length: number): Sequence<Item> {
  return new Trie<Item>(length, undefined, shiftFor(length));
}

/**
 * The positions whose items differ, in order, up to the shorter length. Shared nodes are skipped, so for consecutive versions the
 * cost depends only on the changes.
 */
export function changedPositions<Item>(before: Sequence<Item>, after: Sequence<Item>): number[] {
  const changed: number[] = [];
  const length = Math.min(before.length, after.length);
  if (before instanceof Trie && after instanceof Trie) {
    collectChanges<Item>(before.top, before.shift, after.top, after.shift, 0, length, changed);
    return changed;
  }
  for (let index = 0; index < length; index += 1)
    if (before.at(index) !== after.at(index)) changed.push(index);
  return changed;
}

function collectChanges<Item>(
  before: Node<Item> | undefined,
  beforeShift: number,
  after: Node<Item> | undefined,
  afterShift: number,
  first: number,
  length: number,
  changed: number[],
): void {
  if (before === after || first >= length) return;
  if (beforeShift !== afterShift) {
    // The higher one has more levels: the lower one's items are in its first slot.
    const [low, high] = beforeShift < afterShift ? [before, after] : [after, before];
    const inner = high !== undefined && isBranch(high) ? high.nodes[0] : undefined;
    const shift = Math.max(beforeShift, afterShift) - BITS;
    if (low === before) collectChanges(before, beforeShift, inner, shift, first, length, changed);
    else collectChanges(inner, shift, after, afterShift, first, length, changed);
    return;
  }
  if (beforeShift === 0) {
    const left = before === undefined || isBranch(before) ? [] : before;
    const right = after === undefined || isBranch(after) ? [] : after;
    for (let slot = 0; slot < WIDTH && first + slot < length; slot += 1) {
      if (left[slot] !== right[slot]) changed.push(first + slot);
    }
    return;
  }
  const left = before !== undefined && isBranch(before) ? before.nodes : [];
  const right = after !== undefined && isBranch(after) ? after.nodes : [];
  const below = beforeShift - BITS;
  for (let slot = 0; slot < WIDTH; slot += 1) {
    collectChanges(left[slot], below, right[slot], below, first + slot * 2 ** beforeShift, length, changed);
  }
}

/** Creates a sequence of items in O(n). `undefined`: an empty position. */
export function sequenceOf<Item>(items: readonly (Item | undefined)[]): Sequence<Item> {
  let level: Node<Item>[] = [];
  for (let start = 0; start < items.length; start += WIDTH) level.push(items.slice(start, start + WIDTH));
  while (level.length > 1) {
    const above: Node<Item>[] = [];
    for (let start = 0; start < level.length; start += WIDTH) {
      above.push({ nodes: level.slice(start, start + WIDTH) });
    }
    level = above;
  }
  return new Trie<Item>(items.length, level[0], shiftFor(items.length));
}
