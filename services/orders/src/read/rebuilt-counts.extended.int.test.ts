import { newId } from '@cpg/platform';
import { rebuild, verify } from '@cpg/operations';
import { type OrdersService, startOrders } from '../testing/jest-orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

test('a rebuild makes the counts anew, and orders are counted from then on', async () => {
  const merchantId = newId('merchant');
  const counts = async () =>
    (
      await service.pool.query<{ n: number }>(
        'select sum(n)::int as n from orders.order_counts where merchant_id = $1',
        [merchantId],
      )
    ).rows[0]!.n;
  await service.create({}, merchantId);
  expect(await counts()).toBe(2);
  // One wrong count of the day, and one of all days.
  await service.pool.query('update orders.order_counts set n = n + 1 where merchant_id = $1 and n > 0', [merchantId]);
  expect(await verify(service.shadowTableOptions())).toMatchObject({ differ: 2 });
  await rebuild(service.shadowTableOptions());
  expect(await counts()).toBe(2);
  expect(await verify(service.shadowTableOptions())).toMatchObject({ differ: 0 });
  await service.create({}, merchantId);
  expect(await counts()).toBe(4);
  expect(await verify(service.shadowTableOptions())).toMatchObject({ differ: 0 });
});
