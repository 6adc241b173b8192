import { newId } from '@cpg/platform';
import { rebuild } from '@cpg/operations';
import { type OrdersService, startOrders } from '../testing/jest-orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

/** More than the 2 KB from which PostgreSQL compresses rows by default. */
const items = Array.from({ length: 20 }, (_, n) => ({
  name: `Coffee of the house, number ${n}`,
  quantity: 1,
  unit_price: '4.50',
  currency: 'MXN',
}));

const storedOf = async (merchantId: string) => {
  const { rows } = await service.pool.query<{ compression: string | null; bytes: number; names: string[] }>(
    `select pg_column_compression(resource) as compression, octet_length(resource::text) as bytes,
       (select array_agg(item ->> 'name') from json_array_elements(resource -> 'items') as item) as names
     from orders.orders where merchant_id = $1`,
    [merchantId],
  );
  return rows;
};

test('orders of a few KB are stored uncompressed, and a rebuild keeps that', async () => {
  const [before, after] = [newId('merchant'), newId('merchant')];
  await service.pool.query('alter table orders.orders reset (toast_tuple_target)');
  await service.create({ items }, before);
  const [compressed] = await storedOf(before);
  expect(compressed).toMatchObject({ compression: 'pglz', names: items.map(({ name }) => name) });

  await rebuild(service.shadowTableOptions());
  await service.create({ items }, after);
  for (const merchantId of [before, after]) {
    const [stored] = await storedOf(merchantId);
    expect(stored).toMatchObject({ compression: null, names: items.map(({ name }) => name) });
    expect(stored!.bytes).toBeGreaterThan(2_100);
  }
});
