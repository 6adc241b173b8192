import { FiatCurrency } from '@cpg/contracts';
import { z } from 'zod';
import { invert, madeAt, MINUTE_MS, positive, type RateSource } from './source.ts';

const ExchangeRates = z.object({
  data: z.object({ currency: z.literal('USD'), rates: z.record(z.string(), z.unknown()) }),
});

/** Coinbase's exchange rates: units of each currency per US dollar. Source: Coinbase API v2, "Exchange rates". */
export const coinbase: RateSource = {
  name: 'coinbase',
  currencies: ['BTC', 'ETH', 'USDT', 'USDC', ...FiatCurrency.exclude(['USD']).options],
  maxAgeMs: 5 * MINUTE_MS,
  prices: async (read, currencies, now) => {
    const answer = await read('https://api.coinbase.com/v2/exchange-rates?currency=USD');
    const { rates } = ExchangeRates.parse(JSON.parse(answer.body)).data;
    return currencies.flatMap((currency) => {
      const perDollar = positive(rates[currency]);
      return perDollar ? [{ currency, usd: invert(perDollar), at: madeAt(answer, now) }] : [];
    });
  },
};
