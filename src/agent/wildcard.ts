/**
 * Matches items against a pattern of which some are stars, each standing for any number of items: the one algorithm below
 * file patterns, paths and rules. Takes at most pattern × items steps, whatever the pattern: no input makes it hang.
 */
export function matchWithStars<Item, Wanted>(
  items: ArrayLike<Item>,
  pattern: ArrayLike<Wanted>,
  isStar: (wanted: Wanted) => boolean,
  isMatch: (item: Item, wanted: Wanted) => boolean,
  /** Whether a star may stand for this item. */
  mayStandFor: (item: Item, index: number) => boolean = () => true,
): boolean {
  let item = 0;
  let wanted = 0;
  let star = -1;
  let resume = 0;
  while (item < items.length) {
    // Both indexes are in range: the loop's own condition, and the comparison with the length.
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
