import type { Usage } from "../model/messages/message.ts";
import type { ReportedUsage } from "./provider.ts";

/**
 * Converts a provider's counts to Verbatim's form. Clamped at 0, because some gateways report more cached tokens than input
 * tokens.
 */
export function usageOf(reported: ReportedUsage): Usage {
  const { input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost } = reported;
  const { cache_write_1h_tokens = 0 } = reported;
  return {
    input: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
    output: output_tokens,
    ...(cached_tokens === 0 ? {} : { cache_read: cached_tokens }),
    ...(cache_write_tokens === 0 ? {} : { cache_write: cache_write_tokens }),
    ...(cache_write_1h_tokens === 0 ? {} : { cache_write_1h: cache_write_1h_tokens }),
    ...(reasoning_tokens === 0 ? {} : { reasoning: reasoning_tokens }),
    ...(cost === undefined ? {} : { cost }),
  };
}
