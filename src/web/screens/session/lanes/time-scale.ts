import type { LaneBar } from "../../../../model/lanes/lane.ts";

/** A segment of time. `isFolded`: a gap in which nothing happened; all of them have the same width. */
export interface Segment {
  /** Milliseconds since 1970. */
  from: number;
  to: number;
  /** Pixels from the start of the scale. */
  left: number;
  right: number;
  isFolded: boolean;
}

/** A gap is folded if it is longer than `MIN_GAP`, in milliseconds, and than this share of the total time with bars. */
const MIN_GAP = 20_000;
const MIN_GAP_SHARE = 1 / 40;
/** Width of a folded gap, in pixels, and the maximum share of the total width that all of them may take. */
const FOLDED_WIDTH = 72;
const MAX_FOLDED_SHARE = 0.4;

/** Maps times to pixels and back. Gaps in which nothing happened are folded. */
export class TimeScale {
  readonly segments: readonly Segment[];
  /** In pixels. */
  readonly width: number;

  /** `width`: of the whole scale, in pixels. `now`: the end of running bars. */
  constructor(bars: readonly LaneBar[], width: number, now: number) {
    const spans = joined(bars, now);
    const busy = spans.reduce((sum, [from, to]) => sum + to - from, 0);
    const least = Math.max(MIN_GAP, busy * MIN_GAP_SHARE);
    const pieces = withGaps(spans, least);
    const folded = pieces.filter(({ isFolded }) => isFolded).length;
    const open = pieces.reduce((sum, { from, to, isFolded }) => sum + (isFolded ? 0 : to - from), 0);
    const folded_width = Math.min(FOLDED_WIDTH, (MAX_FOLDED_SHARE * width) / Math.max(1, folded));
    const room = width - folded * folded_width;
    let left = 0;
    this.segments = pieces.map((piece) => {
      const own = piece.isFolded
        ? folded_width
        : open === 0
          ? room / pieces.length
          : (room * (piece.to - piece.from)) / open;
      const segment = { ...piece, left, right: left + own };
      left += own;
      return segment;
    });
    this.width = left;
  }

  /** The pixel of a time, clamped to the start and the end of the scale. */
  x(at: number): number {
    const { segments } = this;
    let low = 0;
    let high = segments.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((segments[middle]?.to ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    const found = segments[low];
    if (found === undefined) return 0;
    const { from, to, left, right } = found;
    const share = to > from ? (Math.min(Math.max(at, from), to) - from) / (to - from) : 0;
    return left + share * (right - left);
  }

  /** The time of a pixel. */
  at(x: number): number {
    const found = this.segments.find(({ right }) => right >= x) ?? this.segments.at(-1);
    if (found === undefined) return 0;
    const { from, to, left, right } = found;
    const share = right > left ? (Math.min(Math.max(x, left), right) - left) / (right - left) : 0;
    return from + share * (to - from);
  }
}

/** The intervals with at least one bar, in order and without overlaps. */
function joined(bars: readonly LaneBar[], now: number): (readonly [number, number])[] {
  const sorted = bars
    .map(({ from, to = now }) => [from, Math.max(from, to)] as const)
    .sort(([one], [other]) => one - other);
  const spans: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = spans.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else spans.push([from, to]);
  }
  return spans;
}

function withGaps(
  spans: readonly (readonly [number, number])[],
  least: number,
): Pick<Segment, "from" | "to" | "isFolded">[] {
  const pieces: Pick<Segment, "from" | "to" | "isFolded">[] = [];
  for (const [from, to] of spans) {
    const last = pieces.at(-1);
    if (last === undefined) pieces.push({ from, to, isFolded: false });
    else if (from - last.to < least) last.to = to;
    else pieces.push({ from: last.to, to: from, isFolded: true }, { from, to, isFolded: false });
  }
  return pieces;
}
