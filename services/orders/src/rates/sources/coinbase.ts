import { z } from 'zod';
import { invert, positive } from '../decimals.ts';
import { MINUTE_MS, type Price, type Priced, type RateSource } from './source.ts';

const CURRENCIES: readonly Priced[] = ['BTC', 'ETH', 'USDT', 'USDC', 'EUR', 'MXN', 'ARS'];

const ExchangeRates = z.object({
  data: z.object({ currency: z.literal('USD'), rates: z.record(z.string(), z.string()) }),
});

/** Coinbase's exchange rates: units of each currency per US dollar. Source: Coinbase API v2, "Exchange rates". */
export const coinbase: RateSource = {
  name: 'coinbase',
  urls: ['https://api.coinbase.com/v2/exchange-rates?currency=USD'],
  maxAgeMs: 5 * MINUTE_MS,
  parse: ([body], at) => {
    const { rates } = ExchangeRates.parse(JSON.parse(body ?? '')).data;
    return CURRENCIES.flatMap((currency): Price[] => {
      const perDollar = positive(rates[currency]);
      return perDollar ? [{ currency, usd: invert(perDollar), at }] : [];
    });
  },
};
