import type { ApiProtocol } from "../provider.ts";
import { createChatDecoder } from "./decode.ts";
import { encodeChat } from "./encode.ts";
import { type ChatProfile, chatProfile } from "./profile.ts";

/**
 * OpenAI's Chat Completions API and compatible servers: DeepSeek, Kimi, GLM, Qwen, Mistral, Groq, xAI, OpenRouter, local servers.
 * `known`: facts about a server that cannot be inferred from its URL and id.
 */
export function createChatCompletions(known: Partial<ChatProfile> = {}): ApiProtocol {
  const profileOf = (provider: string, base_url: string | undefined, model: string): ChatProfile => ({
    ...chatProfile(provider, base_url, model),
    ...known,
  });
  return {
    wire: "chat-completions",
    encode: (call, provider, endpoint) =>
      encodeChat(call, provider, endpoint, profileOf(provider, endpoint.base_url, call.model)),
    createDecoder: (context) =>
      createChatDecoder(context, profileOf(context.provider, context.base_url, context.model)),
  };
}

/** For any server: its profile is inferred from its URL, its provider id and the model. */
export const chatCompletions: ApiProtocol = createChatCompletions();
