import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDecimal } from '@cpg/contracts';
import { createLogger } from '@cpg/runtime';
import { marketRates } from './market.ts';
import { bitso } from './sources/bitso.ts';
import { coinbase } from './sources/coinbase.ts';
import { ecb } from './sources/ecb.ts';
import { kraken } from './sources/kraken.ts';
import type { Priced, RateSource } from './sources/source.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const NOW = new Date('2026-11-21T05:21:00.000Z');
const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'sources/fixtures', name), 'utf8');

const FIXTURES: Record<string, string> = {
  [kraken.urls[0]!]: fixture('kraken-asset-pairs.json'),
  [kraken.urls[1]!]: fixture('kraken-ticker.json'),
  [coinbase.urls[0]!]: fixture('coinbase.json'),
  [bitso.urls[0]!]: fixture('bitso.json'),
  [ecb.urls[0]!]: fixture('ecb.xml'),
};

const market = (
  changes: {
    sources?: RateSource[];
    bodies?: Record<string, string>;
    fixed?: Map<Priced, ReturnType<typeof parseDecimal>>;
    now?: () => Date;
  } = {},
) => {
  const bodies = { ...FIXTURES, ...changes.bodies };
  const asked: string[] = [];
  const provider = marketRates({
    sources: changes.sources ?? [kraken, coinbase, bitso, ecb],
    fixed: changes.fixed ?? new Map(),
    now: changes.now ?? (() => NOW),
    log,
    read: async (url) => {
      asked.push(url);
      const body = bodies[url];
      if (!body) throw new Error('no answer');
      return body;
    },
  });
  return { ...provider, asked };
};

const source = (name: string, usd: string, at = NOW): RateSource => ({
  name,
  urls: [name],
  maxAgeMs: 300_000,
  parse: () => [{ currency: 'BTC', usd: parseDecimal(usd), at }],
});

const of = (...sources: RateSource[]) =>
  market({ sources, bodies: Object.fromEntries(sources.map(({ name }) => [name, 'x'])) });

test('parses the documented answer of each source into dollar prices', () => {
  const usdOf = (prices: ReturnType<RateSource['parse']>) =>
    Object.fromEntries(prices.map(({ currency, usd }) => [currency, Number(usd.units) / 10 ** usd.scale]));
  expect(usdOf(kraken.parse([FIXTURES[kraken.urls[0]!]!, FIXTURES[kraken.urls[1]!]!], NOW))).toEqual({
    BTC: 101_250,
    ETH: 3480.15,
    USDT: 1.00005,
    USDC: 1,
    EUR: 1.16005,
  });
  expect(usdOf(coinbase.parse([FIXTURES[coinbase.urls[0]!]!], NOW))).toMatchObject({
    BTC: expect.closeTo(101_317.12, 1),
    MXN: expect.closeTo(0.0545, 3),
    ARS: expect.closeTo(0.00071, 5),
  });
  expect(usdOf(bitso.parse([FIXTURES[bitso.urls[0]!]!], NOW))).toMatchObject({
    BTC: 101_240,
    MXN: expect.closeTo(0.0545, 3),
  });
  expect(usdOf(ecb.parse([FIXTURES[ecb.urls[0]!]!], NOW))).toEqual({ EUR: 1.16, MXN: expect.closeTo(0.0545, 3) });
});

test('quotes the median of the sources through the dollar, and names the sources', async () => {
  const rates = market();
  await rates.refresh();
  const quote = await rates.quote('MXN', 'USDC', NOW);
  expect(Number(quote.rate)).toBeCloseTo(0.0545, 4);
  expect(quote.source).toBe('bitso+coinbase+ecb+kraken');
  expect((await rates.quote('USD', 'BTC', NOW)).rate.startsWith('0.0000098')).toBe(true);
});

test('has no rate for a currency without a source, unless the operator sets a fixed price', async () => {
  const rates = market();
  await rates.refresh();
  await expect(rates.quote('USD', 'CAZ', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  const withFixedPrice = market({ fixed: new Map([['CAZ', parseDecimal('0.25')]]) });
  await withFixedPrice.refresh();
  expect(await withFixedPrice.quote('USD', 'CAZ', NOW)).toMatchObject({ rate: '4', source: 'fixed' });
});

test('has no rate before the first refresh, and none from stale prices', async () => {
  const rates = market({ sources: [kraken] });
  await expect(rates.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  await rates.refresh();
  await rates.quote('USD', 'BTC', new Date(NOW.getTime() + 300_000));
  await expect(rates.quote('USD', 'BTC', new Date(NOW.getTime() + 300_001))).rejects.toMatchObject({
    code: 'rate_unavailable',
  });
});

test('ignores an outlier, and has no rate when the only two sources disagree', async () => {
  const three = of(source('a', '100'), source('b', '101'), source('c', '150'));
  await three.refresh();
  expect(await three.quote('USD', 'BTC', NOW)).toMatchObject({ source: 'a+b' });
  const two = of(source('a', '100'), source('b', '120'));
  await two.refresh();
  await expect(two.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
});

test.each([
  ['zero', '{"data":{"currency":"USD","rates":{"BTC":"0"}}}'],
  ['negative', '{"data":{"currency":"USD","rates":{"BTC":"-1"}}}'],
  ['an exponent', '{"data":{"currency":"USD","rates":{"BTC":"9.8e-06"}}}'],
  ['another shape', '{"data":[]}'],
  ['not JSON', '<html>'],
])('has no rate from an answer with %s', async (_, body) => {
  const rates = market({ sources: [coinbase], bodies: { [coinbase.urls[0]!]: body } });
  await rates.refresh();
  await expect(rates.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
});

test('reads the other sources when one fails, and pauses that one after three failures', async () => {
  let now = NOW;
  const rates = market({ sources: [coinbase, source('gone', '1')], now: () => now });
  for (let n = 0; n < 5; n += 1) await rates.refresh();
  expect(rates.asked.filter((url) => url === 'gone')).toHaveLength(3);
  now = new Date(NOW.getTime() + 30_000);
  await rates.refresh();
  expect(rates.asked.filter((url) => url === 'gone')).toHaveLength(4);
  expect(await rates.quote('USD', 'BTC', now)).toMatchObject({ source: 'coinbase' });
});
