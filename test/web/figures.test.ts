import { expect, test } from "vitest";
import { ago, shortTokens } from "../../src/web/text/format.ts";

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

test("one token is singular, and larger numbers are formatted for reading", () => {
  expect([0, 1, 2, 8_190].map(shortTokens)).toEqual(["0 tokens", "1 token", "2 tokens", "8.2k tokens"]);
});
