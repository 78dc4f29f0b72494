import { expect, it } from "vitest";
import { judge, medianSlope, type Sample } from "./soak/judge.ts";

/** A rest every quarter of an hour, each with three slightly different samples. */
function rests(count: number, at: (hours: number) => Partial<Sample>): Sample[][] {
  return Array.from({ length: count }, (_, rest) =>
    [-0.02, 0, 0.02].map((stir) => {
      const hours = rest / 4 + stir;
      return {
        hours,
        heap_mb: 50 + 10 * stir,
        rss_mb: 200 + 100 * stir,
        handles: { socket: 20 },
        ...at(hours),
      };
    }),
  );
}

it("a daemon with constant memory at rest passes", () => {
  expect(judge(rests(5, () => ({})))).toMatchObject({ passed: true, hours: 1, handles: {} });
});

it("one that grows fails, whether in heap or in resident memory", () => {
  expect(judge(rests(5, (hours) => ({ heap_mb: 50 + 3 * hours })))).toMatchObject({
    passed: false,
    heap_mb_per_hour: expect.closeTo(3),
  });
  expect(judge(rests(5, (hours) => ({ rss_mb: 200 + 12 * hours })))).toMatchObject({
    passed: false,
    rss_mb_per_hour: expect.closeTo(12),
  });
});

it("a short run reports the smallest leak that it can detect", () => {
  const small = (hours: number) => ({ heap_mb: 50 + 3 * hours });
  expect(judge(rests(2, small))).toMatchObject({ passed: true, noticed_from: { heap_mb_per_hour: 5 } });
  expect(judge(rests(9, small))).toMatchObject({ passed: false, noticed_from: { heap_mb_per_hour: 1.5 } });
});

it("leaked handles are reported by kind, except those that are closing", () => {
  const left = rests(3, (hours) => ({ handles: { socket: 20, Timeout: 4 + 8 * hours } }));
  expect(judge(left)).toMatchObject({ passed: false, handles: { Timeout: 4 } });
  const [first = [], ...others] = rests(3, () => ({}));
  const passing = others.map(([one, ...more]) => [
    { ...(one ?? { hours: 0, heap_mb: 0, rss_mb: 0 }), handles: { socket: 31 } },
    ...more,
  ]);
  expect(judge([first, ...passing])).toMatchObject({ passed: true, handles: {} });
});

it("one outlier is not a slope", () => {
  expect(medianSlope([0, 1, 2, 3, 4, 5].map((x) => [x, x === 3 ? 90 : 50]))).toBe(0);
});

it("fewer than two measurements give no result", () => {
  expect(() => judge(rests(1, () => ({})))).toThrow(RangeError);
});
