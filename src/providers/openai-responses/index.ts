import type { ApiProtocol } from "../provider.ts";
import { createResponsesDecoder } from "./decode.ts";
import { encodeResponses } from "./encode.ts";

/** OpenAI's Responses API (`POST /responses`), and servers that speak it too. */
export const openaiResponses: ApiProtocol = {
  wire: "openai-responses",
  encode: encodeResponses,
  createDecoder: createResponsesDecoder,
};
