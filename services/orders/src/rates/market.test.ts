import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FiatCurrency, parseDecimal } from '@cpg/contracts';
import { createLogger } from '@cpg/platform';
import type { AcceptedPrice } from './accepted-prices.ts';
import { marketRates } from './market.ts';
import { bitso } from './sources/bitso.ts';
import { coinbase } from './sources/coinbase.ts';
import { ecb } from './sources/ecb.ts';
import { erapi } from './sources/erapi.ts';
import { kraken } from './sources/kraken.ts';
import { parseMaxAge, PUBLIC_SOURCES, publicSources } from './sources/public.ts';
import type { PricedCurrency, RateSource } from './sources/source.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const NOW = new Date('2026-11-21T05:21:00.000Z');
const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'sources/fixtures', name), 'utf8');

const PATHS = {
  pairs: 'api.kraken.com/0/public/AssetPairs',
  ticker: 'api.kraken.com/0/public/Ticker',
  coinbase: 'api.coinbase.com',
  bitso: 'api.bitso.com',
  ecb: 'www.ecb.europa.eu',
  erapi: 'open.er-api.com',
};
const FIXTURES: Record<string, string> = {
  [PATHS.pairs]: fixture('kraken-asset-pairs.json'),
  [PATHS.ticker]: fixture('kraken-ticker.json'),
  [PATHS.coinbase]: fixture('coinbase.json'),
  [PATHS.bitso]: fixture('bitso.json'),
  [PATHS.ecb]: fixture('ecb.xml'),
  [PATHS.erapi]: fixture('erapi.json'),
};
const bodyAt = (bodies: Readonly<Record<string, string>>, url: string): string | undefined =>
  Object.entries(bodies).find(([path]) => url.includes(path))?.[1];
const readFixture = async (url: string) => ({ body: bodyAt(FIXTURES, url)! });

const market = (
  changes: {
    sources?: RateSource[];
    bodies?: Record<string, string>;
    fixed?: Map<PricedCurrency, ReturnType<typeof parseDecimal>>;
    now?: () => Date;
    nowMs?: () => number;
    answeredAt?: Date;
    sourcesOf?: Map<PricedCurrency, string[]>;
    accepted?: AcceptedPrice[];
  } = {},
) => {
  const stored: AcceptedPrice[] = changes.accepted ?? [];
  const bodies = { ...FIXTURES, ...changes.bodies };
  const asked: string[] = [];
  const warnings: string[] = [];
  const provider = marketRates({
    sources: changes.sources ?? [kraken, coinbase, bitso, ecb],
    fixed: changes.fixed ?? new Map(),
    now: changes.now ?? (() => NOW),
    nowMs: changes.nowMs ?? (() => 0),
    ...(changes.sourcesOf && { sourcesOf: changes.sourcesOf }),
    accepted: { load: async () => [...stored], save: async (prices) => void stored.push(...prices) },
    log: { ...log, warn: (_: unknown, message = '') => void warnings.push(message) },
    read: async (url) => {
      asked.push(url);
      const body = bodyAt(bodies, url);
      if (!body) throw new Error('no answer');
      return { body, ...(changes.answeredAt && { at: changes.answeredAt }) };
    },
  });
  return { ...provider, asked, warnings, stored };
};

const source = (name: string, usd: string, at = NOW, currency: PricedCurrency = 'BTC'): RateSource => ({
  name,
  currencies: [currency],
  maxAgeMs: 300_000,
  prices: async (read) => {
    await read(`https://${name}.example`);
    return [{ currency, usd: parseDecimal(usd), at }];
  },
});
const bodiesOf = (sources: readonly RateSource[]) =>
  Object.fromEntries(sources.map(({ name }) => [`https://${name}.example`, 'x']));

const of = (...sources: RateSource[]) => market({ sources, bodies: bodiesOf(sources) });
/** What a source was believed to say a minute ago. */
const acceptedOf = (name: string, usd: string): AcceptedPrice => ({
  currency: 'BTC',
  source: name,
  usd: parseDecimal(usd),
  at: new Date(NOW.getTime() - 60_000),
});

