import type { Refund } from '@cpg/contracts';
import { newId, newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { projectRefund, refundOf } from '../../testing/jest-resources.ts';

let gateway: TestGateway;
let shop: TestMerchant;
let refunds: Refund[];

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
  refunds = [
    refundOf(`rfd_${newUlid()}`, shop.id, { created_at: '2026-01-01T00:00:00.000Z' }),
    refundOf(`rfd_${newUlid()}`, shop.id, { created_at: '2026-01-02T00:00:00.000Z', currency: 'BTC' }),
    refundOf(`rfd_${newUlid()}`, shop.id, {
      created_at: '2026-01-03T00:00:00.000Z',
      payment_id: newId('payment'),
      order_id: newId('order'),
      status: 'pending',
    }),
  ];
  for (const refund of refunds) await projectRefund(gateway.pool, refund);
});
afterAll(() => gateway.close());

test('returns a refund to its merchant only', async () => {
  const { id } = refunds[0]!;
  expect((await shop.send('GET', `/v1/refunds/${id}`)).body).toEqual(refunds[0]);
  const other = await gateway.merchant();
  for (const [caller, path] of [
    [other, id],
    [shop, newId('refund')],
    [shop, 'rfd_1'],
  ] as const)
    expect(await caller.send('GET', `/v1/refunds/${path}`)).toMatchObject({
      status: 404,
      body: {
        message:
          'no refund has this id. The refund may be deleted, or belong to another merchant. An id starts with "rfd_".',
      },
    });
  expect((await other.send('GET', '/v1/refunds')).body).toMatchObject({ items: [], total: 0 });
});

test('lists refunds newest first, with filters', async () => {
  const listed = async (query: string) => (await shop.send('GET', `/v1/refunds?${query}`)).body.items;
  expect(await listed('')).toEqual(refunds.toReversed());
  expect(await listed('currency=BTC')).toEqual([refunds[1]]);
  expect(await listed('status=pending')).toEqual([refunds[2]]);
  expect(await listed('status=recorded&currency=USDC')).toEqual([refunds[0]]);
  expect(await listed('status=recorded&status=pending')).toEqual(refunds.toReversed());
  expect(await listed('ended_from=2026-01-02T00:00:00Z')).toEqual([refunds[1]]);
  expect(await listed('ended_to=2026-01-01T23:59:59.999Z&status=recorded')).toEqual([refunds[0]]);
  expect(await listed(`payment_id=${refunds[2]!.payment_id}`)).toEqual([refunds[2]]);
  expect(await listed(`order_id=${refunds[0]!.order_id}&sort=asc`)).toEqual([refunds[0], refunds[1]]);
  expect(await listed('from_date=2026-01-03T00:00:00Z&limit=1')).toEqual([refunds[2]]);
});
