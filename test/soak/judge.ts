/** The daemon's resources at one moment without load. Memory in MB. */
export interface Sample {
  hours: number;
  /** Live memory after a garbage collection: objects except compiled code, and buffers. */
  heap_mb: number;
  /** Resident memory according to the system. */
  rss_mb: number;
  /** Open files, sockets, timers and the like, by kind. */
  handles: Readonly<Record<string, number>>;
}

/** Maximum growth per hour, in MB, and maximum total growth of handles of one kind. */
export const MOST_MB_PER_HOUR = 1;
export const MOST_HANDLES = 1;
/**
 * Normal variation between two rests, in MB: memory related to compiled code, and pages that the allocator keeps. A leak is
 * detected if the run is long enough to exceed this.
 */
export const STIR_MB = { heap: 1, rss: 8 } as const;

export interface Verdict {
  passed: boolean;
  /** Between the first rest and the last one. */
  hours: number;
  /** Growth per hour. */
  heap_mb_per_hour: number;
  rss_mb_per_hour: number;
  /** The smallest leak that such a run can distinguish from normal variation. */
  noticed_from: { heap_mb_per_hour: number; rss_mb_per_hour: number };
  /** The kinds with more handles at the end than at the first rest, and their number. */
  handles: Record<string, number>;
}

/**
 * Whether the daemon grows: memory by its slope over the rests, handles from the first rest to the last. `rests`: the samples of
 * each rest, at least two rests, the first one after the warm-up.
 */
export function judge(rests: readonly (readonly Sample[])[]): Verdict {
  const points = rests.filter((rest) => rest.length > 0);
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 2) throw new RangeError("Two rests are needed to compare them");
  const at = points.map((rest) => median(rest.map(({ hours }) => hours)));
  const hours = (at.at(-1) ?? 0) - (at[0] ?? 0);
  const slope = (of: (sample: Sample) => number) =>
    medianSlope(points.map((rest, index) => [at[index] ?? 0, median(rest.map(of))]));
  const heap = slope(({ heap_mb }) => heap_mb);
  const rss = slope(({ rss_mb }) => rss_mb);
  const most = (stir: number) => MOST_MB_PER_HOUR + stir / hours;
  const handles = moreOf(fewest(first), fewest(last));
  return {
    passed:
      heap <= most(STIR_MB.heap) &&
      rss <= most(STIR_MB.rss) &&
      Object.values(handles).every((more) => more <= MOST_HANDLES),
    hours,
    heap_mb_per_hour: heap,
    rss_mb_per_hour: rss,
    noticed_from: { heap_mb_per_hour: most(STIR_MB.heap), rss_mb_per_hour: most(STIR_MB.rss) },
    handles,
  };
}

/** The Theil–Sen estimator: the median of the slopes between all pairs, which one outlier does not affect. */
export function medianSlope(points: readonly (readonly [number, number])[]): number {
  const slopes: number[] = [];
  for (const [index, [x, y]] of points.entries()) {
    for (const [later_x, later_y] of points.slice(index + 1)) {
      if (later_x !== x) slopes.push((later_y - y) / (later_x - x));
    }
  }
  return median(slopes);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The minimum of each kind over the samples, because others were closing. */
function fewest(samples: readonly Sample[]): Map<string, number> {
  const kinds = new Set(samples.flatMap(({ handles }) => Object.keys(handles)));
  return new Map(
    [...kinds].map((kind) => [kind, Math.min(...samples.map(({ handles }) => handles[kind] ?? 0))]),
  );
}

function moreOf(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  const gained = [...after].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)] as const);
  return Object.fromEntries(gained.filter(([, more]) => more > 0));
}
