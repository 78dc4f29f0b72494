import type { WireFormat } from "../provider.ts";
import { createResponsesDecoder } from "./decode.ts";
import { encodeResponses } from "./encode.ts";

export const openaiResponses: WireFormat = {
  wire: "openai-responses",
  encode: encodeResponses,
  createDecoder: createResponsesDecoder,
};
