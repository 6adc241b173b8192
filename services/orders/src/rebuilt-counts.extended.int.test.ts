import { newId } from '@cpg/runtime';
import { rebuild, verify } from '@cpg/stream-relay';
import { type OrdersService, startOrders } from './testing/jest-orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

const dropTriggers = async () => {
  for (const name of ['count_inserted', 'count_updated', 'count_removed'])
    await service.pool.query(`drop trigger ${name} on orders.orders`);
  await service.pool.query('truncate orders.order_counts, orders.order_totals');
};
/** Counts as an earlier migration did. */
const countBy = (count: string) => async () => {
  await dropTriggers();
  await service.pool.query(`create trigger count_inserted after insert on orders.orders
    referencing new table as new_rows for each statement execute function orders.${count}()`);
};

test.each([
  ['without counts', dropTriggers],
  ['with counts of three spans', countBy('count_inserted_orders')],
  ['without totals', countBy('count_inserted_orders_in_5_spans')],
])('counts orders from then on when an earlier version had created the table %s', async (_, makeEarlier) => {
  const merchantId = newId('merchant');
  const countOf = async (span: number) =>
    (
      await service.pool.query<{ count: number | null }>(
        'select sum(count)::int as count from orders.order_totals where merchant_id = $1 and span = $2',
        [merchantId, span],
      )
    ).rows[0]!.count;
  await makeEarlier();
  await service.create({}, merchantId);
  expect(await countOf(12)).toBeNull();
  expect(await verify(service.shadowTableOptions())).toMatchObject({ differ: 0 });
  await rebuild(service.shadowTableOptions());
  expect([await countOf(12), await countOf(120)]).toEqual([1, 1]);
  await service.create({}, merchantId);
  expect([await countOf(12), await countOf(120)]).toEqual([2, 2]);
  expect(await verify(service.shadowTableOptions())).toMatchObject({ differ: 0 });
  await service.pool.query('update orders.order_counts set count = count + 1 where merchant_id = $1', [merchantId]);
  expect(await verify(service.shadowTableOptions())).toMatchObject({ differ: 5 });
  await rebuild(service.shadowTableOptions());
  expect(await verify(service.shadowTableOptions())).toMatchObject({ differ: 0 });
});
