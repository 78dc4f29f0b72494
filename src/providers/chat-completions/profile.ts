import type { ModelCall } from "../provider.ts";

/** How a server, or a model on it, differs from OpenAI's Chat Completions API. */
export interface ChatProfile {
  /** Name of the server's dialect, which several servers may share. */
  dialect: string;
  max_tokens_field: "max_tokens" | "max_completion_tokens";
  /** The header for the key. `api-key` is for Azure. */
  key_header: "authorization" | "api-key";
  /** Request fields for a reasoning effort. */
  thinking(effort: ModelCall["effort"], model: string): Readonly<Record<string, unknown>>;
  /** Whether thinking is sent back to the same model in the form in which it was received. */
  replays_thinking: boolean;
  /** Whether assistant messages with calls are rejected if they have no `reasoning_content`. */
  requires_reasoning_on_calls: boolean;
  /** Whether `stream_options: { include_usage: true }` is supported. */
  stream_options: boolean;
  /** Whether a user message directly after a tool message is rejected. */
  assistant_between_tool_and_user: boolean;
  /** The content of an assistant message that has calls but no text. */
  empty_content: null | "" | " ";
  /**
   * The required form of call ids, applied to other models' calls. `kimi`: `functions.NAME:N`; `nine`: nine letters or digits.
   */
  id_rule: "any" | "kimi" | "nine";
  /** Whether `cache_control` is supported on content parts. */
  cache_control: boolean;
  /** Whether the finish reason may be missing, in which case `[DONE]` or the usage counts as `stop`. */
  accepts_missing_finish_reason: boolean;
  /**
   * Handling of thinking between tags at the beginning of the content. `tagged`: both tags occur (any server may run such a
   * model); `opened`: the server's template contains the opening tag, so only the closing tag occurs; `none`: tags are plain
   * text.
   */
  think_tags: "tagged" | "opened" | "none";
}

const GENERIC: ChatProfile = {
  dialect: "generic",
  max_tokens_field: "max_tokens",
  key_header: "authorization",
  thinking: () => ({}),
  replays_thinking: true,
  requires_reasoning_on_calls: false,
  stream_options: true,
  assistant_between_tool_and_user: false,
  empty_content: null,
  id_rule: "any",
  cache_control: false,
  accepts_missing_finish_reason: false,
  think_tags: "tagged",
};

const typed: ChatProfile["thinking"] = (effort) =>
  effort === undefined ? {} : { thinking: { type: effort === "none" ? "disabled" : "enabled" } };

const reasoningEffort: ChatProfile["thinking"] = (effort) =>
  effort === undefined ? {} : { reasoning_effort: effort };

const reasoningObject: ChatProfile["thinking"] = (effort) => {
  if (effort === undefined) return {};
  return { reasoning: effort === "none" ? { enabled: false } : { effort } };
};

const OPENAI: Partial<ChatProfile> = {
  dialect: "openai",
  max_tokens_field: "max_completion_tokens",
  // Other models reject the field.
  thinking: (effort, model) => {
    if (!/^(o\d|gpt-5|gpt-oss|codex)/.test(model)) return {};
    if (effort !== "none") return reasoningEffort(effort, model);
    if (/^gpt-5\.\d/.test(model)) return { reasoning_effort: "none" };
    return /^gpt-5/.test(model) ? { reasoning_effort: "minimal" } : {};
  },
  replays_thinking: false,
  think_tags: "none",
};

/** Thinking budgets in tokens, for servers that need a number. */
const BUDGETS = { low: 2_048, medium: 8_192, high: 24_576 } as const;

