/**
 * Recent items in a reader's state that later records refer to by id: a list in which no two items have the same id, oldest first,
 * because states are plain JSON. Positions derived from the list answer lookups, which would otherwise search it for each record.
 */
const indexes = new WeakMap<readonly Identified[], ItemIndex>();

interface Identified {
  id: string;
}

interface ItemIndex {
  /** Number of items that were removed from the start of the list. */
  removed: number;
  /** The position of each item, counting removed ones. */
  positions: Map<string, number>;
}

export function itemWithId<Item extends Identified>(items: readonly Item[], id: string): Item | undefined {
  const { removed, positions } = indexOf(items);
  const position = positions.get(id);
  return position === undefined ? undefined : items[position - removed];
}

/** Appends an item whose id the list does not have, and removes the oldest one if there are more than `most`. */
export function addItem<Item extends Identified>(items: Item[], item: Item, most: number): void {
  const index = indexOf(items);
  index.positions.set(item.id, index.removed + items.length);
  items.push(item);
  if (items.length <= most) return;
  const oldest = items.shift();
  if (oldest === undefined) return;
  index.positions.delete(oldest.id);
  index.removed += 1;
}

function indexOf(items: readonly Identified[]): ItemIndex {
  let index = indexes.get(items);
  if (index === undefined) {
    index = { removed: 0, positions: new Map(items.map(({ id }, position) => [id, position])) };
    indexes.set(items, index);
  }
  return index;
}
