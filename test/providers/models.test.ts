import { expect, it } from "vitest";
import { providers } from "../../src/providers/index.ts";
import { knownModels, MODELS_CHECKED } from "../../src/providers/known-models.ts";
import { costOf, findModel } from "../../src/providers/models.ts";

const usage = { input: 1_000_000, output: 1_000_000, cache_read: 1_000_000, cache_write: 1_000_000 };

it("a model is known by its id, whatever version hangs on it", () => {
  expect(findModel("anthropic", "claude-sonnet-4-5-20250929")?.context).toBe(200_000);
  expect(findModel("anthropic", "claude-sonnet-4-20250514")?.id).toBe("claude-sonnet-4-0");
  expect(findModel("openai-chat", "gpt-4.1-2025-04-14")?.id).toBe("gpt-4.1");
  expect(findModel("openrouter", "anthropic/claude-sonnet-4.5:beta")?.id).toBe("claude-sonnet-4-5");
  expect(findModel("openai", "gpt-99")).toBeUndefined();
  expect(findModel("local", "gpt-4.1")).toBeUndefined();
});

it("a call costs its tokens, those of the cache at their own price, all of a long prompt at the higher one", () => {
  expect(costOf("anthropic", "claude-opus-4-5", usage)).toBeCloseTo(5 + 25 + 0.5 + 6.25);
  expect(costOf("anthropic", "claude-sonnet-4-5", { input: 1_000, output: 0 })).toBeCloseTo(0.003);
  expect(
    costOf("anthropic", "claude-sonnet-4-5", { input: 1_000, cache_read: 200_000, output: 0 }),
  ).toBeCloseTo(0.126);
});

it("what the provider says it cost counts, and an unknown model has no price", () => {
  expect(costOf("openrouter", "anthropic/claude-sonnet-4.5", { ...usage, cost: 0.5 })).toBe(0.5);
  expect(costOf("openrouter", "anthropic/claude-sonnet-4.5", usage)).toBeUndefined();
  expect(costOf("local", "qwen3", usage)).toBeUndefined();
});

it("every known model belongs to a provider, once, and the list has its date", () => {
  const ids = new Set(providers.map(({ id }) => id));
  expect(knownModels.filter(({ provider }) => !ids.has(provider))).toEqual([]);
  expect(new Set(knownModels.map(({ provider, id }) => `${provider} ${id}`)).size).toBe(knownModels.length);
  expect(MODELS_CHECKED).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});

it("a provider whose models are known has one that is asked where nobody names another", () => {
  for (const { id, default_model } of providers) {
    const known = knownModels.filter(({ provider }) => provider === id).map((model) => model.id);
    if (known.length > 0) expect(known).toContain(default_model);
    else expect(default_model).toBeUndefined();
  }
});
