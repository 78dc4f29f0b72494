import type { ApiProtocol } from "../provider.ts";
import { createAnthropicDecoder } from "./decode.ts";
import { encodeAnthropic } from "./encode.ts";

/** Anthropic's Messages API (`POST /v1/messages`), also of compatible servers. */
export const anthropicMessages: ApiProtocol = {
  wire: "anthropic-messages",
  encode: encodeAnthropic,
  createDecoder: createAnthropicDecoder,
};
