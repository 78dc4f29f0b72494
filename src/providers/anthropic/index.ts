import type { WireFormat } from "../provider.ts";
import { createAnthropicDecoder } from "./decode.ts";
import { encodeAnthropic } from "./encode.ts";

export const anthropicMessages: WireFormat = {
  wire: "anthropic-messages",
  encode: encodeAnthropic,
  createDecoder: createAnthropicDecoder,
};
