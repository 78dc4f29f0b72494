import type { ApiProtocol } from "../provider.ts";
import { createResponsesDecoder } from "./decode.ts";
import { encodeResponses } from "./encode.ts";

/** OpenAI's Responses API (`POST /responses`), also of compatible servers. */
export const openaiResponses: ApiProtocol = {
  wire: "openai-responses",
  encode: encodeResponses,
  createDecoder: createResponsesDecoder,
};
