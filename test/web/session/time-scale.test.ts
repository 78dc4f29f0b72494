import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LaneBar } from "../../../src/model/lanes/lane.ts";
import { TimeScale } from "../../../src/web/screens/session/lanes/time-scale.ts";

const START = 1_700_000_000_000;
const bar = (from: number, to?: number): LaneBar => ({
  kind: "tool",
  from: START + from,
  ...(to !== undefined && { to: START + to }),
  part_id: "",
  turn: 0,
});
const someBars = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 10_000_000 }), fc.integer({ min: 0, max: 60_000 }))
    .map(([from, length]) => bar(from, from + length)),
  { minLength: 1, maxLength: 30 },
);

describe("the scale of a timeline", () => {
  it("keeps the order of times, begins at the first bar and ends with the last", () => {
    fc.assert(
      fc.property(someBars, (bars) => {
        const scale = new TimeScale(bars, 1_000, START);
        const times = bars.flatMap(({ from, to = from }) => [from, to]).sort((one, other) => one - other);
        const pixels = times.map((at) => scale.x(at));
        expect(pixels).toEqual(pixels.toSorted((one, other) => one - other));
        expect(pixels[0]).toBe(0);
        expect(pixels.at(-1)).toBeLessThanOrEqual(scale.width + 1e-6);
      }),
    );
  });

  it("converts a pixel back to its time", () => {
    fc.assert(
      fc.property(someBars, (bars) => {
        const scale = new TimeScale(bars, 1_000_000, START);
        for (const { from } of bars) expect(Math.abs(scale.at(scale.x(from)) - from)).toBeLessThan(1);
      }),
    );
  });

  it("folds only idle time", () => {
    const scale = new TimeScale(
      [bar(0, 60_000), bar(3_600_000, 3_660_000), bar(3_665_000, 3_700_000)],
      900,
      0,
    );
    expect(scale.segments.map(({ from, to, isFolded }) => [from - START, to - START, isFolded])).toEqual([
      [0, 60_000, false],
      [60_000, 3_600_000, true],
      [3_600_000, 3_700_000, false],
    ]);
    const [before, gap, after] = scale.segments.map(({ left, right }) => right - left);
    expect(gap).toBeLessThan(100);
    expect((after ?? 0) / (before ?? 1)).toBeCloseTo(100 / 60);
  });

  it("ends open bars at the current time", () => {
    const scale = new TimeScale([bar(0)], 100, START + 5_000);
    expect(scale.segments).toMatchObject([{ from: START, to: START + 5_000, left: 0, right: 100 }]);
  });
});
