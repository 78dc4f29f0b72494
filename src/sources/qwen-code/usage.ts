import type { Usage } from "../../model/messages/message.ts";
import { asNumber, type JsonObject } from "../../model/narrow.ts";

/** Tokens in the words of the Gemini API, or of the telemetry: the input holds what a cache had. `undefined`: none, or zeros only. */
export function usageOf(value: JsonObject | undefined): Usage | undefined {
  const given = asNumber(value?.promptTokenCount) ?? asNumber(value?.input_token_count) ?? 0;
  const said = asNumber(value?.candidatesTokenCount) ?? asNumber(value?.output_token_count) ?? 0;
  const cache_read = asNumber(value?.cachedContentTokenCount) ?? asNumber(value?.cached_content_token_count);
  const reasoning = asNumber(value?.thoughtsTokenCount) ?? asNumber(value?.thoughts_token_count);
  const total = asNumber(value?.totalTokenCount) ?? asNumber(value?.total_token_count);
  if (given + said === 0) return undefined;
  // Gemini counts thoughts beside what was said, OpenAI as a part of it: the total shows which.
  const isBeside = reasoning !== undefined && total === given + said + reasoning;
  return {
    input: Math.max(0, given - (cache_read ?? 0)),
    output: isBeside ? said + reasoning : said,
    ...(cache_read !== undefined && { cache_read }),
    ...(reasoning !== undefined && reasoning > 0 && { reasoning }),
  };
}
