import type { Usage } from "../model/messages/message.ts";
import { type KnownModel, knownModels } from "./known-models.ts";

const MILLION = 1_000_000;
const USUAL_OUTPUT = 32_000;
/** Suffixes with which providers name a version of a model. */
const VERSION = /[-@:](?:latest|preview|\d{4}|\d{6,8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{3})$/;

/** Facts about a model; `undefined`: it is unknown and has no price. A version date is ignored. */
export function findModel(provider: string, model: string): KnownModel | undefined {
  let id = model.toLowerCase();
  let vendor = provider === "openai-chat" ? "openai" : provider;
  if (provider === "openrouter") {
    // "anthropic/claude-sonnet-4.5:beta"
    const [, maker, name] = /^([^/]+)\/([^:]+)/.exec(id) ?? [];
    if (maker === undefined || name === undefined) return undefined;
    vendor = VENDORS.get(maker) ?? maker;
    id = vendor === "anthropic" ? name.replaceAll(".", "-") : name;
  }
  const named = (wanted: string) =>
    knownModels.find((known) => known.provider === vendor && known.id === wanted);
  for (;;) {
    const known = named(id);
    if (known !== undefined) return known;
    const shorter = id.replace(VERSION, "");
    if (shorter === id) return vendor === "anthropic" ? named(`${id}-0`) : undefined;
    id = shorter;
  }
}

/** OpenRouter's names of model vendors. */
const VENDORS = new Map([
  ["google", "gemini"],
  ["moonshotai", "moonshot"],
  ["z-ai", "zai"],
]);

/**
 * The cost of a call in US dollars: as reported by the provider, or computed from the tokens and the known price; `undefined`: no
 * price. For OpenRouter only the reported cost counts, because it selects the upstream.
 */
export function costOf(provider: string, model: string, usage: Usage): number | undefined {
  if (usage.cost !== undefined) return usage.cost;
  const known = provider === "openrouter" ? undefined : findModel(provider, model);
  if (known?.price === undefined) return undefined;
  const { input, output, cache_read = 0, cache_write = 0 } = usage;
  const { long } = known;
  const price =
    long !== undefined && input + cache_read + cache_write > long.above ? long.price : known.price;
  const dollars =
    input * price.input +
    cache_read * (price.cache_read ?? price.input) +
    cache_write * (price.cache_write ?? price.input) +
    output * price.output;
  return Math.max(0, dollars / MILLION);
}

/** The token limit for a request to an Anthropic model, if the call has none. */
export function outputLimit(model: string): number {
  return Math.min(findModel("anthropic", model)?.max_output ?? USUAL_OUTPUT, USUAL_OUTPUT);
}

/**
 * How thinking is requested from a model in the Anthropic protocol. For unknown models it is inferred from the name: newer ones
 * decide themselves.
 */
export function thinkingOf(model: string): NonNullable<KnownModel["thinking"]> {
  return findModel("anthropic", model)?.thinking ?? (/claude/i.test(model) ? "adaptive" : "budget");
}
