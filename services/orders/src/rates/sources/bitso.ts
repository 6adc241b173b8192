import { z } from 'zod';
import { invert, positive } from '../decimals.ts';
import { MINUTE_MS, type Price, type Priced, type RateSource } from './source.ts';

// Books are named base_quote. `btc_usd` is the price of the base in dollars; `usd_mxn` is inverted: pesos per dollar.
const BOOKS: Record<string, { currency: Priced; inverted: boolean }> = {
  btc_usd: { currency: 'BTC', inverted: false },
  eth_usd: { currency: 'ETH', inverted: false },
  usd_mxn: { currency: 'MXN', inverted: true },
  usd_ars: { currency: 'ARS', inverted: true },
};

const Tickers = z.object({
  success: z.literal(true),
  payload: z.array(z.object({ book: z.string(), last: z.string(), created_at: z.iso.datetime({ offset: true }) })),
});

/** Bitso's tickers: the last trade of each book, with its time. Source: Bitso API v3, "Ticker". */
export const bitso: RateSource = {
  name: 'bitso',
  urls: ['https://api.bitso.com/v3/ticker/'],
  maxAgeMs: 5 * MINUTE_MS,
  parse: ([body]) =>
    Tickers.parse(JSON.parse(body ?? '')).payload.flatMap(({ book, last, created_at }): Price[] => {
      const known = BOOKS[book];
      const value = positive(last);
      return known && value
        ? [{ currency: known.currency, usd: known.inverted ? invert(value) : value, at: new Date(created_at) }]
        : [];
    }),
};
