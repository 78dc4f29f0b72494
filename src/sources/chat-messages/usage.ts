import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject } from "../../model/narrow.ts";

/**
 * Converts the usage of the Chat Completions or Responses API, where cached tokens are a part of the input. Without both counts
 * it is not one.
 */
export function usageOf(value: unknown, cost?: unknown): Usage | undefined {
  const usage = asObject(value);
  const input = asNumber(usage?.prompt_tokens) ?? asNumber(usage?.input_tokens);
  const output = asNumber(usage?.completion_tokens) ?? asNumber(usage?.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const details = asObject(usage?.prompt_tokens_details) ?? asObject(usage?.input_tokens_details);
  const written = asObject(usage?.completion_tokens_details) ?? asObject(usage?.output_tokens_details);
  const cached = asNumber(details?.cached_tokens);
  const reasoning = asNumber(written?.reasoning_tokens);
  const money = asNumber(cost);
  return {
    input: Math.max(0, input - (cached ?? 0)),
    output,
    ...(cached !== undefined && { cache_read: cached }),
    ...(reasoning !== undefined && { reasoning }),
    ...(money !== undefined && money > 0 && { cost: money }),
  };
}
