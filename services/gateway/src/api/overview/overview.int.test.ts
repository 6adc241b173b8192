import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { availabilityOf, orderOf, paymentOf, projectOrder, projectPayment } from '../../testing/jest-resources.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

// 23:30 of January 30 in Mexico City.
const NOW = '2026-01-31T05:30:00.000Z';

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway({ now: () => new Date(NOW) });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  gateway.payments.respond = () => ({
    status: 200,
    body: availabilityOf({ crypto_deposit: ['BTC', 'USDC'], gateway_pay: ['USDC'] }),
  });
  shop = await gateway.merchant();
});

const read = async (query = '') => (await shop.send('GET', `/v1/merchants/me/overview${query}`)).body;
const orderAt = (created_at: string, more: object = {}, merchantId = shop.id) =>
  projectOrder(gateway.pool, orderOf(`ord_${newUlid()}`, merchantId, { created_at, ...more }));
const paymentAt = (created_at: string, more: object = {}, merchantId = shop.id) =>
  projectPayment(gateway.pool, paymentOf(`pay_${newUlid()}`, merchantId, { created_at, ...more }));

test('a merchant without orders has zeros, and nothing that needs attention', async () => {
  expect(await read()).toEqual({
    as_of: NOW,
    today_from: '2026-01-31T00:00:00.000Z',
    taken_today: {
      count: 0,
      list: '/v1/payments?status=applied&from_date=2026-01-31T00%3A00%3A00.000Z',
      amounts: [],
    },
    waiting: { count: 0, list: '/v1/orders?status=initialized&status=awaiting_payment&status=partially_paid' },
    created: { count: 0, list: '/v1/orders?from_date=2026-01-01T05%3A30%3A00.000Z' },
    converted: { count: 0, list: '/v1/orders?status=paid&from_date=2026-01-01T05%3A30%3A00.000Z' },
    due_back: { count: 0, list: '/v1/payments?due_back=true', amounts: [] },
    needs_attention: [],
  });
});

test('counts and sums are those of the lists that they name, without what is older or of others', async () => {
  const other = await gateway.merchant();
  for (const owner of [shop.id, other.id]) {
    await orderAt('2026-01-30T12:00:00.000Z', { status: 'awaiting_payment' }, owner);
    await orderAt('2026-01-02T12:00:00.000Z', { status: 'paid' }, owner);
    await orderAt('2025-12-01T12:00:00.000Z', { status: 'paid' }, owner);
    await paymentAt('2026-01-31T01:00:00.000Z', { applied_amount: '0.000001' }, owner);
    await paymentAt('2026-01-31T02:00:00.000Z', { applied_amount: '9007199254740993.000001' }, owner);
    await paymentAt('2026-01-30T23:00:00.000Z', { applied_amount: '5.000000' }, owner);
    await paymentAt('2026-01-29T00:00:00.000Z', { status: 'orphan', currency: 'BTC', due_back_amount: '0.5' }, owner);
  }
  const overview = await read();
  expect(overview).toMatchObject({
    taken_today: { count: 2, amounts: [{ currency: 'USDC', amount: '9007199254740993.000002' }] },
    waiting: { count: 1 },
    created: { count: 2 },
    converted: { count: 1 },
    due_back: { count: 1, amounts: [{ currency: 'BTC', amount: '0.5' }] },
    needs_attention: [{ reason: 'orphaned_payments', count: 1, list: '/v1/payments?status=orphan' }],
  });
  const { taken_today, waiting, created, converted, due_back, needs_attention } = overview;
  for (const { count, list } of [taken_today, waiting, created, converted, due_back, ...needs_attention])
    expect([list, (await shop.send('GET', list)).body.total]).toEqual([list, count]);
});

test('today begins in the time zone of the request', async () => {
  await paymentAt('2026-01-30T20:00:00.000Z', { applied_amount: '5.000000' });
  expect(await read('?timezone=America/Mexico_City')).toMatchObject({
    today_from: '2026-01-30T06:00:00.000Z',
    taken_today: { count: 1 },
  });
  expect(await read('?timezone=Asia/Kathmandu')).toMatchObject({ today_from: '2026-01-30T18:15:00.000Z' });
});

test.each(['Mars/Olympus', '+05:30', ''])('the time zone %j is refused', async (timezone) => {
  const answer = await read(`?timezone=${encodeURIComponent(timezone)}`);
  expect(answer).toMatchObject({ statusCode: 400, message: expect.stringContaining('timezone: must be a time zone') });
});

test('keys that expire soon, disabled webhooks and networks that are not read need attention', async () => {
  const expiring = (days: number) => shop.issue({ expiresAt: new Date(Date.parse(NOW) + days * 86_400_000) });
  for (const days of [-1, 13, 15]) await expiring(days);
  const { id } = (
    await shop.send('POST', '/v1/api-keys', { scopes: ['orders:self:read'], expires_at: '2026-02-01T00:00:00Z' })
  ).body;
  await shop.send('POST', `/v1/api-keys/${id}/rotate`, {});
  for (const [name, reason, deletedAt] of [
    ['a', 'its endpoint answered 410', null],
    ['b', null, null],
    ['c', 'its endpoint answered 410', NOW],
  ])
    await gateway.pool.query(
      `insert into gateway.webhooks (id, merchant_id, url, events, secret_box, secret_seed, created_at, disabled_reason, deleted_at)
       values ($1, $2, 'https://shop.example', '{order:paid}', 'box', 'seed', now(), $3, $4)`,
      [`whk_${name}${newUlid()}`, shop.id, reason, deletedAt],
    );
  gateway.payments.respond = () => ({ status: 200, body: withoutNetworks() });
  const { needs_attention } = await read();
  expect(needs_attention).toEqual([
    { reason: 'webhooks_disabled', count: 1, list: '/v1/webhooks' },
    // The rotated key expires after its overlap, and its successor with the date of the first.
    { reason: 'keys_expiring', count: 2, list: '/v1/api-keys' },
    { reason: 'networks_unavailable', count: 1, list: '/v1/currencies' },
  ]);
});

/** Two offers of one network, and one that the merchant does not take. */
const withoutNetworks = () => {
  const network = (name: string, isAvailable: boolean) => ({
    ...{ network: name, chain_id: 'eip155:1', asset: 'eip155:1/slip44:60', minimum_amount: '0.01' },
    is_available: isAvailable,
  });
  const offer = (currency: string, name: string, isAvailable: boolean) => ({
    ...{ currency, is_available: isAvailable, minimum_amount: '0.01' },
    networks: [network(name, isAvailable)],
  });
  return {
    networks: { bitcoin: 1_000 },
    offers: {
      crypto_deposit: [offer('USDC', 'base', false), offer('BTC', 'bitcoin', true), offer('ETH', 'ethereum', false)],
      gateway_pay: [offer('USDC', 'base', false)],
    },
  };
};

test('the rest is shown while payments is unavailable', async () => {
  gateway.payments.respond = () => errorResponse(503, 'dependency_unavailable');
  expect(await read()).toMatchObject({ waiting: { count: 0 }, needs_attention: [] });
});
