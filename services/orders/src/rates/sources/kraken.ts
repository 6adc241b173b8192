import { z } from 'zod';
import { invert, madeAt, MINUTE_MS, positive, type PricedCurrency, type RateSource } from './source.ts';

// `XBT/USD` is the price of the base in dollars; `USD/JPY` is inverted: yen per dollar.
const PAIRS: ReadonlyMap<string, { currency: PricedCurrency; inverted?: true }> = new Map([
  ['XBT/USD', { currency: 'BTC' }],
  ['ETH/USD', { currency: 'ETH' }],
  ['USDT/USD', { currency: 'USDT' }],
  ['USDC/USD', { currency: 'USDC' }],
  ['USDG/USD', { currency: 'USDG' }],
  ['EUR/USD', { currency: 'EUR' }],
  ['GBP/USD', { currency: 'GBP' }],
  ['AUD/USD', { currency: 'AUD' }],
  ['USD/CAD', { currency: 'CAD', inverted: true }],
  ['USD/CHF', { currency: 'CHF', inverted: true }],
  ['USD/JPY', { currency: 'JPY', inverted: true }],
]);

const answerOf = <T extends z.ZodType>(row: T) =>
  z.object({ error: z.array(z.string()).length(0), result: z.record(z.string(), row) });
const AssetPairs = answerOf(z.unknown());
const AssetPair = z.object({ wsname: z.string() });
const Tickers = answerOf(z.unknown());
const Ticker = z.object({ c: z.tuple([z.string()], z.string()) });

/** Kraken's public ticker: the last trade (`c[0]`) of each pair with the US dollar. Pairs have internal keys
 *  (`XXBTZUSD`); `AssetPairs` maps them to names (`wsname`), and only the pairs that are wanted are asked for. Source:
 *  Kraken REST API, "Get Tradable Asset Pairs" and "Get Ticker Information". */
export const kraken: RateSource = {
  name: 'kraken',
  currencies: [...PAIRS.values()].map(({ currency }) => currency),
  maxAgeMs: 5 * MINUTE_MS,
  prices: async (read, currencies, now) => {
    const pairs = AssetPairs.parse(JSON.parse((await read('https://api.kraken.com/0/public/AssetPairs')).body)).result;
    const wanted = Object.entries(pairs).flatMap(([key, row]) => {
      const pair = PAIRS.get(AssetPair.safeParse(row).data?.wsname ?? '');
      return pair && currencies.includes(pair.currency) ? [{ key, ...pair }] : [];
    });
    if (wanted.length === 0) return [];
    const keys = wanted.map(({ key }) => key).join();
    const answer = await read(`https://api.kraken.com/0/public/Ticker?pair=${keys}`);
    const tickers = Tickers.parse(JSON.parse(answer.body)).result;
    return wanted.flatMap(({ key, currency, inverted }) => {
      const last = positive(Ticker.safeParse(tickers[key]).data?.c[0]);
      return last ? [{ currency, usd: inverted ? invert(last) : last, at: madeAt(answer, now) }] : [];
    });
  },
};
