import type { ApiProtocol } from "../provider.ts";
import { createAnthropicDecoder } from "./decode.ts";
import { encodeAnthropic } from "./encode.ts";

/** The Messages API (`POST /v1/messages`) of Anthropic and compatible servers. */
export const anthropicMessages: ApiProtocol = {
  wire: "anthropic-messages",
  encode: encodeAnthropic,
  createDecoder: createAnthropicDecoder,
};
