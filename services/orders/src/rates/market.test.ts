import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDecimal } from '@cpg/contracts';
import { createLogger } from '@cpg/runtime';
import { breaker } from './breaker.ts';
import { median } from './decimals.ts';
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

test('each source says in dollars what its documented answer says', () => {
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

test('a rate is the median of the sources, crossed over the dollar, and names them', async () => {
  const rates = market();
  await rates.refresh();
  const quote = await rates.quote('MXN', 'USDC', NOW);
  expect(Number(quote.rate)).toBeCloseTo(0.0545, 4);
  expect(quote.source).toBe('bitso+coinbase+ecb+kraken');
  expect((await rates.quote('USD', 'BTC', NOW)).rate.startsWith('0.0000098')).toBe(true);
});

test('what no source has is unavailable, unless the operator vouches for it', async () => {
  const rates = market();
  await rates.refresh();
  await expect(rates.quote('USD', 'CAZ', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  const vouched = market({ fixed: new Map([['CAZ', parseDecimal('0.25')]]) });
  await vouched.refresh();
  expect(await vouched.quote('USD', 'CAZ', NOW)).toMatchObject({ rate: '4', source: 'fixed' });
});

test('before the first reading, and once readings are stale, there is no rate', async () => {
  const rates = market({ sources: [kraken] });
  await expect(rates.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  await rates.refresh();
  await rates.quote('USD', 'BTC', new Date(NOW.getTime() + 300_000));
  await expect(rates.quote('USD', 'BTC', new Date(NOW.getTime() + 300_001))).rejects.toMatchObject({
    code: 'rate_unavailable',
  });
});

test('an outlier is left out; where two disagree there is no rate', async () => {
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
])('an answer with %s gives no rate', async (_, body) => {
  const rates = market({ sources: [coinbase], bodies: { [coinbase.urls[0]!]: body } });
  await rates.refresh();
  await expect(rates.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
});

test('a source that fails does not take the others along, and is left alone after three failures', async () => {
  let now = NOW;
  const rates = market({ sources: [coinbase, source('gone', '1')], now: () => now });
  for (let n = 0; n < 5; n += 1) await rates.refresh();
  expect(rates.asked.filter((url) => url === 'gone')).toHaveLength(3);
  now = new Date(NOW.getTime() + 30_000);
  await rates.refresh();
  expect(rates.asked.filter((url) => url === 'gone')).toHaveLength(4);
  expect(await rates.quote('USD', 'BTC', now)).toMatchObject({ source: 'coinbase' });
});

test('a breaker closes for longer each time and opens with the first success', () => {
  const at = (seconds: number) => new Date(seconds * 1000);
  const guard = breaker({ after: 2, pauseMs: 1_000, maxPauseMs: 3_000 });
  guard.failed(at(0));
  expect(guard.allows(at(0))).toBe(true);
  guard.failed(at(0));
  expect([guard.allows(at(0.9)), guard.allows(at(1))]).toEqual([false, true]);
  guard.failed(at(1));
  expect([guard.allows(at(2.9)), guard.allows(at(3))]).toEqual([false, true]);
  guard.failed(at(3));
  expect([guard.allows(at(5.9)), guard.allows(at(6))]).toEqual([false, true]);
  guard.succeeded();
  expect(guard.allows(at(0))).toBe(true);
});

test('the median is the middle, or the mean of the two in the middle', () => {
  const of = (...texts: string[]) => median(texts.map(parseDecimal));
  expect(of('3', '1', '2')).toEqual({ units: 20n, scale: 1 });
  expect(of('1', '2.5')).toEqual({ units: 175n, scale: 2 });
});
