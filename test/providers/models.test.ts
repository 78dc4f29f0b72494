import { expect, it } from "vitest";
import { providers } from "../../src/providers/index.ts";
import { knownModels, MODELS_CHECKED } from "../../src/providers/known-models.ts";
import { costOf, findModel } from "../../src/providers/models.ts";

const usage = { input: 1_000_000, output: 1_000_000, cache_read: 1_000_000, cache_write: 1_000_000 };

it("finds a model by its id with any version", () => {
  expect(findModel("anthropic", "claude-sonnet-4-5-20250929")?.context).toBe(200_000);
  expect(findModel("anthropic", "claude-sonnet-4-20250514")?.id).toBe("claude-sonnet-4-0");
  expect(findModel("openai-chat", "gpt-4.1-2025-04-14")?.id).toBe("gpt-4.1");
  expect(findModel("openrouter", "anthropic/claude-sonnet-4.5:beta")?.id).toBe("claude-sonnet-4-5");
  expect(findModel("openai", "gpt-99")).toBeUndefined();
  expect(findModel("local", "gpt-4.1")).toBeUndefined();
});

it("computes the cost of a call, with cache prices, and the higher price for a long prompt", () => {
  expect(costOf("anthropic", "claude-opus-4-5", usage)).toBeCloseTo(5 + 25 + 0.5 + 6.25);
  expect(costOf("anthropic", "claude-sonnet-4-5", { input: 1_000, output: 0 })).toBeCloseTo(0.003);
  expect(
    costOf("anthropic", "claude-sonnet-4-5", { input: 1_000, cache_read: 200_000, output: 0 }),
  ).toBeCloseTo(0.126);
});

it("prefers the cost reported by the provider, and has no price for an unknown model", () => {
  expect(costOf("openrouter", "anthropic/claude-sonnet-4.5", { ...usage, cost: 0.5 })).toBe(0.5);
  expect(costOf("openrouter", "anthropic/claude-sonnet-4.5", usage)).toBeUndefined();
  expect(costOf("local", "qwen3", usage)).toBeUndefined();
  // A local server may serve a model under any name.
  expect(costOf("local", "gpt-4.1", usage)).toBeUndefined();
});

it("assigns every known model to one provider, and has a date", () => {
  const ids = new Set(providers.map(({ id }) => id));
  expect(knownModels.filter(({ provider }) => !ids.has(provider))).toEqual([]);
  expect(new Set(knownModels.map(({ provider, id }) => `${provider} ${id}`)).size).toBe(knownModels.length);
  expect(MODELS_CHECKED).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});

it("has a default model for every provider with known models", () => {
  for (const { id, default_model } of providers) {
    const known = knownModels.filter(({ provider }) => provider === id).map((model) => model.id);
    if (known.length > 0) expect(known).toContain(default_model);
    else expect(default_model).toBeUndefined();
  }
});
