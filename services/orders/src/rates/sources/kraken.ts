import { z } from 'zod';
import { madeAt, MINUTE_MS, positive, type PricedCurrency, type RateSource } from './source.ts';

const PAIRS: ReadonlyMap<string, PricedCurrency> = new Map([
  ['XBT/USD', 'BTC'],
  ['ETH/USD', 'ETH'],
  ['USDT/USD', 'USDT'],
  ['USDC/USD', 'USDC'],
  ['USDG/USD', 'USDG'],
  ['EUR/USD', 'EUR'],
]);

const answerOf = <T extends z.ZodType>(row: T) =>
  z.object({ error: z.array(z.string()).length(0), result: z.record(z.string(), row) });
const AssetPairs = answerOf(z.unknown());
const AssetPair = z.object({ wsname: z.string() });
const Tickers = answerOf(z.unknown());
const Ticker = z.object({ c: z.tuple([z.string()], z.string()) });

/** Kraken's public ticker: the last trade (`c[0]`) of each pair against the US dollar. Pairs have internal keys
 *  (`XXBTZUSD`); `AssetPairs` maps them to names (`wsname`), and only the pairs that are wanted are asked for. Source:
 *  Kraken REST API, "Get Tradable Asset Pairs" and "Get Ticker Information". */
export const kraken: RateSource = {
  name: 'kraken',
  currencies: [...PAIRS.values()],
  maxAgeMs: 5 * MINUTE_MS,
  prices: async (read, currencies, now) => {
    const pairs = AssetPairs.parse(JSON.parse((await read('https://api.kraken.com/0/public/AssetPairs')).body)).result;
    const wanted = Object.entries(pairs).flatMap(([key, row]) => {
      const currency = PAIRS.get(AssetPair.safeParse(row).data?.wsname ?? '');
      return currency && currencies.includes(currency) ? [{ key, currency }] : [];
    });
    if (wanted.length === 0) return [];
    const keys = wanted.map(({ key }) => key).join();
    const answer = await read(`https://api.kraken.com/0/public/Ticker?pair=${keys}`);
    const tickers = Tickers.parse(JSON.parse(answer.body)).result;
    return wanted.flatMap(({ key, currency }) => {
      const usd = positive(Ticker.safeParse(tickers[key]).data?.c[0]);
      return usd ? [{ currency, usd, at: madeAt(answer, now) }] : [];
    });
  },
};
