import type { Decimal, ItemCurrency, PaymentCurrency } from '@cpg/contracts';

export type Priced = ItemCurrency | PaymentCurrency;

/** What one unit of a currency is worth in US dollars, and when its source said so. */
export interface Price {
  readonly currency: Priced;
  readonly usd: Decimal;
  readonly at: Date;
}

/** A public source of prices. `urls` are read one after another; `parse` gets their bodies and the time of reading, and throws when an answer
 *  is not of the shape that the source documents. Prices that are not plain positive numbers are left out. */
export interface RateSource {
  readonly name: string;
  readonly urls: readonly string[];
  /** How long its prices are good for. */
  readonly maxAgeMs: number;
  readonly parse: (bodies: readonly string[], readAt: Date) => Price[];
}

export const MINUTE_MS = 60_000;
