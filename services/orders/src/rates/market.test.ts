import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDecimal } from '@cpg/contracts';
import { createLogger } from '@cpg/runtime';
import { marketRates } from './market.ts';
import { bitso } from './sources/bitso.ts';
import { coinbase } from './sources/coinbase.ts';
import { ecb } from './sources/ecb.ts';
import { kraken } from './sources/kraken.ts';
import { parseMaxAge, publicSources } from './sources/public.ts';
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
    answeredAt?: Date;
  } = {},
) => {
  const bodies = { ...FIXTURES, ...changes.bodies };
  const asked: string[] = [];
  const warnings: string[] = [];
  const provider = marketRates({
    sources: changes.sources ?? [kraken, coinbase, bitso, ecb],
    fixed: changes.fixed ?? new Map(),
    now: changes.now ?? (() => NOW),
    log: { ...log, warn: (_: unknown, message = '') => void warnings.push(message) },
    read: async (url) => {
      asked.push(url);
      const body = bodies[url];
      if (!body) throw new Error('no answer');
      return { body, ...(changes.answeredAt && { at: changes.answeredAt }) };
    },
  });
  return { ...provider, asked, warnings };
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
  expect(quote.source).toBe('bitso+coinbase+kraken');
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

describe('the age of a quote', () => {
  const at = (instant: string) => new Date(instant);
  const ecbOf = (day: string) => ({ [ecb.urls[0]!]: fixture('ecb.xml').replace('2026-11-20', day) });
  const euroQuote = async (now: Date, day = '2026-11-20', sources: RateSource[] = [ecb]) => {
    const rates = market({
      sources,
      bodies: ecbOf(day),
      now: () => now,
      fixed: new Map([['USDC', parseDecimal('1')]]),
    });
    await rates.refresh();
    return rates.quote('EUR', 'USDC', now);
  };

  test.each([
    ['in winter', '2026-11-20', '2026-11-20T13:15:00.000Z'],
    ['in summer', '2026-07-20', '2026-07-20T12:15:00.000Z'],
  ])('is that of the ECB, 14:15 in Frankfurt, where it is the only source %s', async (_, day, agreed) => {
    const now = new Date(Date.parse(agreed) + 27 * 3_600_000);
    expect(await euroQuote(now, day)).toEqual({ rate: '1.16', source: 'ecb+fixed', quotedAt: at(agreed) });
  });

  test('is too high from the time when the rates of the next working day are due', async () => {
    await expect(euroQuote(at('2026-11-21T16:15:00.001Z'))).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  test('is limited for each source by a setting', async () => {
    const fourDays = publicSources(new Map([parseMaxAge('ecb=100h')!]));
    const limits = Object.fromEntries(fourDays.map(({ name, maxAgeMs }) => [name, maxAgeMs / 3_600_000]));
    expect(limits).toEqual({ kraken: 1 / 12, coinbase: 1 / 12, bitso: 1 / 12, ecb: 100 });
    const monday = at('2026-11-23T15:00:00.000Z');
    const patient = fourDays.filter(({ name }) => name === 'ecb');
    expect(await euroQuote(monday, '2026-11-20', patient)).toMatchObject({ quotedAt: at('2026-11-20T13:15:00.000Z') });
    await expect(euroQuote(monday)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  test('is not raised by a daily source beside one that trades', async () => {
    const quote = await euroQuote(NOW, '2026-11-20', [ecb, kraken]);
    expect(quote).toEqual({ rate: '1.16005', source: 'fixed+kraken', quotedAt: NOW });
  });

  test('a daily source still shows that the only other price is wrong', async () => {
    const wrong = {
      ...source('wrong', '1'),
      parse: () => [{ currency: 'EUR' as const, usd: parseDecimal('1.5'), at: NOW }],
    };
    const rates = market({ sources: [ecb, wrong], bodies: { wrong: 'x' } });
    await rates.refresh();
    await expect(rates.quote('EUR', 'USD' as never, NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  test('counts from when the source made its answer, which a cache may have kept', async () => {
    const rates = market({ sources: [kraken], answeredAt: at('2026-11-21T05:16:00.000Z') });
    await rates.refresh();
    expect(await rates.quote('USD', 'BTC', NOW)).toMatchObject({ quotedAt: at('2026-11-21T05:16:00.000Z') });
    const stale = market({ sources: [kraken], answeredAt: at('2026-11-21T05:15:59.000Z') });
    await stale.refresh();
    await stale.refresh();
    expect(stale.warnings).toEqual(['a rate source returns only stale prices']);
    await expect(stale.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  test('is never negative, and a price from the future is no price', async () => {
    const soon = of(source('a', '100', at('2026-11-21T05:21:59.000Z')));
    await soon.refresh();
    expect(await soon.quote('USD', 'BTC', NOW)).toMatchObject({ quotedAt: NOW });
    const future = of(source('a', '100', at('2036-11-21T05:21:00.000Z')));
    await future.refresh();
    await expect(future.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  test.each(['ecb', 'ecb=27', 'ecb=0h', 'ecb=169h', 'ecb=1.5h', 'nobody=5m', ''])('cannot be limited by %j', (text) =>
    expect(parseMaxAge(text)).toBeNull(),
  );
});
