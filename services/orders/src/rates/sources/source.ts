import type { Decimal, ItemCurrency, PaymentCurrency } from '@cpg/contracts';

export type Priced = ItemCurrency | PaymentCurrency;

/** The price of one unit of a currency in US dollars, and the time of the quote. */
export interface Price {
  readonly currency: Priced;
  readonly usd: Decimal;
  readonly at: Date;
}

/** A public source of prices. `urls` are read one after another. `parse` receives their bodies and the time of reading;
 *  it throws if a body does not have the documented shape, and omits prices that are not plain positive numbers. */
export interface RateSource {
  readonly name: string;
  readonly urls: readonly string[];
  /** The age at which its prices become stale. */
  readonly maxAgeMs: number;
  readonly parse: (bodies: readonly string[], readAt: Date) => Price[];
}

export const MINUTE_MS = 60_000;
