/** US dollars per million tokens. Absent: not published, and `input` applies. */
interface Price {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
}

/** Facts about a model. */
export interface KnownModel {
  /** Without a version date. */
  readonly id: string;
  /** The id of its provider in `index.ts`. */
  readonly provider: string;
  /** Maximum number of tokens of prompt and answer together. */
  readonly context?: number;
  /** Maximum number of tokens of an answer. */
  readonly max_output?: number;
  /** How thinking is requested, for protocols with several ways. */
  readonly thinking?: "none" | "budget" | "adaptive";
  /** Absent: the price is unknown or depends on the time of day. */
  readonly price?: Price;
  /** The price of all tokens of a call whose prompt is longer than `above` tokens. */
  readonly long?: { readonly above: number; readonly price: Price };
}

/** Date of the list. Prices and sizes are from the vendors' pages, as collected by pydantic/genai-prices 0.1.8 (MIT). */
export const MODELS_CHECKED = "2026-09-23";

// Generated once and kept by hand from there: one model a line.
// biome-ignore format: a table
export const knownModels: readonly KnownModel[] = [
  { id: "claude-3-5-sonnet", provider: "anthropic", context: 200000, max_output: 8192, thinking: "none", price: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 } },
  { id: "claude-3-haiku", provider: "anthropic", context: 200000, max_output: 4096, thinking: "none", price: { input: 0.25, output: 1.25, cache_read: 0.03, cache_write: 0.3 } },
  { id: "claude-fable-5", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 10, output: 50, cache_read: 1, cache_write: 12.5 } },
  { id: "claude-fable-5-1", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 10, output: 50, cache_read: 0.25, cache_write: 12.5 } },
  { id: "claude-haiku-4-5", provider: "anthropic", context: 200000, max_output: 64000, thinking: "budget", price: { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 } },
  { id: "claude-opus-4-0", provider: "anthropic", context: 200000, max_output: 32000, thinking: "budget", price: { input: 15, output: 75, cache_read: 1.5, cache_write: 18.75 } },
  { id: "claude-opus-4-1", provider: "anthropic", context: 200000, max_output: 32000, thinking: "budget", price: { input: 15, output: 75, cache_read: 1.5, cache_write: 18.75 } },
  { id: "claude-opus-4-5", provider: "anthropic", context: 200000, max_output: 64000, thinking: "budget", price: { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 } },
  { id: "claude-opus-4-6", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 } },
  { id: "claude-opus-4-7", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 } },
  { id: "claude-opus-4-8", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 } },
  { id: "claude-opus-5", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 } },
  { id: "claude-opus-5-5", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 4, output: 20, cache_read: 0.2, cache_write: 5 } },
  { id: "claude-sonnet-4-0", provider: "anthropic", context: 200000, max_output: 64000, thinking: "budget", price: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 } },
  { id: "claude-sonnet-4-5", provider: "anthropic", context: 200000, max_output: 64000, thinking: "budget", price: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }, long: { above: 200000, price: { input: 6, output: 22.5, cache_read: 0.6, cache_write: 7.5 } } },
  { id: "claude-sonnet-4-6", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 } },
  { id: "claude-sonnet-5", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive", price: { input: 2, output: 10, cache_read: 0.2, cache_write: 2.5 } },
  { id: "deepseek-chat", provider: "deepseek", context: 64000 },
  { id: "deepseek-reasoner", provider: "deepseek", context: 64000 },
  { id: "deepseek-v4-flash", provider: "deepseek", context: 1000000 },
  { id: "deepseek-v4-pro", provider: "deepseek", context: 1000000 },
  { id: "gemini-2.5-flash", provider: "gemini", context: 1048576, price: { input: 0.3, output: 2.5, cache_read: 0.03 } },
  { id: "gemini-2.5-flash-lite", provider: "gemini", context: 1000000, price: { input: 0.1, output: 0.4, cache_read: 0.01 } },
  { id: "gemini-2.5-pro", provider: "gemini", context: 1048576, price: { input: 1.25, output: 10, cache_read: 0.125 }, long: { above: 200000, price: { input: 2.5, output: 15, cache_read: 0.25 } } },
  { id: "gemini-3-flash-preview", provider: "gemini", context: 1000000, price: { input: 0.5, output: 3, cache_read: 0.05 } },
  { id: "gemini-3-pro-preview", provider: "gemini", context: 1048576, price: { input: 2, output: 12, cache_read: 0.2 }, long: { above: 200000, price: { input: 4, output: 18, cache_read: 0.4 } } },
  { id: "gemini-3.1-flash-lite", provider: "gemini", context: 1000000, price: { input: 0.25, output: 1.5, cache_read: 0.025 } },
  { id: "gemini-3.1-pro-preview", provider: "gemini", context: 1048576, price: { input: 2, output: 12, cache_read: 0.2 }, long: { above: 200000, price: { input: 4, output: 18, cache_read: 0.4 } } },
  { id: "gemini-3.5-flash", provider: "gemini", context: 1000000, price: { input: 1.5, output: 9, cache_read: 0.15 } },
  { id: "gemini-3.5-flash-lite", provider: "gemini", context: 1000000, price: { input: 0.3, output: 2.5, cache_read: 0.03 } },
  { id: "gemini-3.6-flash", provider: "gemini", context: 1000000, price: { input: 0.75, output: 3.75, cache_read: 0.075 } },
  { id: "gemini-3.7-flash", provider: "gemini", context: 1000000, price: { input: 0.75, output: 3.75, cache_read: 0.075 } },
  { id: "gemini-3.8-flash", provider: "gemini", context: 1000000, price: { input: 0.75, output: 3.75, cache_read: 0.075 } },
  { id: "kimi-k2.5", provider: "moonshot", context: 262144, price: { input: 0.6, output: 3, cache_read: 0.1 } },
  { id: "kimi-k2.6", provider: "moonshot", context: 262144, price: { input: 0.95, output: 4, cache_read: 0.16 } },
  { id: "kimi-k2.7-code", provider: "moonshot", context: 262144, price: { input: 0.95, output: 4, cache_read: 0.19 } },
  { id: "kimi-k2.7-code-highspeed", provider: "moonshot", context: 262144, price: { input: 1.9, output: 8, cache_read: 0.38 } },
  { id: "kimi-k3", provider: "moonshot", context: 1048576, price: { input: 3, output: 15, cache_read: 0.3 } },
  { id: "gpt-4.1", provider: "openai", context: 1000000, price: { input: 2, output: 8, cache_read: 0.5 } },
  { id: "gpt-4.1-mini", provider: "openai", context: 1000000, price: { input: 0.4, output: 1.6, cache_read: 0.1 } },
  { id: "gpt-4.1-nano", provider: "openai", context: 1000000, price: { input: 0.1, output: 0.4, cache_read: 0.025 } },
  { id: "gpt-4o", provider: "openai", context: 128000, price: { input: 2.5, output: 10, cache_read: 1.25 } },
  { id: "gpt-4o-mini", provider: "openai", context: 128000, price: { input: 0.15, output: 0.6, cache_read: 0.075 } },
  { id: "gpt-5", provider: "openai", context: 400000, price: { input: 1.25, output: 10, cache_read: 0.125 } },
  { id: "gpt-5-mini", provider: "openai", context: 400000, price: { input: 0.25, output: 2, cache_read: 0.025 } },
  { id: "gpt-5-nano", provider: "openai", context: 400000, price: { input: 0.05, output: 0.4, cache_read: 0.005 } },
  { id: "gpt-5-pro", provider: "openai", context: 400000, price: { input: 15, output: 120 } },
  { id: "gpt-5.1", provider: "openai", context: 400000, price: { input: 1.25, output: 10, cache_read: 0.125 } },
  { id: "gpt-5.1-codex-mini", provider: "openai", context: 400000, price: { input: 0.25, output: 2, cache_read: 0.025 } },
  { id: "gpt-5.2", provider: "openai", context: 400000, price: { input: 1.75, output: 14, cache_read: 0.175 } },
  { id: "gpt-5.2-pro", provider: "openai", context: 400000, price: { input: 21, output: 168 } },
  { id: "gpt-5.3", provider: "openai", context: 128000, price: { input: 1.75, output: 14, cache_read: 0.175 } },
  { id: "gpt-5.3-codex", provider: "openai", context: 400000, price: { input: 1.75, output: 14, cache_read: 0.175 } },
  { id: "gpt-5.4", provider: "openai", context: 1050000, price: { input: 2.5, output: 15, cache_read: 0.25 }, long: { above: 271999, price: { input: 5, output: 22.5, cache_read: 0.5 } } },
  { id: "gpt-5.4-mini", provider: "openai", context: 400000, price: { input: 0.75, output: 4.5, cache_read: 0.075 } },
  { id: "gpt-5.4-nano", provider: "openai", context: 400000, price: { input: 0.2, output: 1.25, cache_read: 0.02 } },
  { id: "gpt-5.4-pro", provider: "openai", context: 1050000, price: { input: 30, output: 180 }, long: { above: 271999, price: { input: 60, output: 270 } } },
  { id: "gpt-5.5", provider: "openai", context: 1000000, price: { input: 5, output: 30, cache_read: 0.5 }, long: { above: 271999, price: { input: 10, output: 45, cache_read: 1 } } },
  { id: "gpt-5.5-pro", provider: "openai", context: 1000000, price: { input: 30, output: 180 }, long: { above: 271999, price: { input: 60, output: 270 } } },
  { id: "gpt-5.6-luna", provider: "openai", context: 1050000, price: { input: 0.2, output: 1.2, cache_read: 0.02, cache_write: 0.25 }, long: { above: 271999, price: { input: 0.4, output: 1.8, cache_read: 0.04, cache_write: 0.5 } } },
  { id: "gpt-5.6-sol", provider: "openai", context: 1050000, price: { input: 4, output: 20, cache_read: 0.4, cache_write: 5 }, long: { above: 271999, price: { input: 8, output: 30, cache_read: 0.8, cache_write: 10 } } },
  { id: "gpt-5.6-terra", provider: "openai", context: 1050000, price: { input: 2, output: 12, cache_read: 0.2, cache_write: 2.5 }, long: { above: 271999, price: { input: 4, output: 18, cache_read: 0.4, cache_write: 5 } } },
  { id: "o3", provider: "openai", context: 200000, price: { input: 2, output: 8, cache_read: 0.5 } },
  { id: "o3-mini", provider: "openai", context: 200000, price: { input: 1.1, output: 4.4, cache_read: 0.55 } },
  { id: "o3-pro", provider: "openai", context: 200000, price: { input: 20, output: 80 } },
  { id: "o4-mini", provider: "openai", context: 200000, price: { input: 1.1, output: 4.4, cache_read: 0.275 } },
  { id: "glm-5.2", provider: "zai", context: 1000000, price: { input: 1.4, output: 4.4, cache_read: 0.26 } },
  { id: "glm-5.3", provider: "zai", context: 1000000, price: { input: 1.4, output: 4.4, cache_read: 0.26 } },
  { id: "glm-5.3-flash", provider: "zai", context: 1000000, price: { input: 0.075, output: 0.25, cache_read: 0.015 } },
];
