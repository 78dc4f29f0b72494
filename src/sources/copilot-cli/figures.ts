import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject, type JsonObject } from "../../model/narrow.ts";

/**
 * Converts Copilot's token counts, whose input includes cache reads and writes. Its cost is a number of requests, not money.
 * `undefined`: no counts, or only zeros.
 */
export function usageOf(value: unknown): Usage | undefined {
  const fields = asObject(value);
  const given = asNumber(fields?.inputTokens) ?? 0;
  const output = asNumber(fields?.outputTokens) ?? 0;
  const cache_read = asNumber(fields?.cacheReadTokens);
  const cache_write = asNumber(fields?.cacheWriteTokens);
  const reasoning = asNumber(fields?.reasoningTokens);
  if (given + output === 0) return undefined;
  const cached = (cache_read ?? 0) + (cache_write ?? 0);
  return {
    // Some providers count cached tokens separately.
    input: cached > given ? given : given - cached,
    output,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

/** Totals of a session by model, from its end record. */
export function totalsOf(metrics: unknown): Record<string, Usage> {
  const totals: Record<string, Usage> = {};
  for (const [model, fields] of Object.entries(asObject(metrics) ?? ({} as JsonObject))) {
    const usage = usageOf(asObject(fields)?.usage);
    if (usage !== undefined) totals[model] = usage;
  }
  return totals;
}
