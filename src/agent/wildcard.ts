/**
 * Matches items against a pattern with stars, each of which matches any number of items. Used for file patterns, paths and rules.
 * Takes at most pattern length × number of items steps.
 */
export function matchWithStars<Item, Wanted>(
  items: ArrayLike<Item>,
  pattern: ArrayLike<Wanted>,
  isStar: (wanted: Wanted) => boolean,
  isMatch: (item: Item, wanted: Wanted) => boolean,
  /** Whether a star can match this item. */
  mayStandFor: (item: Item, index: number) => boolean = () => true,
): boolean {
  let item = 0;
  let wanted = 0;
  let star = -1;
  let resume = 0;
  while (item < items.length) {
    // Casts for array accesses: the loop condition bounds the first index, and the length is compared before the second is used.
    const current = items[item] as Item;
    const next = pattern[wanted] as Wanted;
    if (wanted < pattern.length && isStar(next)) {
      star = wanted++;
      resume = item;
    } else if (wanted < pattern.length && isMatch(current, next)) {
      wanted++;
      item++;
    } else if (star >= 0 && mayStandFor(items[resume] as Item, resume)) {
      wanted = star + 1;
      item = ++resume;
    } else return false;
  }
  while (wanted < pattern.length && isStar(pattern[wanted] as Wanted)) wanted++;
  return wanted === pattern.length;
}
