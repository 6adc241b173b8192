import { z } from 'zod';
import { HOUR_MS, invert, positive, type RateSource } from './source.ts';

const Latest = z.object({
  result: z.literal('success'),
  base_code: z.literal('USD'),
  time_last_update_unix: z.int().positive(),
  rates: z.record(z.string(), z.unknown()),
});

/** The open access rates of ExchangeRate-API: units of each currency per US dollar. It publishes once a day, weekends
 *  too, shortly after midnight UTC, and limits clients that ask more often than about once an hour. It is the second
 *  source of currencies that Coinbase alone prices, and of BRL, for the days without rates of the ECB. Source:
 *  ExchangeRate-API, "Open Access Endpoint". */
export const erapi: RateSource = {
  name: 'erapi',
  currencies: ['BRL', 'COP', 'CLP', 'PEN', 'KWD'],
  maxAgeMs: 27 * HOUR_MS,
  readEveryMs: HOUR_MS,
  isDaily: true,
  prices: async (read, currencies) => {
    const { body } = await read('https://open.er-api.com/v6/latest/USD');
    const { rates, time_last_update_unix: seconds } = Latest.parse(JSON.parse(body));
    const at = new Date(seconds * 1_000);
    return currencies.flatMap((currency) => {
      // Its rates are JSON numbers. `String` writes the digits that were read.
      const perDollar = positive(String(rates[currency]));
      return perDollar ? [{ currency, usd: invert(perDollar), at }] : [];
    });
  },
};
