import { expect, test } from "vitest";
import { tokensIn, tokensOf } from "../../src/model/tokens.ts";

test("cached tokens count as input, and reasoning as output", () => {
  expect(tokensIn({ input: 18, output: 660 })).toBe(18);
  const usage = { input: 18, output: 660, cache_read: 56_020, cache_write: 1_280, reasoning: 400 };
  expect(tokensIn(usage)).toBe(57_318);
  expect(tokensOf(usage)).toBe(57_978);
});
