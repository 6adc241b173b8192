import { z } from 'zod';
import { positive } from '../decimals.ts';
import { MINUTE_MS, type Price, type Priced, type RateSource } from './source.ts';

const PAIRS: Record<string, Priced> = {
  'XBT/USD': 'BTC',
  'ETH/USD': 'ETH',
  'USDT/USD': 'USDT',
  'USDC/USD': 'USDC',
  'USDG/USD': 'USDG',
  'EUR/USD': 'EUR',
};

const AssetPairs = z.object({
  error: z.array(z.string()).length(0),
  result: z.record(z.string(), z.object({ wsname: z.string().optional() })),
});
const Ticker = z.object({
  error: z.array(z.string()).length(0),
  result: z.record(z.string(), z.object({ c: z.tuple([z.string()], z.string()) })),
});

/** Kraken's public ticker: the last trade (`c[0]`) of each pair against the US dollar. Pairs have internal keys
 *  (`XXBTZUSD`); `AssetPairs` maps them to names (`wsname`). Source: Kraken REST API, "Get Tradable Asset Pairs" and
 *  "Get Ticker Information". */
export const kraken: RateSource = {
  name: 'kraken',
  urls: ['https://api.kraken.com/0/public/AssetPairs', 'https://api.kraken.com/0/public/Ticker'],
  maxAgeMs: 5 * MINUTE_MS,
  parse: ([pairs, ticker], at) => {
    const names = AssetPairs.parse(JSON.parse(pairs ?? '')).result;
    return Object.entries(Ticker.parse(JSON.parse(ticker ?? '')).result).flatMap(([key, { c }]): Price[] => {
      const currency = PAIRS[names[key]?.wsname ?? ''];
      const usd = positive(c[0]);
      return currency && usd ? [{ currency, usd, at }] : [];
    });
  },
};
