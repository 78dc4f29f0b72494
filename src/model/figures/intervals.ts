/** Start and end, in milliseconds. */
export type Interval = readonly [from: number, to: number];

/** The time covered by at least one of the intervals, in milliseconds. An interval that ends before it begins is empty. */
export function spanOf(intervals: readonly Interval[]): number {
  const sorted = intervals.filter(([from, to]) => to > from).sort(([one], [other]) => one - other);
  let sum = 0;
  let covered = Number.NEGATIVE_INFINITY;
  for (const [from, to] of sorted) {
    if (to <= covered) continue;
    sum += to - Math.max(from, covered);
    covered = to;
  }
  return sum;
}