test('parses the documented answer of each source into dollar prices', async () => {
  const usdOf = async (each: RateSource) => {
    const prices = await each.prices(readFixture, each.currencies, NOW);
    return Object.fromEntries(prices.map(({ currency, usd }) => [currency, Number(usd.units) / 10 ** usd.scale]));
  };
  expect(await usdOf(kraken)).toEqual({
    BTC: 101_250,
    ETH: 3480.15,
    USDT: 1.00005,
    USDC: 1,
    EUR: 1.16005,
    GBP: 1.31,
    AUD: 0.65,
    CAD: expect.closeTo(0.7102, 4),
    CHF: expect.closeTo(1.2407, 4),
    JPY: 0.0064,
  });
  expect(await usdOf(coinbase)).toMatchObject({
    BTC: expect.closeTo(101_317.12, 1),
    MXN: expect.closeTo(0.0545, 3),
    ARS: expect.closeTo(0.00071, 5),
    CLP: expect.closeTo(0.00106, 5),
    KWD: expect.closeTo(3.26, 2),
  });
  expect(await usdOf(bitso)).toMatchObject({
    BTC: 101_240,
    MXN: expect.closeTo(0.0545, 3),
  });
  expect(await usdOf(ecb)).toEqual({
    EUR: 1.16,
    MXN: expect.closeTo(0.0545, 3),
    BRL: expect.closeTo(0.185, 3),
    GBP: expect.closeTo(1.31, 3),
    CHF: expect.closeTo(1.24, 3),
    CAD: expect.closeTo(0.71, 3),
    AUD: expect.closeTo(0.65, 3),
    JPY: 0.0064,
  });
  expect(await usdOf(erapi)).toEqual({
    BRL: expect.closeTo(0.185, 6),
    COP: expect.closeTo(0.00026, 6),
    CLP: expect.closeTo(0.00106, 6),
    PEN: expect.closeTo(0.296, 6),
    KWD: expect.closeTo(3.26, 4),
  });
});

test('every currency of a bank has a price that two sources agree on', async () => {
  const rates = market({ sources: [...PUBLIC_SOURCES] });
  await rates.refresh();
  for (const currency of FiatCurrency.options) {
    const { rate, source } = await rates.quote(currency, 'USDC', NOW);
    expect([currency, Number(rate) > 0, source]).toEqual([currency, true, expect.stringMatching(/kraken|coinbase/)]);
  }
});

