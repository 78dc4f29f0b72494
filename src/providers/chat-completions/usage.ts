import { asNumber, asObject } from "../json.ts";
import type { ReportedUsage } from "../provider.ts";

/**
 * The `usage` of a chunk; `undefined`: it has no counts. Reasoning is included in `completion_tokens`, unless the total shows
 * that it was counted separately (xAI).
 */
export function chatUsage(value: unknown): ReportedUsage | undefined {
  const usage = asObject(value);
  const input_tokens = asNumber(usage?.prompt_tokens);
  const completion = asNumber(usage?.completion_tokens);
  if (usage === undefined || (input_tokens === undefined && completion === undefined)) return undefined;
  const prompt = asObject(usage.prompt_tokens_details);
  const reasoning =
    asNumber(asObject(usage.completion_tokens_details)?.reasoning_tokens) ??
    asNumber(usage.reasoning_tokens) ??
    0;
  const counted = (input_tokens ?? 0) + (completion ?? 0);
  const isSeparate = reasoning > 0 && asNumber(usage.total_tokens) === counted + reasoning;
  const cost = costOf(usage);
  return {
    input_tokens: input_tokens ?? 0,
    cached_tokens:
      asNumber(prompt?.cached_tokens) ??
      asNumber(usage.prompt_cache_hit_tokens) ??
      asNumber(usage.cached_tokens) ??
      0,
    cache_write_tokens:
      asNumber(prompt?.cache_write_tokens) ?? asNumber(usage.cache_creation_input_tokens) ?? 0,
    output_tokens: (completion ?? 0) + (isSeparate ? reasoning : 0),
    reasoning_tokens: reasoning,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** The cost in US dollars. If the user's own upstream key was used, the upstream cost is added to OpenRouter's fee. */
function costOf(usage: Readonly<Record<string, unknown>>): number | undefined {
  const cost = asNumber(usage.cost);
  if (cost === undefined || usage.is_byok !== true) return cost;
  return cost + (asNumber(asObject(usage.cost_details)?.upstream_inference_cost) ?? 0);
}
