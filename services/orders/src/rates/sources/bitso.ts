import { z } from 'zod';
import { invert, MINUTE_MS, positive, type PricedCurrency, type RateSource } from './source.ts';

// Books are named base_quote. `btc_usd` is the price of the base in dollars; `usd_mxn` is inverted: pesos per dollar.
const BOOKS: readonly { book: string; currency: PricedCurrency; inverted: boolean }[] = [
  { book: 'btc_usd', currency: 'BTC', inverted: false },
  { book: 'eth_usd', currency: 'ETH', inverted: false },
  { book: 'usd_mxn', currency: 'MXN', inverted: true },
  { book: 'usd_ars', currency: 'ARS', inverted: true },
];

const Tickers = z.object({ success: z.literal(true), payload: z.array(z.unknown()) });
const Ticker = z.object({ book: z.string(), last: z.string(), created_at: z.iso.datetime({ offset: true }) });

/** Bitso's tickers: the last trade of each book, with its time. Source: Bitso API v3, "Ticker". */
export const bitso: RateSource = {
  name: 'bitso',
  currencies: BOOKS.map(({ currency }) => currency),
  maxAgeMs: 5 * MINUTE_MS,
  prices: async (read, currencies) => {
    const { payload } = Tickers.parse(JSON.parse((await read('https://api.bitso.com/v3/ticker/')).body));
    const rows = payload.flatMap((row) => Ticker.safeParse(row).data ?? []);
    return BOOKS.filter(({ currency }) => currencies.includes(currency)).flatMap(({ book, currency, inverted }) => {
      const row = rows.find((each) => each.book === book);
      const value = positive(row?.last);
      return row && value ? [{ currency, usd: inverted ? invert(value) : value, at: new Date(row.created_at) }] : [];
    });
  },
};
