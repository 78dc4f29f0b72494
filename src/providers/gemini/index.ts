import type { ApiProtocol } from "../provider.ts";
import { createGeminiDecoder } from "./decode.ts";
import { encodeGemini } from "./encode.ts";

/** Google's Gemini API, either the Generative Language API or Vertex. */
export const geminiGenerateContent: ApiProtocol = {
  wire: "gemini-generate-content",
  encode: encodeGemini,
  createDecoder: createGeminiDecoder,
};
