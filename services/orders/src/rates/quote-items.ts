import type { Item, PaymentCurrency, Rates } from '@cpg/contracts';
import { currenciesOf, price } from '../order/pricing.ts';
import { lockRates, type RateProvider } from './rates.ts';

/** Locks the rates of all item currencies until `expiresAt` and prices the items with them, in multiples of `stepMinor`
 *  minor units of `currency`. Throws `rate_unavailable` without fresh rates, and `invalid_request` for a total of zero or one that is
 *  too large. */
export const quoteItems = async (
  provider: RateProvider,
  items: readonly Item[],
  currency: PaymentCurrency,
  { stepMinor, ...validity }: { now: Date; expiresAt: string; stepMinor: bigint },
): Promise<{ rates: Rates; pricedMinor: bigint }> => {
  const rates = await lockRates(provider, currenciesOf(items), currency, validity);
  return { rates, pricedMinor: price(items, rates, currency, stepMinor) };
};
