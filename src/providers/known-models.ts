/** Facts about a model. */
export interface KnownModel {
  /** Model id without a version date. */
  readonly id: string;
  /** The id of its provider in `index.ts`. */
  readonly provider: string;
  /** Maximum number of tokens of prompt and answer together. */
  readonly context?: number;
  /** Maximum number of tokens of an answer. */
  readonly max_output?: number;
  /** How thinking is requested, for protocols that have several ways. */
  readonly thinking?: "none" | "budget" | "adaptive";
}

/** Date of this list. Sizes are from the vendors' pages, as collected by pydantic/genai-prices 0.1.8 (MIT). */
export const MODELS_CHECKED = "2026-09-23";

// Generated once and maintained by hand since: one model per line. biome-ignore format: a table
export const knownModels: readonly KnownModel[] = [
  { id: "claude-3-5-sonnet", provider: "anthropic", context: 200000, max_output: 8192, thinking: "none" },
  { id: "claude-3-haiku", provider: "anthropic", context: 200000, max_output: 4096, thinking: "none" },
  { id: "claude-fable-5", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive" },
  {
    id: "claude-fable-5-1",
    provider: "anthropic",
    context: 1000000,
    max_output: 64000,
    thinking: "adaptive",
  },
  { id: "claude-haiku-4-5", provider: "anthropic", context: 200000, max_output: 64000, thinking: "budget" },
  { id: "claude-opus-4-0", provider: "anthropic", context: 200000, max_output: 32000, thinking: "budget" },
  { id: "claude-opus-4-1", provider: "anthropic", context: 200000, max_output: 32000, thinking: "budget" },
  { id: "claude-opus-4-5", provider: "anthropic", context: 200000, max_output: 64000, thinking: "budget" },
  { id: "claude-opus-4-6", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive" },
  { id: "claude-opus-4-7", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive" },
  { id: "claude-opus-4-8", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive" },
  { id: "claude-opus-5", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive" },
  { id: "claude-opus-5-5", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive" },
  { id: "claude-sonnet-4-0", provider: "anthropic", context: 200000, max_output: 64000, thinking: "budget" },
  { id: "claude-sonnet-4-5", provider: "anthropic", context: 200000, max_output: 64000, thinking: "budget" },
  {
    id: "claude-sonnet-4-6",
    provider: "anthropic",
    context: 1000000,
    max_output: 64000,
    thinking: "adaptive",
  },
  { id: "claude-sonnet-5", provider: "anthropic", context: 1000000, max_output: 64000, thinking: "adaptive" },
  { id: "deepseek-chat", provider: "deepseek", context: 64000 },
  { id: "deepseek-reasoner", provider: "deepseek", context: 64000 },
  { id: "deepseek-v4-flash", provider: "deepseek", context: 1000000 },
  { id: "deepseek-v4-pro", provider: "deepseek", context: 1000000 },
  { id: "gemini-2.5-flash", provider: "gemini", context: 1048576 },
  { id: "gemini-2.5-flash-lite", provider: "gemini", context: 1000000 },
  { id: "gemini-2.5-pro", provider: "gemini", context: 1048576 },
  { id: "gemini-3-flash-preview", provider: "gemini", context: 1000000 },
  { id: "gemini-3-pro-preview", provider: "gemini", context: 1048576 },
  { id: "gemini-3.1-flash-lite", provider: "gemini", context: 1000000 },
  { id: "gemini-3.1-pro-preview", provider: "gemini", context: 1048576 },
  { id: "gemini-3.5-flash", provider: "gemini", context: 1000000 },
  { id: "gemini-3.5-flash-lite", provider: "gemini", context: 1000000 },
  { id: "gemini-3.6-flash", provider: "gemini", context: 1000000 },
  { id: "gemini-3.7-flash", provider: "gemini", context: 1000000 },
  { id: "gemini-3.8-flash", provider: "gemini", context: 1000000 },
  { id: "kimi-k2.5", provider: "moonshot", context: 262144 },
  { id: "kimi-k2.6", provider: "moonshot", context: 262144 },
  { id: "kimi-k2.7-code", provider: "moonshot", context: 262144 },
  { id: "kimi-k2.7-code-highspeed", provider: "moonshot", context: 262144 },
  { id: "kimi-k3", provider: "moonshot", context: 1048576 },
  { id: "gpt-4.1", provider: "openai", context: 1000000 },
  { id: "gpt-4.1-mini", provider: "openai", context: 1000000 },
  { id: "gpt-4.1-nano", provider: "openai", context: 1000000 },
  { id: "gpt-4o", provider: "openai", context: 128000 },
  { id: "gpt-4o-mini", provider: "openai", context: 128000 },
  { id: "gpt-5", provider: "openai", context: 400000 },
  { id: "gpt-5-mini", provider: "openai", context: 400000 },
  { id: "gpt-5-nano", provider: "openai", context: 400000 },
  { id: "gpt-5-pro", provider: "openai", context: 400000 },
  { id: "gpt-5.1", provider: "openai", context: 400000 },
  { id: "gpt-5.1-codex-mini", provider: "openai", context: 400000 },
  { id: "gpt-5.2", provider: "openai", context: 400000 },
  { id: "gpt-5.2-pro", provider: "openai", context: 400000 },
  { id: "gpt-5.3", provider: "openai", context: 128000 },
  { id: "gpt-5.3-codex", provider: "openai", context: 400000 },
  { id: "gpt-5.4", provider: "openai", context: 1050000 },
  { id: "gpt-5.4-mini", provider: "openai", context: 400000 },
  { id: "gpt-5.4-nano", provider: "openai", context: 400000 },
  { id: "gpt-5.4-pro", provider: "openai", context: 1050000 },
  { id: "gpt-5.5", provider: "openai", context: 1000000 },
  { id: "gpt-5.5-pro", provider: "openai", context: 1000000 },
  { id: "gpt-5.6-luna", provider: "openai", context: 1050000 },
  { id: "gpt-5.6-sol", provider: "openai", context: 1050000 },
  { id: "gpt-5.6-terra", provider: "openai", context: 1050000 },
  { id: "o3", provider: "openai", context: 200000 },
  { id: "o3-mini", provider: "openai", context: 200000 },
  { id: "o3-pro", provider: "openai", context: 200000 },
  { id: "o4-mini", provider: "openai", context: 200000 },
  { id: "glm-5.2", provider: "zai", context: 1000000 },
  { id: "glm-5.3", provider: "zai", context: 1000000 },
  { id: "glm-5.3-flash", provider: "zai", context: 1000000 },
];
