import { createApp, createLogger } from '@cpg/platform';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../request.ts';
import { createRateLimits, createTokenBuckets, limitRequestRate } from './rate-limits.ts';

test('allows the burst, then requests at the refill rate', () => {
  let now = 0;
  const buckets = createTokenBuckets({ perSecond: 2, burst: 3, now: () => now });
  const consume = () => buckets.consume('a');
  expect(consume()).toEqual({ allowed: true, limit: 3, remaining: 2, resetSeconds: 1, retryAfterSeconds: 0 });
  expect(consume()).toMatchObject({ allowed: true, remaining: 1, retryAfterSeconds: 0 });
  expect(consume()).toMatchObject({ allowed: true, remaining: 0, retryAfterSeconds: 1 });
  expect(consume()).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 });
  now = 499;
  expect(consume()?.allowed).toBe(false);
  now = 500;
  expect(consume()).toMatchObject({ allowed: true, remaining: 0 });
  expect([buckets.isEmpty('a'), buckets.isEmpty('b')]).toEqual([true, false]);
});

test('a refunded token can be consumed again; a full bucket takes no more', () => {
  const buckets = createTokenBuckets({ perSecond: 1, burst: 2, now: () => 0 });
  buckets.refund('a');
  expect([1, 2, 3].map(() => buckets.consume('a')?.allowed)).toEqual([true, true, false]);
  buckets.refund('a');
  expect([1, 2].map(() => buckets.consume('a')?.allowed)).toEqual([true, false]);
});

test('each id has its own bucket', () => {
  const buckets = createTokenBuckets({ perSecond: 1, burst: 1, now: () => 0 });
  expect(['a', 'a', 'b'].map((id) => buckets.consume(id)?.allowed)).toEqual([true, false, true]);
});

test.each([
  [0, 10],
  [10, 0],
])('%i per second with a burst of %i disables the limit', (perSecond, burst) => {
  const buckets = createTokenBuckets({ perSecond, burst, now: () => 0 });
  expect(buckets.consume('a')).toBeNull();
  expect(buckets.isEmpty('a')).toBe(false);
  expect(() => buckets.refund('a')).not.toThrow();
});

test.each([
  [0, 4],
  [2_000, 2],
  [3_900, 1],
  [4_000, 0],
])('%i ms after the last token of a bucket that gains one in 4 s, a retry has to wait %i s', (ms, seconds) => {
  let now = 0;
  const buckets = createTokenBuckets({ perSecond: 0.25, burst: 1, now: () => now });
  buckets.consume('a');
  now = ms;
  const isEmpty = seconds > 0;
  expect(buckets.isEmpty('a')).toBe(isEmpty);
  expect(buckets.consume('a')).toMatchObject({ allowed: !isEmpty, retryAfterSeconds: isEmpty ? seconds : 4 });
});

test('a process limits requests, failed authentications by the minute, and lookups', () => {
  const { requests, failures, lookups } = createRateLimits({ perSecond: 5, burst: 7, failuresPerMinute: 2 });
  expect(requests.consume('a')).toMatchObject({ limit: 7, resetSeconds: 1 });
  expect(failures.consume('a')).toMatchObject({ limit: 2, resetSeconds: 30 });
  expect(lookups.consume('a')).toMatchObject({ limit: 100, resetSeconds: 1 });
});

describe('requests', () => {
  const start = async (burst: number) => {
    const log = createLogger({ name: 'test', level: 'silent' });
    const app = createApp({ log, trustProxy: true }) as unknown as FastifyInstance;
    app.decorateRequest('caller', null);
    app.addHook('onRequest', async (request) => {
      const kid = request.headers['x-kid'];
      request.caller = kid === undefined ? null : ({ actor: `key:${kid}` } as Caller);
    });
    limitRequestRate(app, createTokenBuckets({ perSecond: 1, burst, now: () => 0 }));
    app.get('/', async () => 'fine');
    await app.ready();
    return async (from: string, kid?: string) => {
      const headers = { 'x-forwarded-for': from, ...(kid !== undefined && { 'x-kid': kid }) };
      const { statusCode: status, headers: answered } = await app.inject({ url: '/', headers });
      return { status, retryAfter: answered['retry-after'], limit: answered['ratelimit-limit'] };
    };
  };

  test('with a key count by key, and others by the network of the client', async () => {
    const send = await start(1);
    const statuses = [];
    for (const [from, kid] of [
      ['192.0.2.1', 'one'],
      ['192.0.2.2', 'one'],
      ['192.0.2.1', 'two'],
      ['192.0.2.1'],
      ['192.0.2.1'],
      ['192.0.2.2'],
    ] as const)
      statuses.push((await send(from, kid)).status);
    expect(statuses).toEqual([200, 429, 200, 200, 429, 200]);
  });

  test('have a time for the retry only when they are refused', async () => {
    const send = await start(1);
    expect(await send('192.0.2.1')).toEqual({ status: 200, retryAfter: undefined, limit: '1' });
    expect(await send('192.0.2.1')).toEqual({ status: 429, retryAfter: '1', limit: '1' });
  });

  test('without a limit have no headers of one', async () => {
    const send = await start(0);
    expect(await send('192.0.2.1')).toEqual({ status: 200, retryAfter: undefined, limit: undefined });
  });
});

test('never allows more than burst plus refill, and allows a request after retryAfterSeconds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(2000), { maxLength: 200 }),
      (perSecond, burst, waits) => {
        let now = 0;
        let passed = 0;
        const buckets = createTokenBuckets({ perSecond, burst, now: () => now });
        for (const wait of waits) {
          now += wait;
          const result = buckets.consume('a')!;
          if (result.allowed) passed += 1;
          else {
            now += result.retryAfterSeconds * 1000;
            expect(buckets.consume('a')?.allowed).toBe(true);
            passed += 1;
          }
        }
        expect(passed).toBeLessThanOrEqual(burst + (now / 1000) * perSecond + 1e-6);
      },
    ),
  );
});
