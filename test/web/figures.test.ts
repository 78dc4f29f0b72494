import { expect, test } from "vitest";
import { ago, listTime, shortTokens } from "../../src/web/text/format.ts";
import { duration } from "../../src/web/ui/duration.ts";

const now = new Date(2026, 8, 16, 12).getTime();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test("an age, the date after a week, and 'now' for a time in the future", () => {
  expect([-DAY, 0, 4_999, 5_000, 90_000, HOUR, 7 * DAY - 1].map((age) => ago(now - age, now))).toEqual([
    ...["now", "now", "now"],
    ...["5 s ago", "1 min ago", "1 h ago", "6 d ago"],
  ]);
  expect([7 * DAY, 400 * DAY].map((age) => ago(now - age, now))).toEqual(["2026-09-09", "2025-08-12"]);
});

test("a time in the list: an age today, the minute this year, the day before", () => {
  const times = (at: number, of = now) => listTime(at, of);
  expect([now + DAY, now, now - 90_000, now - 12 * HOUR].map((at) => times(at))).toEqual([
    ...["now", "now", "1 min ago", "12 h ago"],
  ]);
  expect(times(new Date(2026, 8, 15, 23, 59, 59).getTime())).toBe("09-15 23:59");
  expect(times(new Date(2026, 0, 1).getTime())).toBe("01-01 00:00");
  expect(times(new Date(2025, 11, 31, 23, 59).getTime())).toBe("2025-12-31");
  // A session that works past midnight is not from yesterday.
  const midnight = new Date(2026, 0, 1).getTime();
  expect(times(midnight - 30_000, midnight + 30_000)).toBe("1 min ago");
  expect(times(midnight - HOUR, midnight + 30_000)).toBe("2025-12-31");
});

test("one token is singular, and larger numbers are formatted for reading", () => {
  expect([0, 1, 2, 8_190].map(shortTokens)).toEqual(["0 tokens", "1 token", "2 tokens", "8.2k tokens"]);
});

test("a duration has at most two units, the larger of which is days after two of them", () => {
  expect([0, 400, 12_000, 200_000, HOUR + 240_000, 47 * HOUR].map(duration)).toEqual([
    ...["0 s", "0.4 s", "12 s", "3 min 20 s", "1 h 4 min", "47 h"],
  ]);
  expect([2 * DAY, 84 * DAY + 8 * HOUR + 660_000].map(duration)).toEqual(["2 d", "84 d 8 h"]);
});
