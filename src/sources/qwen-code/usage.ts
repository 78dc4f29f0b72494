import type { Usage } from "../../model/messages/message.ts";
import { asNumber, type JsonObject } from "../../model/narrow.ts";

/**
 * Converts token counts of the Gemini API or the telemetry, whose input includes cached tokens. `undefined`: none, or only
 * zeros.
 */
export function usageOf(value: JsonObject | undefined): Usage | undefined {
  const input = asNumber(value?.promptTokenCount) ?? asNumber(value?.input_token_count) ?? 0;
  const output = asNumber(value?.candidatesTokenCount) ?? asNumber(value?.output_token_count) ?? 0;
  const cache_read = asNumber(value?.cachedContentTokenCount) ?? asNumber(value?.cached_content_token_count);
  const reasoning = asNumber(value?.thoughtsTokenCount) ?? asNumber(value?.thoughts_token_count);
  const total = asNumber(value?.totalTokenCount) ?? asNumber(value?.total_token_count);
  if (input + output === 0) return undefined;
  // Gemini counts thoughts separately from the output, OpenAI as part of it. The total shows which.
  const isSeparate = reasoning !== undefined && total === input + output + reasoning;
  const usage: Usage = {
    input: Math.max(0, input - (cache_read ?? 0)),
    output: isSeparate ? output + reasoning : output,
  };
  if (cache_read !== undefined) usage.cache_read = cache_read;
  if (reasoning !== undefined && reasoning > 0) usage.reasoning = reasoning;
  return usage;
}