/** Profiles of known servers. Matched by URL first, because a provider's id can be any name. */
const PROFILES: readonly { base_url: RegExp; id: RegExp; profile: Partial<ChatProfile> }[] = [
  { base_url: /\/\/api\.openai\.com\b/, id: /^openai(-chat)?$/, profile: OPENAI },
  {
    base_url: /\.openai\.azure\.com\b|\.services\.ai\.azure\.com\b/,
    id: /^azure/,
    profile: { ...OPENAI, dialect: "azure", key_header: "api-key" },
  },
  {
    base_url: /\/\/openrouter\.ai\b/,
    id: /^openrouter/,
    profile: { dialect: "openrouter", thinking: reasoningObject, cache_control: true },
  },
  {
    base_url: /\/\/ai-gateway\.vercel\.sh\b/,
    id: /^vercel/,
    profile: { dialect: "vercel", thinking: reasoningObject },
  },
  {
    base_url: /\/\/api\.deepseek\.com\b/,
    id: /^deepseek/,
    profile: {
      dialect: "deepseek",
      thinking: typed,
      requires_reasoning_on_calls: true,
    },
  },
  {
    base_url: /\/\/api\.moonshot\.(ai|cn)\b|\/\/api\.kimi\.com\b/,
    id: /^(moonshot|kimi)/,
    profile: { dialect: "kimi", thinking: typed, requires_reasoning_on_calls: true, id_rule: "kimi" },
  },
  {
    base_url: /\/\/api\.z\.ai\b|\/\/open\.bigmodel\.cn\b/,
    id: /^(zai|z-ai|glm|zhipu)/,
    profile: {
      dialect: "glm",
      // The server drops thinking that is sent back unless `clear_thinking` is `false`.
      thinking: (effort, model) => ({
        thinking: { type: effort === "none" ? "disabled" : "enabled", clear_thinking: false },
        ...(/glm-(4\.[6-9]|[5-9])/i.test(model) ? { tool_stream: true } : {}),
      }),
    },
  },
  {
    base_url: /\/\/dashscope(-intl|-us)?\.aliyuncs\.com\b/,
    id: /^(qwen|dashscope|alibaba)/,
    profile: {
      dialect: "qwen",
      thinking: (effort) => {
        if (effort === undefined) return {};
        if (effort === "none") return { enable_thinking: false };
        return { enable_thinking: true, thinking_budget: BUDGETS[effort], preserve_thinking: true };
      },
    },
  },
  {
    base_url: /\/\/api\.x\.ai\b/,
    id: /^(xai|grok)/,
    profile: {
      dialect: "xai",
      max_tokens_field: "max_completion_tokens",
      thinking: (effort, model) => {
        if (effort === undefined || effort === "none" || !model.includes("mini")) return {};
        return { reasoning_effort: effort === "low" ? "low" : "high" };
      },
      replays_thinking: false,
    },
  },
  {
    base_url: /\/\/api\.groq\.com\b/,
    id: /^groq/,
    profile: {
      dialect: "groq",
      max_tokens_field: "max_completion_tokens",
      thinking: (effort, model) => {
        if (!/gpt-oss|qwen3/.test(model)) return {};
        const asked = model.includes("gpt-oss") && effort !== "none" ? reasoningEffort(effort, model) : {};
        return { reasoning_format: "parsed", ...asked };
      },
      replays_thinking: false,
    },
  },
  {
    base_url: /\/\/(api|codestral)\.mistral\.ai\b/,
    id: /^mistral/,
    profile: {
      dialect: "mistral",
      thinking: (effort) =>
        effort === undefined ? {} : { reasoning_effort: effort === "none" ? "none" : "high" },
      stream_options: false,
      assistant_between_tool_and_user: true,
      empty_content: "",
      id_rule: "nine",
    },
  },
  {
    base_url: /\/\/[^/]*:11434\b/,
    id: /^ollama/,
    profile: { dialect: "ollama", thinking: reasoningEffort, replays_thinking: false, empty_content: "" },
  },
  {
    base_url: /\/\/[^/]*\.snowflakecomputing\.com\b/,
    id: /^snowflake/,
    profile: { dialect: "snowflake", accepts_missing_finish_reason: true },
  },
  {
    // vLLM, SGLang, llama.cpp: the behaviour depends on the model's template.
    base_url: /^https?:\/\/(localhost|127\.|\[::1\]|0\.0\.0\.0|10\.|192\.168\.)/,
    id: /^(vllm|sglang|llama)/,
    profile: {
      dialect: "local",
      thinking: (effort) =>
        effort === undefined ? {} : { chat_template_kwargs: { enable_thinking: effort !== "none" } },
      empty_content: "",
    },
  },
];

/**
 * The profile of a server, by `base_url` if it is known, otherwise by the provider's id. Kimi's models have the same id rule on
 * all servers.
 */
export function chatProfile(provider: string, base_url: string | undefined, model: string): ChatProfile {
  const byAddress = PROFILES.find((known) => base_url !== undefined && known.base_url.test(base_url));
  const byName = PROFILES.find(({ id }) => id.test(provider));
  const isLocal = byAddress?.profile.dialect === "local";
  // For a local address the provider's id is more reliable, because a replay, a proxy or a tunnel may be behind it.
  const found = (isLocal ? (byName ?? byAddress) : (byAddress ?? byName))?.profile;
  const profile = { ...GENERIC, ...found };
  return /kimi-k2/i.test(model) && profile.id_rule === "any" ? { ...profile, id_rule: "kimi" } : profile;
}
