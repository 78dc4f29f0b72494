import { describe, expect, it } from "vitest";
import { LIST_PRICES, PRICE_PAGES, PRICES_CHECKED } from "../../src/model/prices/list-prices.ts";
import { createPriceTable, listPrice } from "../../src/model/prices/price-table.ts";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MILLION = 1_000_000;
const on = (day: string): number => Date.parse(`${day}T12:00:00Z`);
const table = createPriceTable();
const input = { input: MILLION, output: 0 };

describe("the list prices", () => {
  it("name each model once, its prices by date, and where they are published", () => {
    const models = LIST_PRICES.flatMap((entry) => entry.models);
    expect(new Set(models).size).toBe(models.length);
    expect(models.filter((model) => model !== model.toLowerCase())).toEqual([]);
    for (const { models: named, vendor, prices, checked } of LIST_PRICES) {
      const dates = prices.map(({ from }) => from ?? "");
      expect([named, dates]).toEqual([named, dates.toSorted()]);
      expect(new Set(dates).size).toBe(dates.length);
      for (const date of dates) if (date !== "") expect(date).toMatch(DAY);
      expect(PRICE_PAGES[vendor]).toMatch(/^https:/);
      expect(checked ?? PRICES_CHECKED).toMatch(DAY);
    }
  });

  it("apply from their dates on", () => {
    const of = (day: string) => table.costOf("gpt-5.6-sol", { input: 0, output: MILLION }, on(day));
    expect([of("2026-08-20"), of("2026-08-21"), of("2026-11-01")]).toEqual([30, 20, 20]);
  });

  it("are unknown for a step without a time if the price has changed", () => {
    expect(table.costOf("gpt-5.6-sol", input, undefined)).toBeUndefined();
    expect(table.costOf("gpt-5", input, undefined)).toBe(1.25);
  });

  it("separate cache reads, and cache writes by how long they are kept", () => {
    const usage = {
      input: 0,
      output: 0,
      cache_read: MILLION,
      cache_write: 3 * MILLION,
      cache_write_1h: MILLION,
    };
    expect(table.costOf("claude-opus-4-8", usage, on("2026-09-16"))).toBeCloseTo(0.5 + 2 * 6.25 + 10);
  });

  it("charge the whole call more if its prompt is long", () => {
    const long = { input: 1_000, cache_read: 272_000, output: 1_000 };
    expect(table.costOf("gpt-6-sol", long, on("2026-10-01"))).toBeCloseTo(0.004 + 272 * 0.0004 + 0.015);
  });

  it("are found whatever an agent or a cloud adds to the name", () => {
    for (const [name, expected] of [
      ["claude-opus-4-8[1m]", 5],
      ["claude-opus-4-5-20251101", 5],
      ["claude-haiku-4.5", 1],
      ["anthropic/claude-sonnet-4.6", 3],
      ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", 6],
      ["claude-sonnet-4@20250514", 3],
      ["openai/gpt-5-codex", 1.25],
      ["models/gemini-3-flash-preview", 0.5],
    ] as const)
      expect([name, table.costOf(name, input, on("2026-09-16"))]).toEqual([name, expected]);
  });

  it("are not guessed", () => {
    for (const name of [
      ...["claude-opus-9", "gpt-5-turbo-x", "m", "<synthetic>", ""],
      // Other hosts of open models have different prices.
      ...["moonshotai/kimi-k2.6", "z-ai/glm-5.3", "deepseek-v4-pro"],
    ])
      expect([name, table.costOf(name, input, on("2026-09-16"))]).toEqual([name, undefined]);
    expect(table.costOf(undefined, input, on("2026-09-16"))).toBeUndefined();
    expect(listPrice("openai", "claude-opus-4-8", on("2026-09-16"))).toBeUndefined();
  });
});

it("configured prices take precedence from their dates on", () => {
  const own = createPriceTable([
    { model: "GPT-5", from: "2026-05-01", input: 7, output: 7 },
    { model: "qwen3-coder", from: "2026-05-01", input: 2, output: 2 },
    { model: "qwen3-coder", input: 1, output: 1 },
  ]);
  expect(["2026-04-30", "2026-05-01"].map((day) => own.costOf("gpt-5", input, on(day)))).toEqual([1.25, 7]);
  expect(["2026-04-30", "2026-05-01"].map((day) => own.costOf("qwen3-coder", input, on(day)))).toEqual([
    1, 2,
  ]);
});
