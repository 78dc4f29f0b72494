import { expect, test } from "vitest";
import { tokensIn, tokensOf } from "../../src/model/tokens.ts";

test("tokens that a cache had or took count as given, reasoning as made", () => {
  expect(tokensIn({ input: 18, output: 660 })).toBe(18);
  const usage = { input: 18, output: 660, cache_read: 56_020, cache_write: 1_280, reasoning: 400 };
  expect(tokensIn(usage)).toBe(57_318);
  expect(tokensOf(usage)).toBe(57_978);
});
