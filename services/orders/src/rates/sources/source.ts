import type { Decimal, ItemCurrency, PaymentCurrency } from '@cpg/contracts';

export type Priced = ItemCurrency | PaymentCurrency;

/** The price of one unit of a currency in US dollars, and the source's own time of the quote. */
export interface Price {
  readonly currency: Priced;
  readonly usd: Decimal;
  readonly at: Date;
}

/** A public source of prices. `urls` are read one after another. `parse` receives their bodies and the time of the
 *  oldest answer; it throws if a body does not have the documented shape, and omits prices that are not plain positive
 *  numbers. */
export interface RateSource {
  readonly name: string;
  readonly urls: readonly string[];
  /** The age at which its prices become stale, unless RATE_MAX_AGES sets another one. */
  readonly maxAgeMs: number;
  /** It publishes once a working day. Its prices check those of other sources; they are used only where no other source
   *  has a fresh one. */
  readonly isDaily?: boolean;
  readonly parse: (bodies: readonly string[], readAt: Date) => Price[];
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
