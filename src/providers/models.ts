import type { Usage } from "../model/messages/message.ts";
import { versionless } from "../model/prices/model-names.ts";
import { costAt, type DatedPrice } from "../model/prices/price.ts";
import { listPrice } from "../model/prices/price-table.ts";
import { type KnownModel, knownModels } from "./known-models.ts";

const USUAL_OUTPUT = 32_000;
/** Facts about a model; `undefined`: it is unknown. A version date in the id is ignored. */
export function findModel(provider: string, model: string): KnownModel | undefined {
  let id = model.toLowerCase();
  let vendor = vendorOf(provider);
  if (provider === "openrouter") {
    // For example "anthropic/claude-sonnet-4.5:beta".
    const [, vendor_id, name] = /^([^/]+)\/([^:]+)/.exec(id) ?? [];
    if (vendor_id === undefined || name === undefined) return undefined;
    vendor = VENDORS.get(vendor_id) ?? vendor_id;
    id = vendor === "anthropic" ? name.replaceAll(".", "-") : name;
  }
  const named = (wanted: string) =>
    knownModels.find((known) => known.provider === vendor && known.id === wanted);
  for (const name of versionless(id)) {
    const known = named(name) ?? (vendor === "anthropic" ? named(`${name}-0`) : undefined);
    if (known !== undefined) return known;
  }
  return undefined;
}

/** OpenRouter's names of model vendors, mapped to our provider ids. */
const VENDORS = new Map([
  ["google", "gemini"],
  ["moonshotai", "moonshot"],
  ["z-ai", "zai"],
]);

const vendorOf = (provider: string): string => (provider === "openai-chat" ? "openai" : provider);

/**
 * The list price of a provider's model. `at`: in milliseconds since 1970. OpenRouter has none, because it selects the upstream.
 */
export const priceOf = (provider: string, model: string, at = Date.now()): DatedPrice | undefined =>
  listPrice(vendorOf(provider), model, at);

/** The cost of a call in US dollars: as reported by the provider, or at the list price of that time; `undefined`: unknown. */
export function costOf(provider: string, model: string, usage: Usage, at = Date.now()): number | undefined {
  if (usage.cost !== undefined) return usage.cost;
  const price = priceOf(provider, model, at);
  return price && costAt(price, usage);
}

/** The limit of output tokens in a request to an Anthropic model, if the call specifies none. */
export function outputLimit(model: string): number {
  return Math.min(findModel("anthropic", model)?.max_output ?? USUAL_OUTPUT, USUAL_OUTPUT);
}

/**
 * How thinking is requested from a model in the Anthropic protocol. For unknown models it is inferred from the name: new Claude
 * models choose their own budget.
 */
export function thinkingOf(model: string): NonNullable<KnownModel["thinking"]> {
  return findModel("anthropic", model)?.thinking ?? (/claude/i.test(model) ? "adaptive" : "budget");
}
