import type { Item, ItemCurrency, PaymentCurrency, Rates } from '@cpg/contracts';
import { price, refuseNegativeSums, sumsOf } from '../order/pricing.ts';

interface Quote {
  /** Units of the payment currency for one unit of the item currency: a positive decimal string. */
  readonly rate: string;
  readonly source: string;
  readonly quotedAt: Date;
}

/** A source of rates. `quote` throws AppError `rate_unavailable` if it has no fresh rate; it never returns a zero,
 *  stale or invented one. */
export interface RateProvider {
  readonly quote: (base: ItemCurrency, currency: PaymentCurrency, now: Date) => Promise<Quote>;
}

/** Locks the rates of all item currencies until `expiresAt` and prices the items with them, in multiples of `stepMinor`
 *  minor units of `currency`, which have `decimals`. Throws `rate_unavailable` without fresh rates, and
 *  `invalid_request` for a total of zero or one that is too large, and for a negative sum of a currency. */
export const quoteItems = async (
  provider: RateProvider,
  items: readonly Item[],
  currency: PaymentCurrency,
  { decimals, stepMinor, ...validity }: { now: Date; expiresAt: string; decimals: number; stepMinor: bigint },
): Promise<{ rates: Rates; pricedMinor: bigint }> => {
  const sums = sumsOf(items);
  refuseNegativeSums(sums);
  const rates = await lockRates(provider, [...sums.keys()], currency, validity);
  return { rates, pricedMinor: price(sums, rates, decimals, stepMinor) };
};

/** The rate of a price currency in a payment currency: "1" in itself. Throws `rate_unavailable`. */
export const quoteOf = async (
  provider: RateProvider,
  base: ItemCurrency,
  currency: PaymentCurrency,
  now: Date,
): Promise<Quote> =>
  base === (currency as string)
    ? { rate: '1', source: 'identity', quotedAt: now }
    : provider.quote(base, currency, now);

/** The rates of an order, locked until `expiresAt`. */
const lockRates = async (
  provider: RateProvider,
  bases: readonly ItemCurrency[],
  currency: PaymentCurrency,
  { now, expiresAt }: { now: Date; expiresAt: string },
): Promise<Rates> => {
  const entries = await Promise.all(
    bases.map(async (base) => {
      const { rate, source, quotedAt } = await quoteOf(provider, base, currency, now);
      return [base, { rate, source, quoted_at: quotedAt.toISOString(), expires_at: expiresAt }] as const;
    }),
  );
  return Object.fromEntries(entries);
};
