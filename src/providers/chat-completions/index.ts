import type { ApiProtocol } from "../provider.ts";
import { createChatDecoder } from "./decode.ts";
import { encodeChat } from "./encode.ts";
import { type ChatProfile, chatProfile } from "./profile.ts";

/**
 * The Chat Completions API of OpenAI and compatible servers: DeepSeek, Kimi, GLM, Qwen, Mistral, Groq, xAI, OpenRouter, local
 * servers. `known`: facts about the server that cannot be inferred from its URL and id.
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

/** The protocol for any server. Its profile is inferred from its URL, its provider id and the model. */
export const chatCompletions: ApiProtocol = createChatCompletions();
