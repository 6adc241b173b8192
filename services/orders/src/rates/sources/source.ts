import type { Decimal, ItemCurrency, PaymentCurrency } from '@cpg/contracts';
import type { Answer } from '../read.ts';

export type Priced = ItemCurrency | PaymentCurrency;

/** The price of one unit of a currency in US dollars, and the source's own time of the quote. */
export interface Price {
  readonly currency: Priced;
  readonly usd: Decimal;
  readonly at: Date;
}

/** Reads a URL. Rejects unless the whole body arrives in time. */
export type Read = (url: string) => Promise<Answer>;

/** A public source of prices. */
export interface RateSource {
  readonly name: string;
  /** The currencies that it prices. */
  readonly currencies: readonly Priced[];
  /** The age at which its prices become stale, unless RATE_MAX_AGES sets another one. */
  readonly maxAgeMs: number;
  /** It publishes once a working day. Its prices check those of other sources; they are used only where no other source
   *  has a fresh one. */
  readonly isDaily?: boolean;
  /** The prices of some of its currencies, asked at `now`. Throws if an answer does not have the documented shape.
   *  Omits a price that is not a plain positive number, so that one bad row costs no other. */
  readonly prices: (read: Read, currencies: readonly Priced[], now: Date) => Promise<Price[]>;
}

/** When an answer was made: a cache may have kept it, and its clock may be ahead of ours. */
export const madeAt = ({ at }: Answer, now: Date): Date => (at && at < now ? at : now);

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
