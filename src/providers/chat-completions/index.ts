import type { ApiProtocol } from "../provider.ts";
import { createChatDecoder } from "./decode.ts";
import { encodeChat } from "./encode.ts";
import { type ChatProfile, chatProfile } from "./profile.ts";

/**
 * OpenAI's Chat Completions and all that speak it: DeepSeek, Kimi, GLM, Qwen, Mistral, Groq, xAI, OpenRouter, local servers.
 * `known`: what is known of a server that its address and id do not tell.
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

/** As any server speaks it: its ways are told by its address, its provider's id and the model. */
export const chatCompletions: ApiProtocol = createChatCompletions();
