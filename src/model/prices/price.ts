import type { Usage } from "../messages/message.ts";
import { tokensIn } from "../tokens.ts";

/** US dollars per million tokens. If absent, `cache_write_1h` is `cache_write`, and the other cache prices are `input`. */
export interface Price {
  readonly input: number;
  /** Includes reasoning. */
  readonly output: number;
  readonly cache_read?: number;
  /** Kept for five minutes, or for as long as the vendor keeps it. */
  readonly cache_write?: number;
  /** Kept for an hour. */
  readonly cache_write_1h?: number;
}

/** A price and the day from which it applies. */
export interface DatedPrice extends Price {
  /** The first day (UTC), as `2026-09-16`. Absent: since the model's release. */
  readonly from?: string;
  /** The price of all tokens of a call whose prompt is longer than `above` tokens. */
  readonly long?: Price & { readonly above: number };
}

/** Vendors with list prices, by their ids in `providers/index.ts`. */
export type Vendor = "anthropic" | "openai" | "gemini" | "moonshot" | "zai" | "xai";

/** Models with the same prices. */
export interface ListPrice {
  readonly vendor: Vendor;
  /** In lower case and without a version. A version with a different price has an entry of its own, which comes first. */
  readonly models: readonly string[];
  /** By date, oldest first. Empty: known to have no price. */
  readonly prices: readonly DatedPrice[];
  /** When it was read. Absent: `PRICES_CHECKED`. */
  readonly checked?: string;
}

const MILLION = 1_000_000;

/** The cost of a call in US dollars. */
export function costAt(dated: DatedPrice, usage: Usage): number {
  const { input, output, cache_read = 0, cache_write = 0, cache_write_1h = 0 } = usage;
  const { long } = dated;
  const price: Price = long !== undefined && tokensIn(usage) > long.above ? long : dated;
  const write = price.cache_write ?? price.input;
  const an_hour = Math.min(cache_write, cache_write_1h);
  const dollars =
    input * price.input +
    cache_read * (price.cache_read ?? price.input) +
    (cache_write - an_hour) * write +
    an_hour * (price.cache_write_1h ?? write) +
    output * price.output;
  return Math.max(0, dollars / MILLION);
}

/** The price at a time, in milliseconds since 1970. Without a time only a price that never changed is known. */
export function priceAt(prices: readonly DatedPrice[], at: number | undefined): DatedPrice | undefined {
  if (at === undefined) return prices.length === 1 ? prices[0] : undefined;
  return prices.findLast(({ from }) => from === undefined || Date.parse(from) <= at);
}
