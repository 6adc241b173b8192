import { makeApiKey } from '../keys/api-key.ts';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { orderBody } from '../../testing/jest-resources.ts';
import { send } from '../../testing/jest-send.ts';

const LIMITED = {
  error: 'Rate limit exceeded',
  message: 'Too many requests. Please try again later.',
  statusCode: 429,
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ perSecond: 0.5, burst: 3, failuresPerMinute: 2 });
});
afterAll(() => gateway.close());

test('a key over its limit is 429 with rate limit headers, before other checks', async () => {
  const merchant = await gateway.merchant({ scopes: ['orders:self:read'] });
  const answers = [];
  for (let request = 0; request < 5; request += 1) answers.push(await merchant.send('POST', '/v1/orders', orderBody()));
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 429, 429]);
  expect(answers[0]?.headers).toMatchObject({
    'ratelimit-limit': '3',
    'ratelimit-remaining': '2',
    'ratelimit-reset': '2',
  });
  expect(answers[3]?.body).toMatchObject({ ...LIMITED, code: 'rate_limited' });
  expect(answers[3]?.headers).toMatchObject({ 'ratelimit-remaining': '0', 'retry-after': '2' });
  const other = await gateway.merchant();
  expect((await other.send('GET', '/v1/orders')).status).toBe(200);
});

test('an address with too many failures is 429, but a valid key still works from it', async () => {
  const guess = (from: string) =>
    send(gateway.app, 'GET', '/v1/orders', undefined, {
      'x-api-key': `ak_sandbox_${'b'.repeat(40)}`,
      'x-forwarded-for': from,
    });
  const statuses = [];
  for (let request = 0; request < 4; request += 1) statuses.push((await guess('198.51.100.7')).status);
  expect(statuses).toEqual([401, 401, 429, 429]);
  const last = await guess('198.51.100.7');
  expect(last.body).toMatchObject(LIMITED);
  expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
  expect((await guess('198.51.100.8')).status).toBe(401);
  const valid = await gateway.merchant();
  expect((await valid.send('GET', '/v1/orders', undefined, { 'x-forwarded-for': '198.51.100.7' })).status).toBe(200);
});

describe('an address with too many failures', () => {
  const FROM = '2001:db8:1:2::7';
  const use = (key: string, from = FROM) =>
    send(gateway.app, 'GET', '/v1/orders', undefined, { 'x-api-key': key, 'x-forwarded-for': from });
  const guess = (from: string) => use(makeApiKey('sandbox').text, from);

  test('shares its limit with its /64', async () => {
    const statuses = [];
    for (const host of [1, 2, 3]) statuses.push((await guess(`2001:db8:9:9::${host}`)).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect((await guess('2001:db8:9:8::1')).status).toBe(401);
  });

  test('costs a bounded number of queries, and a new key still works from it', async () => {
    const queries: number[] = [];
    const query = gateway.authentication.query.bind(gateway.authentication) as (...args: unknown[]) => unknown;
    gateway.authentication.query = ((...args: unknown[]) => {
      queries.push((args[1] as [string[]])[0].length);
      return query(...args);
    }) as never;
    const statuses = (await Promise.all(Array.from({ length: 300 }, () => guess(FROM)))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(2);
    expect(queries.length).toBeLessThan(60);
    queries.length = 0;
    await Promise.all(Array.from({ length: 300 }, () => guess(FROM)));
    expect(queries.reduce((sum, kids) => sum + kids, 0)).toBeLessThan(130);
    gateway.authentication.query = query as never;
  });

  test('is 429 for a guessed SCRYPT secret before it is verified, also for concurrent guesses', async () => {
    const { key, issue } = await gateway.merchant();
    const slowKey = await issue({ alg: 'SCRYPT' });
    const from = '198.51.100.99';
    const others = [...'012345678'].filter((last) => !slowKey.endsWith(last)).slice(0, 8);
    const guesses = others.map((last) => use(`${slowKey.slice(0, -1)}${last}`, from));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
    expect(statuses).toEqual([401, 401, 429, 429, 429, 429, 429, 429]);
    expect((await use(key, from)).status).toBe(200);
  });

  test('a success takes nothing from the limit', async () => {
    const { issue } = await gateway.merchant();
    const from = '198.51.100.100';
    for (let i = 0; i < 3; i++) expect((await use(await issue({ alg: 'SCRYPT' }), from)).status).toBe(200);
    expect((await guess(from)).status).toBe(401);
  });
});
