import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject } from "../../model/narrow.ts";

/** Tokens and cost of a model call. `input` excludes cached tokens; `undefined`: no counts, or only zeros. */
export function usageOf(value: unknown): Usage | undefined {
  const fields = asObject(value);
  const input = asNumber(fields?.input) ?? 0;
  const output = asNumber(fields?.output) ?? 0;
  const cache_read = asNumber(fields?.cacheRead);
  const cache_write = asNumber(fields?.cacheWrite);
  const reasoning = asNumber(fields?.reasoning) ?? asNumber(fields?.reasoningTokens);
  const cost = asNumber(asObject(fields?.cost)?.total) ?? asNumber(fields?.cost);
  if (input + output + (cache_read ?? 0) + (cache_write ?? 0) + (cost ?? 0) === 0) return undefined;
  return {
    input,
    output,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
    ...(reasoning !== undefined && { reasoning }),
    // The cost is 0 for models without a known price.
    ...(cost !== undefined && cost > 0 && { cost }),
  };
}
