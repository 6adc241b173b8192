import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { paymentOf, projectPayment, projectRefund, refundOf } from '../../testing/jest-resources.ts';

// 23:30 of January 30 in Mexico City.
const NOW = '2026-01-31T05:30:00.000Z';
const MEXICO = 'America/Mexico_City';

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway({ now: () => new Date(NOW) });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
});

const read = async (query = {}, merchant = shop) =>
  merchant.send('GET', `/v1/reports/volume?${new URLSearchParams(query)}`);
const paymentAt = (created_at: string, more: object = {}) =>
  projectPayment(gateway.pool, paymentOf(`pay_${newUlid()}`, shop.id, { created_at, ...more }));

test('a merchant without payments has no days', async () => {
  expect((await read()).body).toEqual({ from: '2026-01-18', to: '2026-01-31', timezone: 'UTC', days: [], totals: [] });
  expect((await read({ timezone: MEXICO })).body).toMatchObject({ from: '2026-01-17', to: '2026-01-30' });
});

test('sums are exact, by day of the time zone and by currency, and each is its list', async () => {
  const amounts = { fee_amount: '0.100000', refunded_amount: '0.500000' };
  await paymentAt('2026-01-30T05:59:59.999Z', { applied_amount: '1.000000', ...amounts });
  await paymentAt('2026-01-30T06:00:00.000Z', { applied_amount: '9007199254740993.000001', ...amounts });
  await paymentAt('2026-01-31T05:29:00.000Z', { applied_amount: '0.000001', ...amounts });
  await paymentAt('2026-01-31T05:29:00.000Z', { applied_amount: '0.00000001', fee_amount: '0', currency: 'BTC' });
  await paymentAt('2026-01-31T05:29:00.000Z', { status: 'orphan' });
  const { days } = (await read({ timezone: MEXICO })).body;
  expect(days).toMatchObject([
    { day: '2026-01-29', currency: 'USDC', count: 1, applied_amount: '1.000000' },
    { day: '2026-01-30', currency: 'BTC', count: 1, applied_amount: '0.00000001' },
    {
      day: '2026-01-30',
      currency: 'USDC',
      count: 2,
      applied_amount: '9007199254740993.000002',
      fee_amount: '0.200000',
      refunded_amount: '1.000000',
    },
  ]);
  for (const { list, count } of days) expect((await shop.send('GET', list)).body).toMatchObject({ total: count });
  expect((await read({}, await gateway.merchant())).body.days).toEqual([]);
});

test('a refund is of the day on which it was recorded or settled, also without a payment', async () => {
  const refund = (status: 'pending' | 'recorded' | 'settled', created_at: string, settled_at?: string) =>
    projectRefund(
      gateway.pool,
      refundOf(`rfd_${newUlid()}`, shop.id, {
        ...{ status, created_at, amount: '1.500000' },
        ...(settled_at !== undefined && { settled_at }),
      }),
    );
  await refund('recorded', '2026-01-29T12:00:00.000Z');
  await refund('settled', '2026-01-02T12:00:00.000Z', '2026-01-29T13:00:00.000Z');
  await refund('pending', '2026-01-29T12:00:00.000Z');
  const { days, totals } = (await read({ timezone: MEXICO })).body;
  const sums = { count: 0, applied_amount: '0.000000', fee_amount: '0.000000' };
  expect(days).toMatchObject([{ day: '2026-01-29', ...sums, refunds: { count: 2, amount: '3.000000' } }]);
  expect(totals).toMatchObject([{ currency: 'USDC', ...sums, refunds: { count: 2, amount: '3.000000' } }]);
  expect((await shop.send('GET', days[0].refunds.list)).body.total).toBe(2);
});

test('a day in which the clock goes forward or back is whole', async () => {
  for (const at of ['2026-03-08T05:59:59.999Z', '2026-03-08T06:00:00.000Z', '2026-03-09T04:59:59.999Z'])
    await paymentAt(at, { applied_amount: '1.000000' });
  const { days } = (await read({ timezone: 'America/Chicago', from: '2026-03-07', to: '2026-03-08' })).body;
  expect(days).toMatchObject([
    { day: '2026-03-07', count: 1 },
    { day: '2026-03-08', count: 2 },
  ]);
  expect(days[1].list).toContain('to_date=2026-03-09T04%3A59%3A59.999Z');
  expect((await shop.send('GET', days[1].list)).body.total).toBe(2);
});

test('a day whose midnight comes twice begins with the first one', async () => {
  await paymentAt('2026-11-01T04:30:00.000Z', { applied_amount: '1.000000' });
  const { days } = (await read({ timezone: 'America/Havana', from: '2026-11-01', to: '2026-11-01' })).body;
  expect(days).toMatchObject([{ day: '2026-11-01', count: 1 }]);
  expect((await shop.send('GET', days[0].list)).body.total).toBe(1);
});

test.each([
  [{ from: '2026-02-01', to: '2026-01-31' }, 'to: must not be before 2026-02-01'],
  [{ from: '2025-12-31', to: '2026-01-31' }, 'from: must be 2026-01-01 or later: a period has 31 days at most'],
  [{ from: '2026-01-31T00:00:00Z' }, 'from: must be a date, like 2026-01-31'],
  [{ to: '2026-02-30' }, 'to: must be a date, like 2026-01-31'],
  [{ timezone: '+05:00' }, 'timezone: must be a time zone, like UTC or America/Mexico_City'],
])('%j is refused: %s', async (query, message) => {
  const { status, body } = await read(query);
  expect([status, body.message]).toEqual([400, message]);
});
