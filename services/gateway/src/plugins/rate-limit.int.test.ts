import { startGateway, type TestGateway } from '../testing/jest-gateway.ts';
import { orderBody } from '../testing/jest-resources.ts';
import { send } from '../testing/jest-send.ts';

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
