import type { Client, Currencies, PaymentCurrency, Rail } from '@cpg/sdk';
import { decimalsOf, minorOfDecimal, type Money } from './money/amount.ts';
import { ask, type Fault } from './outcome.ts';

/** A coin with which a cart can be paid now. */
export interface Coin {
  readonly currency: PaymentCurrency;
  readonly rails: readonly Rail[];
}

const KEPT_MS = 60_000;
const STALE_MS = 10 * 60_000;

export type Coins = (total: Money) => Promise<readonly Coin[] | Fault>;

/** Says with which coins a sum can be paid, so that a shop hides the rest. Keeps the answer of the gateway for a
 *  minute, and for ten while the gateway is unreachable. */
export const createCoins = (client: Client, nowMs: () => number): Coins => {
  let known: { readonly currencies: Currencies; readonly atMs: number } | undefined;
  return async (total) => {
    if (!known || nowMs() - known.atMs > KEPT_MS) {
      const answer = await ask(() => client.getCurrencies());
      if (answer.ok) known = { currencies: answer.value, atMs: nowMs() };
      else if (!known || nowMs() - known.atMs > STALE_MS) return answer.fault;
    }
    return coinsFor(known.currencies, total);
  };
};

/** The coins that the gateway takes now for this sum. */
export const coinsFor = ({ price_currencies, payment_currencies }: Currencies, { minor, currency }: Money): Coin[] => {
  if (!price_currencies.some((price) => price.currency === currency && price.is_available)) return [];
  const isWithin = (limit: { minimum_amount: string; maximum_amount: string }) => {
    const [least, most] = [limit.minimum_amount, limit.maximum_amount].map((text) =>
      minorOfDecimal(text, decimalsOf(currency)),
    );
    return minor >= least! && minor <= most!;
  };
  return payment_currencies
    .map((coin) => ({
      currency: coin.currency,
      rails: coin.rails
        .filter(({ is_available, limits }) => {
          const limit = limits.find((one) => one.currency === currency);
          return is_available && limit !== undefined && isWithin(limit);
        })
        .map(({ rail }) => rail),
    }))
    .filter(({ rails }) => rails.length > 0);
};
