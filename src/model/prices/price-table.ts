import type { Usage } from "../messages/message.ts";
import { LIST_PRICES } from "./list-prices.ts";
import { vendorName, versionless } from "./model-names.ts";
import { costAt, type DatedPrice, priceAt, type Vendor } from "./price.ts";

/** A price from the configuration. */
export interface OwnPrice extends DatedPrice {
  /** The model's name, as the agent writes it. */
  readonly model: string;
}

/** Computes the cost of model calls at list prices. */
export interface PriceTable {
  /**
   * The cost of a call in US dollars; `undefined`: no price is known. `at`: when it was made, in milliseconds since 1970;
   * `undefined`: not recorded.
   */
  costOf(model: string | undefined, usage: Usage, at: number | undefined): number | undefined;
}

interface VendorPrices {
  readonly vendor: Vendor;
  readonly prices: readonly DatedPrice[];
}

const listed = new Map<string, VendorPrices>(
  LIST_PRICES.flatMap(({ models, vendor, prices }) =>
    models.map((model) => [model, { vendor, prices }] as const),
  ),
);

/** The list prices of a model of any vendor, ignoring its version if no price for that version is listed. */
function findListed(model: string): VendorPrices | undefined {
  for (const name of versionless(vendorName(model))) {
    const found = listed.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A vendor's list price of a model at a time; `undefined`: none is known. */
export function listPrice(vendor: string, model: string, at: number): DatedPrice | undefined {
  const found = findListed(model);
  return found?.vendor === vendor ? priceAt(found.prices, at) : undefined;
}

/** The list prices. `own`: prices from the configuration, which take precedence from their dates on. */
export function createPriceTable(own: readonly OwnPrice[] = []): PriceTable {
  const configured = Map.groupBy(
    own.toSorted((one, other) => (one.from ?? "").localeCompare(other.from ?? "")),
    ({ model }) => model.toLowerCase(),
  );
  const findConfigured = (model: string): readonly DatedPrice[] => {
    for (const name of [...versionless(model), ...versionless(vendorName(model))]) {
      const found = configured.get(name);
      if (found !== undefined) return found;
    }
    return [];
  };
  return {
    costOf(model, usage, at) {
      if (model === undefined) return undefined;
      const price = priceAt(findConfigured(model), at) ?? priceAt(findListed(model)?.prices ?? [], at);
      return price && costAt(price, usage);
    },
  };
}
