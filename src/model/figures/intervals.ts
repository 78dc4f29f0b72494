/** From and to, in milliseconds. */
export type Interval = readonly [from: number, to: number];

/** The time that is covered by at least one of the intervals, in milliseconds. One that ends before it begins covers none. */
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