test('a daily source vouches for the only exchange, and its own price does not count beside it', async () => {
  const rates = market({ sources: [coinbase, erapi] });
  await rates.refresh();
  expect(await rates.quote('KWD', 'USDC', NOW)).toMatchObject({ source: 'coinbase' });
  const wrong = JSON.stringify({ ...JSON.parse(FIXTURES[PATHS.erapi]!), rates: { KWD: 0.4 } });
  const doubted = market({ sources: [coinbase, erapi], bodies: { [PATHS.erapi]: wrong } });
  await doubted.refresh();
  await expect(doubted.quote('KWD', 'USDC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
});

test('a source that limits its clients is read once an hour, and each minute until it answers', async () => {
  let nowMs = 0;
  let fails = true;
  const limited: RateSource = {
    ...source('limited', '100'),
    readEveryMs: 3_600_000,
    prices: async (read) => {
      await read('https://limited.example');
      return fails ? [] : [{ currency: 'BTC', usd: parseDecimal('100'), at: NOW }];
    },
  };
  const rates = market({ sources: [limited], bodies: bodiesOf([limited]), nowMs: () => nowMs });
  await rates.refresh();
  fails = false;
  await rates.refresh();
  await rates.refresh();
  nowMs = 3_599_999;
  await rates.refresh();
  expect(rates.asked).toHaveLength(2);
  nowMs = 3_600_000;
  await rates.refresh();
  expect(rates.asked).toHaveLength(3);
});

test.each([
  ['another base', { base_code: 'EUR' }],
  ['a failure', { result: 'error', 'error-type': 'unsupported-code' }],
  ['no time', { time_last_update_unix: undefined }],
])('the daily rates are not read from an answer with %s', async (_, change) => {
  const body = JSON.stringify({ ...JSON.parse(FIXTURES[PATHS.erapi]!), ...change });
  await expect(erapi.prices(async () => ({ body }), ['KWD'], NOW)).rejects.toThrow();
});

test('two sources or more price each fiat currency, because one alone is not believed at first', () => {
  const sourcesOf = (currency: PricedCurrency) =>
    PUBLIC_SOURCES.filter(({ currencies }) => currencies.includes(currency));
  const others = FiatCurrency.exclude(['USD']).options;
  expect(others.filter((currency) => sourcesOf(currency).length < 2)).toEqual([]);
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
  const rates = market({ sources: [kraken, coinbase] });
  await expect(rates.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  await rates.refresh();
  await rates.quote('USD', 'BTC', new Date(NOW.getTime() + 300_000));
  await expect(rates.quote('USD', 'BTC', new Date(NOW.getTime() + 300_001))).rejects.toMatchObject({
    code: 'rate_unavailable',
  });
});

describe('a price of BTC', () => {
  const quoteOf = async (
    prices: readonly string[],
    accepted: AcceptedPrice[] = [],
    sourcesOf?: Map<PricedCurrency, string[]>,
  ) => {
    const sources = prices.map((usd, n) => source('abcd'[n]!, usd));
    const rates = market({ sources, bodies: bodiesOf(sources), accepted, ...(sourcesOf && { sourcesOf }) });
    await rates.refresh();
    return rates.quote('BTC' as never, 'USD' as never, NOW).catch(({ code }: { code: string }) => code);
  };
  const refused = 'rate_unavailable';

  test.each([
    ['is the mean of two that agree', ['100', '102'], { rate: '101', source: 'a+b' }],
    ['is the median of three that agree', ['100', '101', '103'], { rate: '101', source: 'a+b+c' }],
    ['is that of two that agree, without a third', ['100', '101', '150'], { source: 'a+b' }],
    ['needs two sources that agree: three apart are none', ['80', '100', '125'], refused],
    ['needs two sources that agree: two apart are none', ['100', '120'], refused],
    ['needs a second source at first', ['100'], refused],
    ['is not chosen between two pairs that differ', ['100', '101', '200', '201'], refused],
  ])('%s', async (_, prices, expected) => {
    if (expected === refused) expect(await quoteOf(prices)).toBe(refused);
    else expect(await quoteOf(prices)).toMatchObject(expected as object);
  });

  test.each([
    ['is believed of one source near its last believed price', ['108'], { rate: '108', source: 'a' }],
    ['is not believed 1,000 times off', ['100000'], refused],
    ['is that of the steady one of two that differ', ['101', '150'], { rate: '101', source: 'a' }],
  ])('%s', async (_, prices, expected) => {
    const quote = await quoteOf(prices, [acceptedOf('a', '100'), acceptedOf('b', '100')]);
    if (expected === refused) expect(quote).toBe(refused);
    else expect(quote).toMatchObject(expected as object);
  });

  test('is believed at first of the only source that the operator named, and then near it', async () => {
    const only = new Map<PricedCurrency, string[]>([['BTC', ['a']]]);
    expect(await quoteOf(['100', '500'], [], only)).toMatchObject({ rate: '100', source: 'a' });
    expect(await quoteOf(['100000'], [acceptedOf('a', '100')], only)).toBe(refused);
  });

  test('is vouched for by a price of the last 24 hours', async () => {
    const aged = (ms: number) => [{ ...acceptedOf('a', '100'), at: new Date(NOW.getTime() - ms) }];
    expect(await quoteOf(['101'], aged(24 * 3_600_000))).toMatchObject({ rate: '101' });
    expect(await quoteOf(['101'], aged(24 * 3_600_000 + 1))).toBe(refused);
  });

  test('vouches for the next one of its source, step by step', async () => {
    let usd = '100';
    const moving: RateSource = {
      ...source('a', '1'),
      prices: async () => [{ currency: 'BTC', usd: parseDecimal(usd), at: NOW }],
    };
    const rates = market({ sources: [moving], sourcesOf: new Map([['BTC', ['a']]]) });
    const quote = () => rates.quote('BTC' as never, 'USD' as never, NOW);
    for (usd of ['100', '109', '118', '128']) await rates.refresh();
    expect(await quote()).toMatchObject({ rate: '128' });
    usd = '100';
    await rates.refresh();
    await expect(quote()).rejects.toMatchObject({ code: refused });
  });

  test('vouches for the next one of its source, also after a restart', async () => {
    const both = [source('a', '100'), source('b', '101')];
    const first = of(...both);
    await first.refresh();
    expect(first.stored.map(({ source: name }) => name)).toEqual(['a', 'b']);
    const alone = [source('a', '104')];
    const next = market({ sources: alone, bodies: bodiesOf(alone), accepted: first.stored });
    await next.refresh();
    expect(await next.quote('BTC' as never, 'USD' as never, NOW)).toMatchObject({ rate: '104', source: 'a' });
  });
});

test.each([
  ['USDT', '1.01', { rate: '1.01', source: 'a' }],
  ['USDC', '1.01', { rate: '1.01', source: 'a' }],
  ['USDG', '1.01', { rate: '1.01', source: 'a' }],
  ['USDG', '1010', 'rate_unavailable'],
] as const)('a stablecoin of one source is believed at its peg: %s, %s', async (currency, usd, expected) => {
  const rates = of(source('a', usd, NOW, currency));
  await rates.refresh();
  const quote = rates.quote(currency, 'USD' as never, NOW);
  if (typeof expected === 'string') await expect(quote).rejects.toMatchObject({ code: expected });
  else expect(await quote).toMatchObject(expected);
});

test('one bad row of an answer costs no other price', async () => {
  const broken = (text: string, change: (answer: never) => void): string => {
    const answer = JSON.parse(text) as never;
    change(answer);
    return JSON.stringify(answer);
  };
  const bodies: Record<string, string> = {
    [PATHS.bitso]: broken(FIXTURES[PATHS.bitso]!, ({ payload }: { payload: unknown[] }) => payload.push({ book: 1 })),
    [PATHS.pairs]: broken(FIXTURES[PATHS.pairs]!, ({ result }: { result: Record<string, unknown> }) => {
      result.NEW = { wsname: null };
    }),
    [PATHS.ticker]: broken(FIXTURES[PATHS.ticker]!, ({ result }: { result: Record<string, unknown> }) => {
      result.NEW = {};
    }),
    [PATHS.coinbase]: broken(FIXTURES[PATHS.coinbase]!, ({ data }: { data: { rates: Record<string, unknown> } }) => {
      data.rates.NEW = null;
    }),
  };
  const rates = market({ bodies });
  await rates.refresh();
  expect((await rates.quote('USD', 'BTC', NOW)).source).toBe('bitso+coinbase+kraken');
});

test('an answer of Bitso that says that it failed has no prices', async () => {
  const failed = JSON.stringify({ ...JSON.parse(FIXTURES[PATHS.bitso]!), success: false });
  await expect(bitso.prices(async () => ({ body: failed }), ['BTC'], NOW)).rejects.toThrow('success');
});

test('asks only for what no fixed price and no setting rules out', async () => {
  const rates = market({
    fixed: new Map([['USDT', parseDecimal('1')]]),
    sourcesOf: new Map([['EUR', ['ecb']]]),
  });
  await rates.refresh();
  const [ticker] = rates.asked.filter((url) => url.includes('Ticker'));
  expect(ticker).toMatch(/\?pair=[A-Z,]*XXBTZUSD/);
  expect(ticker).not.toMatch(/USDT|EUR/);
});

test.each([
  ['zero', '{"data":{"currency":"USD","rates":{"BTC":"0"}}}'],
  ['negative', '{"data":{"currency":"USD","rates":{"BTC":"-1"}}}'],
  ['an exponent', '{"data":{"currency":"USD","rates":{"BTC":"9.8e-06"}}}'],
  ['another shape', '{"data":[]}'],
  ['not JSON', '<html>'],
])('has no rate from an answer with %s', async (_, body) => {
  const rates = market({ sources: [coinbase], bodies: { [PATHS.coinbase]: body } });
  await rates.refresh();
  await expect(rates.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
});

test('reads the other sources when one fails, and pauses that one for at most a minute', async () => {
  let nowMs = 0;
  const sources = [source('a', '100'), source('b', '100'), source('gone', '1')];
  const rates = market({ sources, bodies: bodiesOf(sources.slice(0, 2)), nowMs: () => nowMs });
  const asked = () => rates.asked.filter((url) => url.includes('gone')).length;
  for (let n = 0; n < 5; n += 1) await rates.refresh();
  expect(asked()).toBe(3);
  for (let minute = 1; minute <= 5; minute += 1) {
    nowMs += 60_000;
    await rates.refresh();
    expect(asked()).toBe(3 + minute);
  }
  expect(await rates.quote('USD', 'BTC', NOW)).toMatchObject({ source: 'a+b' });
});

test('a source that answers again counts its failures from the start', async () => {
  let fails = true;
  const shaky: RateSource = {
    ...source('shaky', '100'),
    prices: async (read) => {
      await read('https://shaky.example');
      return fails ? [] : [{ currency: 'BTC', usd: parseDecimal('100'), at: NOW }];
    },
  };
  const rates = market({ sources: [shaky], bodies: bodiesOf([shaky]) });
  for (fails of [true, true, false, true, true, false]) await rates.refresh();
  expect(rates.asked).toHaveLength(6);
  expect(rates.warnings.filter((warning) => warning === 'a rate source could not be read')).toHaveLength(4);
});

test('a source is reported as stale once, and again after it was fresh', async () => {
  let at = NOW;
  const daily: RateSource = {
    ...source('daily', '1'),
    prices: async () => [{ currency: 'BTC', usd: parseDecimal('1'), at }],
  };
  const rates = market({ sources: [daily] });
  const old = new Date(NOW.getTime() - 300_001);
  for (at of [NOW, old, old, NOW, old]) await rates.refresh();
  expect(rates.warnings).toEqual(Array(2).fill('a rate source returns only stale prices'));
});

test('a refresh ends when every source is read and its prices are stored', async () => {
  const later = () => new Promise((resolve) => setImmediate(resolve));
  const slow = (name: string): RateSource => ({
    ...source(name, '100'),
    prices: async () => {
      await later();
      return [{ currency: 'BTC', usd: parseDecimal('100'), at: NOW }];
    },
  });
  const stored: AcceptedPrice[] = [];
  const rates = marketRates({
    sources: [slow('a'), slow('b')],
    fixed: new Map(),
    now: () => NOW,
    accepted: {
      load: async () => [],
      save: async (prices) => {
        await later();
        stored.push(...prices);
      },
    },
    log,
    read: readFixture,
  });
  await rates.refresh();
  expect(stored.map(({ source: name }) => name)).toEqual(['a', 'b']);
});

describe('the background reading', () => {
  /** A source whose reads end when the test says. */
  const reading = () => {
    const ends: (() => void)[] = [];
    const gated: RateSource = {
      ...source('one', '100'),
      prices: async () => {
        await new Promise<void>((resolve) => ends.push(resolve));
        return [{ currency: 'BTC', usd: parseDecimal('100'), at: NOW }];
      },
    };
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const begun = async (count: number) => {
      while (ends.length < count) await turn();
    };
    return { gated, ends, begun, turn };
  };
  const started = (gated: RateSource, everyMs: number) =>
    marketRates({
      sources: [gated],
      fixed: new Map(),
      accepted: { load: async () => [], save: async () => {} },
      read: readFixture,
      now: () => NOW,
      nowMs: () => 0,
      log,
      everyMs,
    }).start();

  test('reads again and again', async () => {
    const { gated, ends, begun } = reading();
    const { stop } = started(gated, 1);
    for (let n = 1; n <= 3; n += 1) {
      await begun(n);
      ends[n - 1]!();
    }
    await begun(4);
    ends[3]!();
    await stop();
  });

  test('pauses between two reads, and ends in the pause', async () => {
    const { gated, ends, begun, turn } = reading();
    const { stop } = started(gated, 3_600_000);
    await begun(1);
    ends[0]!();
    for (let n = 0; n < 20; n += 1) await turn();
    expect(ends).toHaveLength(1);
    await stop();
  });

  test('ends after the read that has begun', async () => {
    const { gated, ends, begun, turn } = reading();
    const { stop } = started(gated, 1);
    await begun(1);
    let isStopped = false;
    const stopped = stop().then(() => (isStopped = true));
    for (let n = 0; n < 20; n += 1) await turn();
    expect(isStopped).toBe(false);
    ends[0]!();
    await stopped;
    expect(ends).toHaveLength(1);
  });
});

describe('the age of a quote', () => {
  const at = (instant: string) => new Date(instant);
  const ecbOf = (day: string) => ({ [PATHS.ecb]: fixture('ecb.xml').replace('2026-11-20', day) });
  const euroQuote = async (now: Date, day = '2026-11-20', sources: RateSource[] = [ecb]) => {
    const rates = market({
      sources,
      bodies: ecbOf(day),
      now: () => now,
      fixed: new Map([['USDC', parseDecimal('1')]]),
      ...(sources.length === 1 && { sourcesOf: new Map([['EUR' as const, ['ecb']]]) }),
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
    expect(limits).toEqual({ kraken: 1 / 12, coinbase: 1 / 12, bitso: 1 / 12, ecb: 100, erapi: 27 });
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
    const wrong = source('wrong', '1.5', NOW, 'EUR');
    const rates = market({ sources: [ecb, wrong], bodies: bodiesOf([wrong]) });
    await rates.refresh();
    await expect(rates.quote('EUR', 'USD' as never, NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  test('counts from when the source made its answer, which a cache may have kept', async () => {
    const onlyKraken = { sources: [kraken], sourcesOf: new Map([['BTC' as const, ['kraken']]]) };
    const rates = market({ ...onlyKraken, answeredAt: at('2026-11-21T05:16:00.000Z') });
    await rates.refresh();
    expect(await rates.quote('USD', 'BTC', NOW)).toMatchObject({ quotedAt: at('2026-11-21T05:16:00.000Z') });
    const stale = market({ ...onlyKraken, answeredAt: at('2026-11-21T05:15:59.000Z') });
    await stale.refresh();
    await stale.refresh();
    expect(stale.warnings).toEqual(['a rate source returns only stale prices']);
    await expect(stale.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  test('is never negative, and a price from the future is no price', async () => {
    const soon = of(source('a', '100', at('2026-11-21T05:21:59.000Z')), source('b', '100'));
    await soon.refresh();
    expect(await soon.quote('USD', 'BTC', NOW)).toMatchObject({ quotedAt: NOW });
    const skewed = of(source('a', '100', at('2026-11-21T05:22:00.000Z')), source('b', '100'));
    await skewed.refresh();
    expect(await skewed.quote('USD', 'BTC', NOW)).toMatchObject({ source: 'a+b' });
    const future = of(source('a', '100', at('2026-11-21T05:22:00.001Z')), source('b', '100'));
    await future.refresh();
    await expect(future.quote('USD', 'BTC', NOW)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  test.each(['ecb', 'ecb=27', 'ecb=0h', 'ecb=169h', 'ecb=1.5h', 'nobody=5m', ''])('cannot be limited by %j', (text) =>
    expect(parseMaxAge(text)).toBeNull(),
  );
});
