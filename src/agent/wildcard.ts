/**
 * Matches items against a pattern with stars, each matching any number of items. Used for file patterns, paths and rules. Takes
 * at most pattern × items steps.
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
    // Both indexes are in range, because of the loop's condition and the comparison with the length.
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
