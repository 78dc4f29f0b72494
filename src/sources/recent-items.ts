/**
 * Recent items in a reader's state: a list of names, or of objects that later records refer to by id. No two items have the same id,
 * the oldest is first, and lookups use positions derived from the list, because states are plain JSON and searching thousands of
 * items for each record would take too long.
 */
const indexes = new WeakMap<readonly Recent[], ItemIndex>();

/** A name, which is its own id, or an object with an id. */
type Recent = string | { id: string };

interface ItemIndex {
  /** Number of items that were removed from the start of the list. */
  removed: number;
  /** The position of each item, counting removed ones. */
  positions: Map<string, number>;
}

export function hasItem(items: readonly Recent[], id: string): boolean {
  return indexOf(items).positions.has(id);
}

export function itemWithId<Item extends Recent>(items: readonly Item[], id: string): Item | undefined {
  const { removed, positions } = indexOf(items);
  const position = positions.get(id);
  return position === undefined ? undefined : items[position - removed];
}

/** Appends an item whose id the list does not have, and removes the oldest one if there are more than `most`. */
export function addItem<Item extends Recent>(items: Item[], item: Item, most: number): void {
  const index = indexOf(items);
  index.positions.set(idOf(item), index.removed + items.length);
  items.push(item);
  if (items.length <= most) return;
  const oldest = items.shift();
  if (oldest === undefined) return;
  index.positions.delete(idOf(oldest));
  index.removed += 1;
}

/** Removes the items from the index `from`, and returns them. */
export function takeItems<Item extends Recent>(items: Item[], from: number): Item[] {
  const { positions } = indexOf(items);
  const taken = items.splice(from);
  for (const item of taken) positions.delete(idOf(item));
  return taken;
}

const idOf = (item: Recent): string => (typeof item === "string" ? item : item.id);

function indexOf(items: readonly Recent[]): ItemIndex {
  let index = indexes.get(items);
  if (index === undefined) {
    index = { removed: 0, positions: new Map(items.map((item, position) => [idOf(item), position])) };
    indexes.set(items, index);
  }
  return index;
}
