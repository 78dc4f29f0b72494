/**
 * Recent names in a reader's state: a list without duplicates, oldest first, because states are plain JSON. A set derived from the
 * list answers lookups, which would otherwise search a thousand names for each record.
 */
const sets = new WeakMap<readonly string[], Set<string>>();

export function hasName(names: readonly string[], name: string): boolean {
  return setOf(names).has(name);
}

/** Appends a name that the list does not have, and removes the oldest one if there are more than `most`. */
export function addName(names: string[], name: string, most: number): void {
  const set = setOf(names);
  names.push(name);
  set.add(name);
  if (names.length <= most) return;
  const oldest = names.shift();
  if (oldest !== undefined) set.delete(oldest);
}

/** Removes the names from the index `from`, and returns them. */
export function takeNames(names: string[], from: number): string[] {
  const set = setOf(names);
  const taken = names.splice(from);
  for (const name of taken) set.delete(name);
  return taken;
}

function setOf(names: readonly string[]): Set<string> {
  let set = sets.get(names);
  if (set === undefined) {
    set = new Set(names);
    sets.set(names, set);
  }
  return set;
}
