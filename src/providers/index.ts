import type { CodedText } from "../model/text/catalog.ts";
import { failureText } from "../model/text/failure-texts.ts";
import { anthropicMessages } from "./anthropic/index.ts";
import { chatCompletions } from "./chat-completions/index.ts";
import { geminiGenerateContent } from "./gemini/index.ts";
import { createHttpProvider, type HttpProviderOptions } from "./http-provider.ts";
import { costOf } from "./models.ts";
import { openaiResponses } from "./openai-responses/index.ts";
import type { ApiProtocol, Endpoint, Provider } from "./provider.ts";

/** All API protocols over HTTP. Add new protocols here. */
export const apiProtocols: readonly ApiProtocol[] = [
  anthropicMessages,
  chatCompletions,
  geminiGenerateContent,
  openaiResponses,
];

export function findApiProtocol(wire: string): ApiProtocol | undefined {
  return apiProtocols.find((format) => format.wire === wire);
}

/** A provider that the user can select. */
export interface ProviderEntry {
  readonly id: string;
  /** Display name. */
  readonly title: string;
  readonly wire: ApiProtocol["wire"];
  /** The default URL of the API. Absent: it has to be configured. */
  readonly base_url?: string;
  /** Environment variables that may contain the key. The first one that is set is used. */
  readonly key_variables: readonly string[];
  /** How to get a key, in one sentence. Absent: no key is needed. */
  readonly key_help?: CodedText;
  /** The default model from `known-models.ts`: a current one for general use. */
  readonly default_model?: string;
}

/** All providers except the scripted one, which needs neither HTTP nor a key. */
export const providers: readonly ProviderEntry[] = [
  {
    id: "anthropic",
    title: "Anthropic",
    wire: "anthropic-messages",
    base_url: "https://api.anthropic.com",
    key_variables: ["ANTHROPIC_API_KEY"],
    key_help: failureText("set_key_from", { variable: "ANTHROPIC_API_KEY", place: "console.anthropic.com" }),
    default_model: "claude-sonnet-5",
  },
  {
    id: "openai",
    title: "OpenAI",
    wire: "openai-responses",
    base_url: "https://api.openai.com/v1",
    key_variables: ["OPENAI_API_KEY"],
    key_help: failureText("set_key_from", { variable: "OPENAI_API_KEY", place: "platform.openai.com" }),
    default_model: "gpt-5.6-terra",
  },
  {
    id: "openai-chat",
    title: "OpenAI (Chat Completions)",
    wire: "chat-completions",
    base_url: "https://api.openai.com/v1",
    key_variables: ["OPENAI_API_KEY"],
    key_help: failureText("set_key_from", { variable: "OPENAI_API_KEY", place: "platform.openai.com" }),
  },
  {
    id: "gemini",
    title: "Google Gemini",
    wire: "gemini-generate-content",
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    key_variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    key_help: failureText("set_key_from", { variable: "GEMINI_API_KEY", place: "aistudio.google.com" }),
    default_model: "gemini-3.8-flash",
  },
  {
    id: "openrouter",
    title: "OpenRouter",
    wire: "chat-completions",
    base_url: "https://openrouter.ai/api/v1",
    key_variables: ["OPENROUTER_API_KEY"],
    key_help: failureText("set_key_from", { variable: "OPENROUTER_API_KEY", place: "openrouter.ai" }),
  },
  {
    id: "deepseek",
    title: "DeepSeek",
    wire: "chat-completions",
    base_url: "https://api.deepseek.com",
    key_variables: ["DEEPSEEK_API_KEY"],
    key_help: failureText("set_key_from", { variable: "DEEPSEEK_API_KEY", place: "platform.deepseek.com" }),
    default_model: "deepseek-v4-pro",
  },
  {
    id: "moonshot",
    title: "Moonshot (Kimi)",
    wire: "chat-completions",
    base_url: "https://api.moonshot.ai/v1",
    key_variables: ["MOONSHOT_API_KEY"],
    key_help: failureText("set_key_from", { variable: "MOONSHOT_API_KEY", place: "platform.moonshot.ai" }),
    default_model: "kimi-k3",
  },
  {
    id: "zai",
    title: "Z.AI (GLM)",
    wire: "chat-completions",
    base_url: "https://api.z.ai/api/paas/v4",
    key_variables: ["ZAI_API_KEY"],
    key_help: failureText("set_key_from", { variable: "ZAI_API_KEY", place: "z.ai" }),
    default_model: "glm-5.3",
  },
  {
    id: "qwen",
    title: "Qwen (DashScope)",
    wire: "chat-completions",
    base_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    key_variables: ["DASHSCOPE_API_KEY"],
    key_help: failureText("set_key_from", {
      variable: "DASHSCOPE_API_KEY",
      place: "Alibaba Cloud Model Studio",
    }),
  },
  {
    id: "local",
    title: "Other server",
    wire: "chat-completions",
    key_variables: ["LOCAL_API_KEY"],
  },
];

interface ProviderSettings extends Pick<HttpProviderOptions, "silence_ms" | "readImage"> {
  /** Overrides the `base_url` of the entry. Required if the entry has none. */
  base_url?: string;
  api_key?: string;
}

/** Creates the provider of an entry; `undefined`: its base URL is not known. */
export function createProvider(entry: ProviderEntry, settings: ProviderSettings): Provider | undefined {
  const format = findApiProtocol(entry.wire);
  const { base_url = entry.base_url, api_key, silence_ms, readImage } = settings;
  if (format === undefined || base_url === undefined) return undefined;
  const endpoint: Endpoint = {
    base_url: base_url.replace(/\/+$/, ""),
    ...(api_key === undefined ? {} : { api_key }),
  };
  return createHttpProvider({
    id: entry.id,
    title: entry.title,
    format,
    endpoint,
    ...(entry.key_help === undefined ? {} : { key_help: entry.key_help }),
    ...(silence_ms === undefined ? {} : { silence_ms }),
    ...(readImage === undefined ? {} : { readImage }),
    // A server at another URL may have other prices.
    ...(base_url === entry.base_url ? { costOf: (model, usage) => costOf(entry.id, model, usage) } : {}),
  });
}
