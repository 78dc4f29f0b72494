import type { ApiProtocol } from "../provider.ts";
import { createResponsesDecoder } from "./decode.ts";
import { encodeResponses } from "./encode.ts";

/** The Responses API (`POST /responses`) of OpenAI and compatible servers. */
export const openaiResponses: ApiProtocol = {
  wire: "openai-responses",
  encode: encodeResponses,
  createDecoder: createResponsesDecoder,
};
